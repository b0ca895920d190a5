"""The page's own files, read once, served with a tag so that a browser asks for each only when it changed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from channels.web.bodies import json_answer, language_of
from channels.web.gate import Gate, Verdict
from channels.web.words import phrase

FOLDER: Final = Path(__file__).parent / "page"
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}


@dataclass(frozen=True, slots=True)
class Asset:
    body: bytes
    media_type: str
    tag: str

    def answer(self, request: Request, status: int = 200) -> Response:
        headers = {"etag": self.tag, "cache-control": "no-cache"}
        if status == 200 and self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(self.body, status, headers if status == 200 else {"cache-control": "no-store"}, self.media_type)


def load(folder: Path = FOLDER) -> dict[str, Asset]:
    """Every file of the page by its name."""
    assets = {}
    for path in sorted(folder.iterdir()):
        if path.suffix in TYPES:
            body = path.read_bytes()
            assets[path.name] = Asset(body, TYPES[path.suffix], f'"{hashlib.sha256(body).hexdigest()[:16]}"')
    return assets


class Pages:
    """The chat page, or the sign-in page in its place. The files beside them hold no secret and are open."""

    def __init__(self, gate: Gate, language: str) -> None:
        self._gate, self._language = gate, language
        self._assets = load()

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/", self._home, methods=["GET"]),
            Route("/page/{name}", self._file, methods=["GET"]),
            Route("/favicon.ico", self._icon, methods=["GET"]),
        ]

    async def _home(self, request: Request) -> Response:
        token = request.query_params.get("token")
        if token is not None:
            return self._signed_in(request, token)
        verdict = self._gate.judge_page(request)
        if verdict is Verdict.OPEN:
            return self._assets["index.html"].answer(request)
        if verdict in (Verdict.TOKEN_UNSET, Verdict.OTHER_ORIGIN):
            return Response(phrase(verdict.word, language_of(request, self._language)) + "\n", verdict.status)
        return self._assets["sign-in.html"].answer(request, verdict.status)

    def _signed_in(self, request: Request, token: str) -> Response:
        """The token in the address is used once and disappears from it; a wrong one is asked for again."""
        if not self._gate.takes(token.strip()):
            if not self._gate.token and self._gate.judge_page(request) is Verdict.OPEN:
                return RedirectResponse("/", 303)
            return self._assets["sign-in.html"].answer(request, 401)
        return RedirectResponse("/", 303, {"set-cookie": self._gate.cookie(request), "cache-control": "no-store"})

    async def _file(self, request: Request) -> Response:
        asset = self._assets.get(request.path_params["name"])
        if asset is None or asset.media_type.startswith("text/html"):
            sentence = phrase("not_found", language_of(request, self._language))
            return json_answer({"error": sentence}, 404)
        return asset.answer(request)

    async def _icon(self, request: Request) -> Response:
        return self._assets["logo.svg"].answer(request)
