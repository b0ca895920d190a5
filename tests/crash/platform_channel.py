"""The adapter for ``tests.sim.platform``: a platform with message ids and edits, and no idempotency of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import aiohttp
from pydantic import BaseModel, ConfigDict

from bot.core.address import Address, Sender
from bot.core.errors import ChannelError, ChannelUnreachable, MessageGone
from bot.core.inbound import ButtonPress, FileRef, Inbound, UserMessage
from bot.core.ports import CallKind, ChannelKit, Receive
from bot.core.view import Limits, Part, Ref, Rendered
from bot.inbox.access import Access
from tests.crash.death import Reaper
from tests.crash.mortal import MortalChannel

PACE_SECONDS = 0.04
CHAT = "1"


class Config(BaseModel):
    """Made by the victim, never read from a file."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    reaper: Reaper
    api_base: str
    size: int = 4096
    access: Access = Access(owners=("7",))


def build(config: Config, kit: ChannelKit) -> MortalChannel:
    return MortalChannel(PlatformChannel(config, kit), config.reaper)


class PlatformChannel:
    """Implements ``bot.core.ports.Channel``."""

    def __init__(self, config: Config, kit: ChannelKit) -> None:
        self.name = kit.name
        self.limits = Limits(size=config.size, pace=PACE_SECONDS)
        self.connected = False
        self._config, self._kit = config, kit
        self._session: aiohttp.ClientSession | None = None

    def render(self, markdown: str) -> Rendered:
        return Rendered(markdown, len(markdown))

    async def run(self, receive: Receive) -> None:
        after = 0
        try:
            while True:
                updates = await self._asked("GET", f"updates?after={after}", None)
                self.connected = True
                for update in updates:
                    await receive(self._inbound(update))
                    after = max(after, update["update"])
        finally:
            self.connected = False
            if self._session is not None:
                await self._session.close()

    async def show(self, to: Address, ref: Ref | None, part: Part) -> Ref:
        kind = CallKind.FINAL if part.final else CallKind.PREVIEW
        body = {"text": part.rendered.text, "buttons": {button.label: button.payload for button in part.buttons}}
        async with self._kit.governor.call(to, kind):
            if ref is None:
                sent = await self._asked("POST", "send", {"chat": to.chat, "nonce": part.nonce, **body})
                ref = Ref(sent["id"])
                if all(sent[name] == value for name, value in body.items()):
                    return ref
            await self._asked("POST", "edit", {"chat": to.chat, "id": ref.message_id, **body})
            return ref

    async def remove(self, to: Address, ref: Ref) -> None:
        async with self._kit.governor.call(to, CallKind.FINAL):
            await self._asked("POST", "remove", {"chat": to.chat, "id": ref.message_id})

    async def answer(self, press: ButtonPress, notice: str) -> None:
        await self._asked("POST", "answer", {"chat": press.address.chat, "press": press.id, "text": notice})

    async def fetch(self, file: FileRef) -> bytes:
        raise ChannelError("Nobody sends files here.")

    async def history(self, of: Address, limit: int) -> Sequence[Inbound]:
        return ()

    def _inbound(self, update: dict[str, Any]) -> Inbound:
        here = Address(self.name, self._kit.account, CHAT)
        ann, now = Sender(self.name, "7", "Ann"), self._kit.clock.now()
        if update["kind"] == "press":
            return ButtonPress(update["id"], here, ann, update["payload"], now)
        return UserMessage(update["id"], here, ann, update["text"], now)

    async def _asked(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        if self._session is None:
            self._session = aiohttp.ClientSession()
        try:
            async with self._session.request(method, f"{self._config.api_base}/{path}", json=body) as answer:
                said = await answer.json()
                if answer.status == 404:
                    raise MessageGone("The message is gone.")
                if answer.status == 400 and said == {"error": "unchanged"}:
                    return {}
                if answer.status != 200:
                    raise ChannelError(f"The platform said {answer.status}.")
                return said
        except aiohttp.ClientConnectorError as error:
            raise ChannelUnreachable("The platform cannot be reached.", maybe_done=False) from error
        except aiohttp.ClientError as error:
            raise ChannelUnreachable("The platform did not answer.", maybe_done=True) from error
