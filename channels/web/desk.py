"""Handing what visitors do to the house, and keeping those who wait for an answer to a press."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from bot.attachments.intake import MOST_FILES
from bot.core.address import Address, Sender
from bot.core.inbound import ButtonPress, FileRef, Inbound, Receipt, StopPressed, UserMessage
from bot.core.ports import ChannelKit, Receive, owner_of
from bot.core.text import storable
from bot.core.transcript import KeptFile
from bot.inbox.receiving import MAX_TEXT_CHARS
from bot.inbox.retries import RETRY
from channels.web.events import Hub
from channels.web.refusal import Refused
from channels.web.screen import Said
from channels.web.shown_file import attached
from channels.web.uploads import Sent, Uploads

TEXT_CHARS: Final = MAX_TEXT_CHARS
API_PREFIX: Final = "api-"
DECISIONS: Final = ("once", "chat", "always", "deny")
ANSWER_SECONDS: Final = 3.0

_CHAT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ID = re.compile(r"[!-~]{1,128}")
_APPROVAL = re.compile(r"[A-Za-z0-9_.-]{1,48}")


class Desk:
    """``receive`` is None until the channel runs, and once it ``stops``."""

    def __init__(self, kit: ChannelKit, hub: Hub) -> None:
        self.kit, self.hub = kit, hub
        self.uploads = Uploads(kit.shelf, kit.clock)
        self.receive: Receive | None = None
        self.stops = False
        self.chat_of_other_card: Callable[[str], str] = lambda approval: ""
        self._waiting: dict[str, asyncio.Future[str]] = {}

    def address(self, chat: object) -> Address:
        """The address of a page's chat. Raises ``Refused`` for what is no chat's name."""
        if not isinstance(chat, str) or not _CHAT.fullmatch(chat) or chat.startswith(API_PREFIX):
            raise Refused(400, "bad_chat")
        return self.place(chat)

    def place(self, chat: str) -> Address:
        return Address(self.kit.name, self.kit.account, chat)

    def visitor(self, language: str) -> Sender:
        return replace(owner_of(self.kit.name), language=language)

    async def hand_in(self, inbound: Inbound) -> Receipt:
        """Raises ``StoreError`` when it was not stored, ``Refused`` while the channel does not run."""
        if self.receive is None:
            raise Refused(503, "stopping" if self.stops else "not_ready")
        return await self.receive(inbound)

    async def say(self, chat: object, text: object, id_: object, files: object, language: str) -> Receipt:
        """A message from a page or a script; every page of the chat shows it once it is stored."""
        address = self.address(chat)
        wanted = _wanted(files)
        text = "" if text is None and wanted else text
        if not isinstance(text, str):
            raise Refused(400, "bad_text")
        text = storable(text).strip()
        if not text and not wanted:
            raise Refused(400, "text_empty")
        if len(text) > TEXT_CHARS:
            raise Refused(413, "text_too_long", limit=TEXT_CHARS)
        id_ = uuid.uuid4().hex if id_ is None else id_
        if not isinstance(id_, str) or not _ID.fullmatch(id_):
            raise Refused(400, "bad_id")
        sent = await self.uploads.use(wanted)
        now = self.kit.clock.now()
        log = self.hub.log(address.chat)
        refs = tuple(self._ref(file) for file in sent)
        receipt = await self.hand_in(UserMessage(id_, address, self.visitor(language), text, now, files=refs))
        if receipt.turn and not receipt.duplicate:
            before = log.screens.get(receipt.turn)
            shown = tuple(attached(KeptFile(ref.name, ref.media_type, ref.id), self.kit.shelf) for ref in refs)
            log.say(receipt.turn, Said(id_, text, now, len(before.blocks) if before else 0, shown))
            self.hub.tell_all("chats", {"chat": address.chat, "live": True})
        return receipt

    def _ref(self, sent: Sent) -> FileRef:
        """``fetch`` finds it by the path under which it is kept."""
        return FileRef(self.kit.name, sent.path, sent.upload.name, sent.upload.media_type, sent.upload.size)

    async def stop(self, address: Address, language: str, id_: str = "") -> Receipt:
        inbound = StopPressed(id_ or f"stop-{uuid.uuid4().hex}", address, self.visitor(language), self.kit.clock.now())
        return await self.hand_in(inbound)

    async def press(self, approval: object, decision: object, chat: object, language: str) -> tuple[Receipt, str]:
        """Decide an approval, or have a turn tried again; the second value is what the house says to the presser, "" when it
        is slow to say it."""
        if decision not in (*DECISIONS, RETRY):
            raise Refused(400, "bad_decision")
        if not isinstance(approval, str) or not _APPROVAL.fullmatch(approval):
            raise Refused(404, "not_found")
        shown = self.hub.chat_of_card(approval) or self.chat_of_other_card(approval)
        address = self.place(shown) if shown else self.address("main" if chat is None else chat)
        token = uuid.uuid4().hex
        press = ButtonPress(
            f"press-{token}",
            address,
            self.visitor(language),
            f"b:{approval}:{decision}",
            self.kit.clock.now(),
            token,
        )
        self._waiting[token] = asyncio.get_running_loop().create_future()
        try:
            receipt = await self.hand_in(press)
            return receipt, await self._answered(token)
        finally:
            del self._waiting[token]

    async def _answered(self, token: str) -> str:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._waiting[token]
        except TimeoutError:
            return ""

    def answered(self, press: ButtonPress, notice: str) -> None:
        """The house's answer to a press; a late or repeated one is dropped."""
        waiting = self._waiting.get(press.token)
        if waiting is not None and not waiting.done():
            waiting.set_result(notice)


def _wanted(files: object) -> list[str]:
    """The ids of a message's files, each once. Raises ``Refused``."""
    if files is None:
        return []
    if not isinstance(files, list) or any(not isinstance(id_, str) for id_ in files):
        raise Refused(400, "bad_files")
    wanted = list(dict.fromkeys(files))
    if len(wanted) > MOST_FILES:
        raise Refused(400, "files_too_many", limit=MOST_FILES)
    return wanted
