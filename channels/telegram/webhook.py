"""Updates that Telegram posts to a port of our own: each is stored before it is told that it has arrived."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
from collections.abc import Mapping
from typing import Any, Final

from bot.core.errors import ChannelError, ChannelUnreachable, RateLimited, StoreError, Unauthorised
from bot.core.ports import Clock, Notes, Serve
from channels.telegram.config import Webhook
from channels.telegram.intake import Intake
from channels.telegram.updates import ALLOWED
from channels.telegram.wire import Wire, who_am_i

log = logging.getLogger(__name__)

SECTION: Final = "channels.telegram.webhook"
SECRET_HEADER: Final = b"x-telegram-bot-api-secret-token"
BODY_BYTES: Final = 1024 * 1024
"""An update with the longest text, all its entities and a message it replies to stays far below."""
BODY_SECONDS: Final = 10.0
LOOK_SECONDS: Final = 30.0
"""How often Telegram is asked whether it still calls here, and gets through."""
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 30.0
TRIES: Final = 12
STALE_AFTER: Final = 150.0
"""More than the longest wait between two looks with the time a call may take."""


def secret_of(config: Webhook, token: str) -> str:
    """What Telegram shows with every delivery: the configured word, or one that only the token's owner can compute."""
    given = config.secret.get_secret_value()
    return given or hmac.new(token.encode(), b"webhook", hashlib.sha256).hexdigest()


class Hook:
    """Hears by being called. ``connected``: Telegram has our address and nothing says that it cannot reach it."""

    stale_after = STALE_AFTER

    def __init__(
        self,
        wire: Wire,
        notes: Notes,
        clock: Clock,
        intake: Intake,
        config: Webhook,
        secret: str,
        serve: Serve,
        name: str,
    ) -> None:
        self._wire, self._notes, self._clock, self._intake = wire, notes, clock, intake
        self._config, self._secret, self._serve, self._name = config, secret, serve, name
        self._note = f"webhook {wire.bot}".rstrip()
        self._arrived_at = clock.now()
        self._trouble = ""
        self.connected = False
        self.heard_at = clock.monotonic()
        """When something last arrived, or a look began or ended; in the future while Telegram wants a long silence."""

    async def run(self) -> None:
        """Until cancelled. Raises ``ConfigError`` where the port cannot be had, ``Unauthorised``, and
        ``ChannelUnreachable`` after ``TRIES`` failures in a row."""
        try:
            async with self._serve(self._app, self._config.host, self._config.port, SECTION):
                await self._watch()
        finally:
            self.connected = False

    # what Telegram is told

    async def _watch(self) -> None:
        failures = 0
        while True:
            self.heard_at = self._clock.monotonic()
            try:
                if self._wire.is_doubted:
                    await who_am_i(self._wire)
                await self._look()
                failures, wait = 0, LOOK_SECONDS
                self.heard_at = self._clock.monotonic()
            except RateLimited as limited:
                wait = limited.retry_after
                self.heard_at = self._clock.monotonic() + wait
                self._down("Telegram asks to wait")
            except Unauthorised:
                raise
            except ChannelError as error:
                failures += 1
                wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(failures - 1, 10))
                self._down(str(error))
                if failures >= TRIES:
                    raise ChannelUnreachable("Telegram does not answer.", maybe_done=False) from None
            await self._clock.sleep(wait)

    async def _look(self) -> None:
        """Let Telegram call here, if it does not do so with our secret and for our kinds of updates already."""
        info = await self._told()
        if not await self._is_ours(info):
            await self._wire.call(
                "setWebhook", url=self._config.url, secret_token=self._secret, allowed_updates=list(ALLOWED)
            )
            await self._remember()
            log.info("%s has Telegram call here", self._name)
            info = await self._told()
        missed = int(info.get("pending_update_count") or 0)
        if missed and float(info.get("last_error_date") or 0) > self._arrived_at:
            self._down(f"Telegram's calls do not arrive at webhook.url, {missed} updates wait")
        else:
            self._up()

    async def _told(self) -> Mapping[str, Any]:
        info = await self._wire.call("getWebhookInfo")
        if not isinstance(info, Mapping):
            raise ChannelUnreachable("Telegram did not say whom it calls.", maybe_done=False)
        return info

    async def _is_ours(self, info: Mapping[str, Any]) -> bool:
        """Telegram does not tell the secret: which one it was given last is noted."""
        if info.get("url") != self._config.url or set(info.get("allowed_updates") or ()) != set(ALLOWED):
            return False
        return await self._notes.read(self._note) == self._digest()

    def _digest(self) -> str:
        return hashlib.sha256(f"{self._config.url} {self._secret}".encode()).hexdigest()

    async def _remember(self) -> None:
        try:
            await self._notes.write(self._note, self._digest())
        except StoreError as error:
            log.warning("%s will set its webhook once more at the next look: %s", self._name, error)

    def _down(self, trouble: str) -> None:
        """In the log once when it goes down, and again only when the reason is another."""
        self.connected = False
        if trouble != self._trouble:
            log.warning("%s hears nothing: %s", self._name, trouble)
        self._trouble = trouble

    def _up(self) -> None:
        if self._trouble:
            log.info("%s hears again", self._name)
        self.connected, self._trouble = True, ""

    # what Telegram tells

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        """An ASGI app. Whoever does not show the secret is sent away before anything of theirs is read."""
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        status = self._admitted(scope) or await self._posted(receive)
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    def _admitted(self, scope: Any) -> int:
        """0, or the status that turns the request away."""
        headers = dict(scope["headers"])
        if SECRET_HEADER not in headers:
            return 401
        if not hmac.compare_digest(headers[SECRET_HEADER], self._secret.encode()):
            return 403
        if scope["method"] != "POST":
            return 405
        length = headers.get(b"content-length", b"0")
        return 413 if not length.isdigit() or int(length) > BODY_BYTES else 0

    async def _posted(self, receive: Any) -> int:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _body(receive)
        except TimeoutError:
            return 408
        if body is None:
            return 413
        try:
            update = json.loads(body)
        except ValueError:
            return 400
        try:
            await self._intake.take(update)
        except StoreError as error:
            log.warning("an update waits for the store: %s", error)
            return 503
        self._arrived_at, self.heard_at = self._clock.now(), self._clock.monotonic()
        return 200


async def _body(receive: Any) -> bytes | None:
    """None where it is too long; what came until its sender left."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > BODY_BYTES:
            return None
        if not message.get("more_body"):
            return bytes(body)
