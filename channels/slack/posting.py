"""Making a Slack message equal a part: as a stream, a post or an edit, and never twice."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from bot.core.address import Address
from bot.core.errors import ChannelUnreachable, FormatRefused, MessageGone, RateLimited
from bot.core.inbound import UserMessage
from bot.core.ports import CallKind, ChannelKit
from bot.core.view import Part, Ref
from bot.outbox.arrivals import Arrivals
from bot.outbox.errands import Errands
from channels.slack.escapes import escaped
from channels.slack.events import COMMAND
from channels.slack.hearing import Hearing
from channels.slack.markup import Renderer
from channels.slack.messages import content
from channels.slack.refusals import Hushed, Outside, StillOpen
from channels.slack.sessions import Sessions
from channels.slack.slash import Slash
from channels.slack.streams import Streams
from channels.slack.tiers import Tier
from channels.slack.traces import Traces, mark
from channels.slack.typed import spelt, typed
from channels.slack.wire import Me, Wire

POSTS_PER_MINUTE: Final = 240
"""Slack bears "several hundred" a minute over the whole workspace, and one a second in a channel (the governor's)."""
QUIET: Final = {"unfurl_links": False, "unfurl_media": False}
PLAIN_KEPT: Final = 500
PLACES_KEPT: Final = 5000


class Posting:
    """``me`` is set once it is known. Every method that calls Slack raises ``ChannelError``."""

    def __init__(
        self,
        kit: ChannelKit,
        wire: Wire,
        streams: Streams,
        sessions: Sessions,
        traces: Traces,
        errands: Errands,
        renderer: Renderer,
        hearing: Hearing,
        slash: Slash,
    ) -> None:
        self._kit, self._wire, self._streams, self._sessions = kit, wire, streams, sessions
        self._traces, self._errands, self._renderer, self._hearing = traces, errands, renderer, hearing
        self._slash = slash
        self.arrivals = Arrivals(errands, sessions.sign, self.say)
        self.me: Me | None = None
        self._posts = Tier(kit.clock, POSTS_PER_MINUTE, 40)
        self._plain: OrderedDict[str, None] = OrderedDict()
        self._threads: OrderedDict[tuple[str, str], str] = OrderedDict()

    def thread_of(self, chat: str, ts: str) -> str:
        """The thread in which a message of the bot's stands; "" where this process does not know."""
        return self._threads.get((chat, ts), "")

    async def say(self, message: UserMessage, text: str) -> None:
        """A sentence of the bot's own, in answer to a message that was turned away."""
        await self._posts.turn()
        text = self.typed(text, message.address)
        try:
            if not message.direct and self._slash.url(message):  # nobody else has seen the command
                return await self._beside(message, escaped(text))
            await self._post(message.address, f"to {message.id}", {"text": escaped(text)})
        except Outside:
            await self._beside(message, escaped(text))
        except Hushed as hushed:  # posts are counted by conversation
            raise RateLimited(str(hushed), hushed.retry_after) from None

    def typed(self, text: str, to: Address) -> str:
        """A sentence of the bot's own as it reads there."""
        return typed(text, to, self.me.name if self.me else "")

    async def show(self, to: Address, ref: Ref | None, part: Part) -> Ref:
        part = spelt(part, to, self.me.name if self.me else "")
        kind = CallKind.FINAL if part.final else CallKind.PREVIEW
        try:
            if ref is None:
                await self.arrivals.showing(to, known=True)
                ref = await self._lost(to, part)
            shown = await (self._first(to, part, kind) if ref is None else self._again(to, ref, part, kind))
        except Hushed as hushed:  # not for the governor: it is nothing that this conversation did
            raise RateLimited(str(hushed), hushed.retry_after) from None
        except FormatRefused:
            self._plain[part.nonce] = None
            if len(self._plain) > PLAIN_KEPT:
                self._plain.popitem(last=False)
            raise
        except MessageGone:
            self._traces.forget(part.nonce)
            raise
        self._traces.forget(part.nonce)
        if part.view.final:
            self._sessions.end(to, told=False)
            self._slash.over(to)
        return shown

    async def unbutton(self, to: Address, ref: Ref, part: Part) -> None:
        """Slack knows no edit of the buttons alone: the words go along. A command's answer cannot be changed."""
        if ref.message_id.startswith(COMMAND):
            return
        part = replace(spelt(part, to, self.me.name if self.me else ""), buttons=())
        try:
            async with self._kit.governor.call(to, CallKind.TYPING, edit=True):
                await self._edit(to, ref.message_id, part)
        except MessageGone:
            pass
        except Hushed as hushed:
            raise RateLimited(str(hushed), hushed.retry_after) from None

    async def remove(self, to: Address, ref: Ref) -> None:
        try:
            async with self._kit.governor.call(to, CallKind.FINAL):
                if not self._streams.is_over(to, ref.message_id):
                    await self._streams.quit(to, ref.message_id)
                await self._wire.call("chat.delete", channel=to.chat, ts=ref.message_id)
        except MessageGone:
            pass
        except Hushed as hushed:
            raise RateLimited(str(hushed), hushed.retry_after) from None

    async def _lost(self, to: Address, part: Part) -> Ref | None:
        """What stands there of a part that is about to be sent: where an earlier attempt may have arrived, and for turns
        that an earlier process began."""
        is_ours = self.arrivals.question(part.turn) is not None
        if is_ours and not self._traces.doubted(part.nonce):
            return None
        if self.me is None:  # whose posts to look for is not known yet: better late than twice
            raise ChannelUnreachable("Slack has not said yet who the bot is.", maybe_done=False)
        found = await self._traces.find(to, part.nonce, self.me)
        return self._stands(to, found) if found else None

    async def _first(self, to: Address, part: Part, kind: CallKind) -> Ref:
        await self._posts.turn()
        async with self._kit.governor.call(to, kind):
            self._errands.seen(to)
            try:
                ref = await self._sent(to, part)
            except Outside:
                return await self._shown_beside(self.arrivals.question(part.turn), part)
            except ChannelUnreachable as error:
                if error.maybe_done:
                    self._traces.doubt(part.nonce)
                raise
            except asyncio.CancelledError:
                self._traces.doubt(part.nonce)
                raise
        self._sessions.seen(to)
        return ref

    async def _sent(self, to: Address, part: Part) -> Ref:
        question = self.arrivals.question(part.turn)
        if self._streams.fits(to, part, question):
            try:
                ts = await self._streams.start(to, part, question, self.me)
            except Hushed:
                ts = ""
            if ts:
                return self._stands(to, ts)
        return self._stands(to, await self._post(to, part.nonce, self._content(part)))

    def _stands(self, to: Address, ts: str) -> Ref:
        self._traces.knows(to, ts)
        self._threads[to.chat, ts] = to.thread
        if len(self._threads) > PLACES_KEPT:
            self._threads.popitem(last=False)
        return Ref(ts)

    async def _beside(self, command: UserMessage | None, text: str, blocks: Sequence[Any] = ()) -> None:
        """Tell whoever typed a slash command where the bot is no member, which is nothing to be mended. Raises ``Outside``
        where nobody did."""
        if command is None or not (url := self._slash.url(command)):
            raise Outside("The bot is no member of this conversation.")
        self._wire.permits.inside(command.address.chat)
        await self._wire.respond(url, text, blocks)

    async def _shown_beside(self, command: UserMessage | None, part: Part) -> Ref:
        """Such an answer cannot be changed: it waits until it is complete."""
        if command is None or not self._slash.url(command):
            raise Outside("The bot is no member of this conversation.")
        if part.final:
            told = self._content(part)
            await self._beside(command, str(told.get("text") or ""), told.get("blocks") or ())
        return Ref(command.id)

    async def _again(self, to: Address, ref: Ref, part: Part, kind: CallKind) -> Ref:
        if ref.message_id.startswith(COMMAND):
            async with self._kit.governor.call(to, kind):
                return await self._shown_beside(self.arrivals.question(part.turn), part)
        ts = ref.message_id
        stream = self._streams.find(to, ts)
        if stream is not None:
            await self._streams.pace()
        async with self._kit.governor.call(to, kind, edit=stream is None):
            self._errands.seen(to)
            if stream is not None and await self._streams.go_on(stream, part):
                return ref
            if stream is None and not self._streams.is_over(to, ts):
                await self._streams.quit(to, ts)
            await self._edit(to, ts, part)
        return ref

    async def _edit(self, to: Address, ts: str, part: Part) -> None:
        params = {"channel": to.chat, "ts": ts, "metadata": mark(part.nonce)} | self._content(part)
        try:
            await self._wire.call("chat.update", **params)
        except StillOpen:
            await self._streams.quit(to, ts)
            await self._wire.call("chat.update", **params)

    async def _post(self, to: Address, nonce: str, message: Mapping[str, Any]) -> str:
        thread = {"thread_ts": to.thread} if to.thread else {}
        told = await self._wire.call(
            "chat.postMessage", channel=to.chat, metadata=mark(nonce), **thread, **message, **QUIET
        )
        if not isinstance(told.get("ts"), str):
            raise ChannelUnreachable("Slack did not say which message it sent.", maybe_done=True)
        self._hearing.expect(to.chat)
        self._streams.none_at(to, told["ts"])
        return str(told["ts"])

    def _content(self, part: Part) -> dict[str, Any]:
        plain = part.nonce in self._plain
        return content(part, [] if plain else self._renderer.rich(part.markdown), plain=plain)
