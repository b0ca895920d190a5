"""Messages as they are sent, changed and removed: who is pinged by them, what they reply to, and that each is sent once."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from bot.core.address import Address
from bot.core.errors import (
    ChannelError,
    ChannelUnreachable,
    ChatClosed,
    FileUnreadable,
    MessageGone,
    RateLimited,
    TooLong,
)
from bot.core.inbound import UserMessage
from bot.core.view import Button, OutFile, Part, Ref
from bot.net.multipart import FormFile
from bot.outbox.silences import Silences
from channels.discord.buttons import rows
from channels.discord.interactions import Interactions
from channels.discord.rest import ReplyRefused, Rest
from channels.discord.traces import Traces, looks

FILE_BYTES: Final = 10 * 1024 * 1024
"""What a bot may send without anybody's subscription (PLATFORMS.md 2.1)."""
NONCE_CHARS: Final = 25
NO_PREVIEW: Final = 4
"""The flag SUPPRESS_EMBEDS."""
QUIET: Final = {"parse": [], "replied_user": False}
"""Nobody is pinged, in sends and in edits: an edit without it would ping whatever the message had."""
NOTHING: Final = "…"
GONE_KEPT: Final = 500
"""Ids of messages that were deleted while the bot listened; a nonce lives for a few minutes."""


class Posts:
    """The calls about messages of a chat. The governor has let them; a wait that Discord asks for is written down, and
    ``refused`` is told of a chat in which nothing may be written."""

    def __init__(
        self,
        rest: Rest,
        interactions: Interactions,
        silences: Silences,
        refused: Callable[[Address], None],
        traces: Traces,
    ) -> None:
        self._rest, self._interactions, self._silences, self._refused = rest, interactions, silences, refused
        self._traces = traces
        self._resent: Counter[str] = Counter()
        self._gone: deque[str] = deque(maxlen=GONE_KEPT)

    def deleted(self, message_id: str) -> None:
        """Somebody has deleted this message; Discord may still know its nonce."""
        self._gone.append(message_id)

    async def send(self, to: Address, part: Part, question: UserMessage | None) -> Ref:
        """A repeated send is one message: Discord knows the nonce for a few minutes, and answers with what is there; later
        it is looked for. ``question`` is what is replied to, where it does not stand above the thread that was opened from it."""
        body = _body(_text(part), part.buttons)
        if question is not None and (filled := await self._interactions.fill(question.id, body)) is not None:
            return _ref(filled)
        nonce = f"{part.nonce}.{again}" if (again := self._resent[part.nonce]) else part.nonce
        nonce = nonce[-NONCE_CHARS:]
        if lost := await self._traces.lost(channel_of(to), nonce):
            await self.edit(to, Ref(lost), part)
            self._traces.over(nonce, lost)
            return Ref(lost)
        sent = {**body, "nonce": nonce, "enforce_nonce": True}
        stands_here = question is not None and question.id != to.thread
        if question is not None and stands_here and not question.direct and not self._interactions.waits(question.id):
            sent["message_reference"] = {"message_id": question.id, "fail_if_not_exists": False}
        try:
            answer = await self._new(to, sent, looks(body["content"]))
        except ReplyRefused:
            del sent["message_reference"]
            answer = await self._new(to, sent, looks(body["content"]))
        ref = _ref(answer)
        if ref.message_id in self._gone:
            self._resent[part.nonce] += 1
            return await self.send(to, part, question)
        if isinstance(answer, dict) and answer.get("content") != body["content"]:
            await self._call(to, "PATCH", f"{_messages(to)}/{ref.message_id}", body)
        return ref

    async def send_file(self, to: Address, file: OutFile, nonce: str) -> Ref:
        """A message that is the file alone. Raises ``ChannelError`` for one that is gone, empty or too large."""
        try:
            content = await asyncio.to_thread(Path(file.path).read_bytes)
        except OSError:
            raise FileUnreadable("The file is gone.") from None
        if not content:
            raise FileUnreadable("The file is empty.")
        if len(content) > FILE_BYTES:
            raise TooLong("The file is too large.")
        form = FormFile("files[0]", file.name, file.media_type, content)
        body = {"attachments": [{"id": 0, "filename": file.name}], "allowed_mentions": QUIET}
        nonce = nonce[-NONCE_CHARS:]
        if lost := await self._traces.lost(channel_of(to), nonce):
            self._traces.over(nonce, lost)
            return Ref(lost)
        sent = {**body, "nonce": nonce, "enforce_nonce": True}
        return _ref(await self._new(to, sent, looks("", str(len(content))), files=(form,)))

    async def _new(self, to: Address, sent: dict[str, Any], look: str, *, files: Sequence[FormFile] = ()) -> Any:
        """Send it under its nonce, and keep in mind whether it may have arrived."""
        nonce = str(sent["nonce"])
        doubted = await self._traces.begin(nonce, look)
        try:
            answer = await self._call(to, "POST", _messages(to), sent, files=files)
            self._traces.over(nonce, _ref(answer).message_id)
            return answer
        except ChannelError as error:
            if not (doubted or (isinstance(error, ChannelUnreachable) and error.maybe_done)):
                self._traces.over(nonce)
            raise

    async def edit(self, to: Address, ref: Ref, part: Part) -> None:
        body = _body(_text(part), part.buttons)
        try:
            await self._call(to, "PATCH", f"{_messages(to)}/{ref.message_id}", body)
        except MessageGone:
            self._resent[part.nonce] += 1
            raise

    async def say(self, to: Address, message: UserMessage, text: str) -> None:
        """Answer a message with a sentence. Said again it is the same message, so that nothing is ever perhaps done."""
        body = _body(text)
        try:
            if await self._interactions.fill(message.id, body) is None:
                sent = {**body, "nonce": message.id[-NONCE_CHARS:], "enforce_nonce": True}
                await self._call(to, "POST", _messages(to), sent)
        except ChannelUnreachable as error:
            raise ChannelUnreachable(str(error), maybe_done=False) from None

    async def sign(self, to: Address) -> None:
        await self._call(to, "POST", f"/channels/{channel_of(to)}/typing", bucket="typing")

    async def remove(self, to: Address, ref: Ref) -> None:
        try:
            await self._call(to, "DELETE", f"{_messages(to)}/{ref.message_id}")
        except MessageGone:
            pass

    async def unbutton(self, to: Address, ref: Ref) -> None:
        """What is not named in an edit stays as it is."""
        try:
            bare = {"components": [], "allowed_mentions": QUIET}
            await self._call(to, "PATCH", f"{_messages(to)}/{ref.message_id}", bare)
        except MessageGone:
            pass

    async def _call(
        self,
        to: Address,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        bucket: str = "messages",
        files: Sequence[FormFile] = (),
    ) -> Any:
        chat = channel_of(to)
        try:
            return await self._rest.call(method, path, body, bucket=f"{bucket} {chat}", files=files)
        except RateLimited as limited:
            await self._silences.keep(chat, limited.retry_after)
            raise
        except ChatClosed:
            self._refused(to)
            raise


def channel_of(to: Address) -> str:
    """The channel that is called: a thread is one of its own."""
    return to.thread or to.chat


def _messages(to: Address) -> str:
    return f"/channels/{channel_of(to)}/messages"


def _text(part: Part) -> str:
    return part.rendered.text.strip() or NOTHING


def _body(text: str, buttons: Sequence[Button] = ()) -> dict[str, Any]:
    return {"content": text, "components": rows(buttons), "allowed_mentions": QUIET, "flags": NO_PREVIEW}


def _ref(message: Any) -> Ref:
    number = message.get("id") if isinstance(message, dict) else None
    if not isinstance(number, str):
        raise ChannelUnreachable("Discord did not say which message it sent.", maybe_done=True)
    return Ref(number)
