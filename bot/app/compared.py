"""How the routes did, as the control socket tells it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.core.ports import Clock
from bot.inbox.retries import DISLIKES
from bot.store.routes import RouteRows

DAYS: Final = 30
DAY_SECONDS: Final = 86_400.0
LIKES: Final = ("👍", "+1", ":+1:", "thumbsup")


def route_routes(rows: RouteRows, clock: Clock) -> list[Route]:
    """``GET /routes``: ``days`` and, for each rule, a ``bot.store.routes.RouteTotal`` as plain values."""

    async def compared(request: Request) -> Response:
        totals = await rows.compared(clock.now() - DAYS * DAY_SECONDS, LIKES, DISLIKES)
        answer: dict[str, Any] = {"days": DAYS, "routes": [asdict(total) for total in totals]}
        return JSONResponse(answer)

    return [Route("/routes", compared)]
