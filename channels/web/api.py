"""The page's and scripts' JSON endpoints: messages, approvals, chats, history, sign-in.

Refusals leave as exceptions; the application turns them into sentences.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.attachments.intake import MOST_BYTES, MOST_FILES
from bot.attachments.opening import Opener
from bot.inbox.retries import RETRY
from channels.web.bodies import BODY_BYTES, CHAR_BYTES, json_answer, json_body, language_of
from channels.web.desk import API_PREFIX, TEXT_CHARS, Desk
from channels.web.events import numbered
from channels.web.files import FileRoutes
from channels.web.gate import Gate, Verdict
from channels.web.pictures import Pictures
from channels.web.refusal import Refused
from channels.web.screen import encoded
from channels.web.story import past
from channels.web.stream import EventStream, Following, Seats, cursor_of
from channels.web.words import phrase

MESSAGE_BYTES: Final = BODY_BYTES + CHAR_BYTES * TEXT_CHARS
"""So that a text that is too long is told so in characters, and one that is not is taken however it is written."""
CHATS: Final = 200
HISTORY_ROWS: Final = 200
MOST_HISTORY_ROWS: Final = 5000

Handler = Callable[[Request], Awaitable[Response]]


class Api:
    """``routes`` is all of it."""

    def __init__(self, desk: Desk, gate: Gate, seats: Seats) -> None:
        self._desk, self._gate, self._seats = desk, gate, seats
        self._pictures = Pictures(Opener())

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/v1/events", self.guarded(self._events), methods=["GET"]),
            Route("/v1/messages", self.guarded(self._messages), methods=["POST"]),
            Route("/v1/stop", self.guarded(self._stop), methods=["POST"]),
            Route("/v1/approvals/{id}", self.guarded(self._approvals), methods=["POST"]),
            Route("/v1/retry", self.guarded(self._retry), methods=["POST"]),
            Route("/v1/chats", self.guarded(self._chats), methods=["GET"]),
            Route("/v1/history", self.guarded(self._history), methods=["GET"]),
            Route("/v1/about", self.guarded(self._about), methods=["GET"]),
            *FileRoutes(self._desk, self._pictures, self.guarded).routes,
            Route("/v1/session", self.guarded(self._session), methods=["GET"]),
            Route("/v1/session", self._sign_in, methods=["POST"]),
        ]

    def _language(self, request: Request) -> str:
        return language_of(request, self._desk.kit.language)

    def guarded(self, handler: Handler) -> Handler:
        """``handler`` behind the gate."""

        async def endpoint(request: Request) -> Response:
            verdict = self._gate.judge(request)
            if verdict is not Verdict.OPEN:
                headers = {"www-authenticate": "Bearer"} if verdict.status == 401 else {}
                return json_answer({"error": phrase(verdict.word, self._language(request))}, verdict.status, headers)
            return await handler(request)

        return endpoint

    async def _events(self, request: Request) -> Response:
        address = self._desk.address(request.query_params.get("chat"))
        page = request.query_params.get("page") == "1"
        following = Following(self._desk.kit, self._desk.hub, address, cursor_of(request), page=page)
        return EventStream(following, self._seats, request)

    async def _messages(self, request: Request) -> Response:
        body = await json_body(request, MESSAGE_BYTES)
        receipt = await self._desk.say(
            body.get("chat"), body.get("text"), body.get("id"), body.get("files"), self._language(request)
        )
        if receipt.refused:
            return json_answer({"error": receipt.refused}, 403)
        return json_answer({"turn": receipt.turn}, 202)

    async def _stop(self, request: Request) -> Response:
        body = await json_body(request)
        await self._desk.stop(self._desk.address(body.get("chat")), self._language(request))
        return json_answer({}, 202)

    async def _approvals(self, request: Request) -> Response:
        body = await json_body(request)
        return await self._pressed(request, request.path_params["id"], body.get("decision"), body.get("chat"))

    async def _retry(self, request: Request) -> Response:
        body = await json_body(request)
        return await self._pressed(request, body.get("turn"), RETRY, body.get("chat"))

    async def _pressed(self, request: Request, id_: object, decision: object, chat: object) -> Response:
        receipt, notice = await self._desk.press(id_, decision, chat, self._language(request))
        if receipt.refused:
            return json_answer({"error": receipt.refused}, 403)
        return json_answer({"notice": notice}, 200 if notice else 202)

    async def _chats(self, request: Request) -> Response:
        kit = self._desk.kit
        live = self._desk.hub.live_chats()
        chats = [
            {
                "id": summary.address.chat,
                "title": summary.title,
                "last_at": summary.last_at,
                "live": summary.address.chat in live,
            }
            for summary in await kit.archive.chats(kit.name, kit.account, CHATS)
            if not summary.address.chat.startswith(API_PREFIX)
        ]
        return json_answer({"chats": chats})

    async def _history(self, request: Request) -> Response:
        kit = self._desk.kit
        address = self._desk.address(request.query_params.get("chat"))
        wanted = request.query_params.get("rows", "")
        rows = min(int(wanted), MOST_HISTORY_ROWS) if wanted.isascii() and wanted.isdigit() else HISTORY_ROWS
        log = self._desk.hub.log(address.chat)
        story = await past(kit, address, log, max(1, rows))
        for screen in story.screens:
            if screen.live:
                log.adopt(screen)
        pieces = [numbered(0, type_, fields).body for screen in story.screens for type_, fields in screen.snapshot()]
        rest = {"seq": log.tip, "more": story.more and rows < MOST_HISTORY_ROWS, "about": about(kit.about())}
        raw = b'{"frames":[' + b",".join(pieces) + b"]," + encoded(rest)[1:]
        return Response(raw, headers={"cache-control": "no-store"}, media_type="application/json")

    async def _about(self, request: Request) -> Response:
        return json_answer(about(self._desk.kit.about()))

    async def _session(self, request: Request) -> Response:
        return Response(status_code=204, headers={"cache-control": "no-store"})

    async def _sign_in(self, request: Request) -> Response:
        """The token, once, for a cookie. It needs no gate: whoever has the token may come in."""
        body = await json_body(request, 4096)
        token = body.get("token")
        if not isinstance(token, str) or not self._gate.takes(token.strip()):
            raise Refused(401, "token_wrong")
        cookie = self._gate.cookie(request)
        return Response(status_code=204, headers={"set-cookie": cookie, "cache-control": "no-store"})


def about(told: Mapping[str, Any]) -> dict[str, Any]:
    """What the page may know of the daemon: its name, its version, its model, what is wrong, in each language, and how
    much a message may hold."""
    known = {key: told[key] for key in ("name", "version", "model", "trouble", "troubles") if key in told}
    return {**known, "limits": {"files": MOST_FILES, "file_bytes": MOST_BYTES, "text_chars": TEXT_CHARS}}
