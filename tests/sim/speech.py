"""A server that writes speech down as OpenAI's does (``POST /v1/audio/transcriptions``): its form checked, its words
scripted. https://developers.openai.com/api/reference, audio, create transcription."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from aiohttp import BodyPartReader, web

LIMIT_BYTES = 25 * 1024 * 1024
FORMATS = ("flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm")
MODELS = ("whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe")


@dataclass(frozen=True, slots=True)
class Sound:
    """What was sent in one request."""

    name: str
    media_type: str
    content: bytes
    fields: dict[str, str]


class SpeechSim:
    """``async with SpeechSim() as sim:``; ``sim.say(…)`` scripts the next answer: a text, or the status of a refusal."""

    def __init__(self, key: str = "sk-speech-0123456789") -> None:
        self.key = key
        self.url = ""
        self.heard: list[Sound] = []
        self.violations: list[str] = []
        self._script: list[str | int] = []
        self._runner: web.AppRunner | None = None

    def say(self, *answers: str | int) -> None:
        self._script += answers

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=LIMIT_BYTES + 65_536)
        app.router.add_post("/v1/audio/transcriptions", self._transcribe)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None, "never entered"
        await self._runner.cleanup()

    async def _transcribe(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {self.key}":
            return _refused(401, "Incorrect API key provided.", "invalid_api_key")
        if request.content_type != "multipart/form-data":
            return _refused(400, "Could not parse multipart form", None)
        sound = await self._form(request)
        if isinstance(sound, web.Response):
            self.violations.append(f"a form that was refused: {sound.text}")
            return sound
        self.heard.append(sound)
        said = self._script.pop(0) if self._script else "(nothing scripted)"
        if isinstance(said, int):
            return _refused(said, "It is the server's fault." if said >= 500 else "It is yours.", None)
        tokens = {"type": "tokens", "input_tokens": 14, "output_tokens": 5, "total_tokens": 19}
        return web.json_response({"text": said, "usage": tokens})

    async def _form(self, request: web.Request) -> Sound | web.Response:
        fields: dict[str, str] = {}
        file: tuple[str, str, bytes] | None = None
        async for part in await request.multipart():
            assert isinstance(part, BodyPartReader)
            content = bytes(await part.read())
            if part.name == "file":
                file = (part.filename or "", part.headers.get("Content-Type", ""), content)
            else:
                fields[part.name or ""] = content.decode()
        if file is None or not file[2]:
            return _refused(400, "file is required", None)
        if len(file[2]) > LIMIT_BYTES:
            return _refused(413, "Maximum content size limit (26214400) exceeded", None)
        if file[0].rpartition(".")[2].lower() not in FORMATS:
            return _refused(400, f"Unrecognized file format. Supported formats: {FORMATS}", None)
        if fields.get("model") not in MODELS:
            return _refused(404, "The model does not exist", "model_not_found")
        return Sound(*file, fields)


def _refused(status: int, message: str, code: str | None) -> web.Response:
    body = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}
    return web.json_response(body, status=status)
