"""The Slack channel: conversations whose messages grow, as streams where Slack has them, by edits elsewhere."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, Final, TypeVar

from bot.core.address import Address
from bot.core.errors import ChannelError, RateLimited
from bot.core.inbound import ButtonPress, FileRef, Inbound, Receipt, UserMessage
from bot.core.ports import CallKind, ChannelKit, Progress, Receive
from bot.core.tasks import first_failure
from bot.core.texts import language_of, say
from bot.core.view import Limits, OutFile, Part, Ref, Rendered
from bot.net.http import Transport
from bot.outbox.errands import Errands
from bot.outbox.governor import Rates
from bot.outbox.silences import Silences
from channels.slack.catchup import CatchUp
from channels.slack.config import Config
from channels.slack.conversations import Conversations
from channels.slack.escapes import escaped
from channels.slack.events import COMMAND, place_of
from channels.slack.hearing import Hearing
from channels.slack.intake import Intake
from channels.slack.markup import Renderer
from channels.slack.markup_stream import streamable
from channels.slack.past import Past
from channels.slack.people import People
from channels.slack.posting import Posting
from channels.slack.refusals import Hushed, Unfit
from channels.slack.revisits import Revisits
from channels.slack.sessions import AGENT, Sessions
from channels.slack.slash import Slash
from channels.slack.socket import STALE_AFTER, End, Socket
from channels.slack.streams import Streams
from channels.slack.tiers import Waits
from channels.slack.traces import Traces
from channels.slack.uploads import Uploads
from channels.slack.wire import Me, Wire, who_am_i

log = logging.getLogger(__name__)

T = TypeVar("T")

SIZE_BYTES: Final = 3900
"""``chat.update`` takes a text of 4,000 bytes; the whole part stands in it, so that no notification is cut."""
CHAT_INTERVAL: Final = 1.05
"""``chat.postMessage`` takes one message a second in a channel; a little more for calls that catch up."""
EDITS_PER_MINUTE: Final = 50
"""``chat.update`` is Tier 3, over the whole workspace."""
TYPING_EVERY: Final = 60.0
"""Slack shows a status for two minutes."""
FRESH_SECONDS: Final = 10.0
FRESH_KEPT: Final = 2000
PERMITTED_SECONDS: Final = 300.0
"""How often it is asked whether what was missing has been given."""


def build(config: Config, kit: ChannelKit) -> SlackChannel:
    return SlackChannel(config, kit)


async def probe(config: Config) -> str:
    """Prove both tokens for ``doctor --online``, and what the app is allowed. Raises ``ChannelError``."""
    from bot.time.clock import SystemClock

    http, clock = Transport(), SystemClock()
    wire = Wire(http, config.api_base, config.bot_token.get_secret_value(), config.app_token.get_secret_value(), clock)
    try:
        me = await who_am_i(wire)
        await wire.ticket()
    finally:
        await http.aclose()
    if trouble := wire.permits.trouble("en"):
        raise ChannelError(trouble)
    stop = "" if wire.permits.may_be_agent or config.streaming != "native" else f"; for Slack's own Stop button {AGENT}"
    return f"the tokens are those of @{me.name} in {me.place}{stop}"


class SlackChannel:
    """Implements ``bot.core.ports.Channel``."""

    def __init__(self, config: Config, kit: ChannelKit) -> None:
        self.name = kit.name
        self._kit = kit
        waits = Waits(Silences(kit.notes, kit.clock), kit.clock)
        self._wire = Wire(
            kit.http,
            config.api_base,
            config.bot_token.get_secret_value() or "none",
            config.app_token.get_secret_value() or "none",
            kit.clock,
            waits,
        )
        self._errands = Errands(kit.governor, kit.clock, TYPING_EVERY)
        native, off = config.streaming == "native", config.streaming == "off"
        self._sessions = Sessions(self._wire, self._errands, kit.clock, kit.language, streams=native, beside=off)
        self._conversations = Conversations(kit.notes, kit.clock)
        self._past = Past(self._wire, kit.clock)
        self._people = People(self._wire, kit.clock)
        self._renderer = Renderer()
        self._renderer.render("*warm*")  # the first rendering builds the parser; that must not delay the first answer
        self._limits = Limits(
            size=SIZE_BYTES,
            unit="bytes",
            pace=CHAT_INTERVAL,
            previews=not off,
            signs_in_threads=True,
        )
        self._streams = Streams(kit, self._wire, self._sessions, self._limits, self.render, streamable, on=native)
        self._traces = Traces(self._past, kit.clock)
        self._hearing = Hearing(self._wire.permits, kit.clock)
        self._slash = Slash(self._conversations, kit.clock)
        self._posting = Posting(
            *(
                kit,
                self._wire,
                self._streams,
                self._sessions,
                self._traces,
                self._errands,
                self._renderer,
                self._hearing,
                self._slash,
            )
        )
        self._uploads = Uploads(kit, self._wire, self._errands)
        self._intake: Intake | None = None
        self._socket: Socket | None = None
        self._fresh: OrderedDict[Address, float] = OrderedDict()
        self.rates = Rates(chat_interval=CHAT_INTERVAL, edits_per_minute=EDITS_PER_MINUTE)

    @property
    def limits(self) -> Limits:
        return replace(self._limits, idempotent=not self._traces.is_blind)

    @property
    def connected(self) -> bool:
        """A socket that is still open does not know yet that the token was refused elsewhere."""
        return self._socket is not None and self._socket.connected and not self._wire.is_refused

    @property
    def progress(self) -> Progress | None:
        """Implements ``bot.core.ports.Progressing``: answered pings, whatever they bring, and attempts to connect."""
        return Progress(self._socket.heard_at, STALE_AFTER) if self._socket else None

    def trouble(self, language: str) -> str:
        """Implements ``bot.core.ports.Troubled``."""
        return " ".join(filter(None, (self._wire.permits.trouble(language), self._hearing.trouble(language))))

    def render(self, markdown: str) -> Rendered:
        return self._renderer.render(markdown)

    async def run(self, receive: Receive) -> None:
        """Raises ``Unauthorised`` when a token is refused, ``ChannelUnreachable`` when Slack stays away."""
        me = await self._proven()
        await self._conversations.load()
        thread_of = self._posting.thread_of
        intake = self._intake = Intake(self._kit, me, self._people, self._past, self._conversations, thread_of)
        revisits = Revisits(self._past, self._kit.unanswered, self._kit.clock)
        catch_up = CatchUp(self._past, self._conversations, revisits, self._kit.clock, self.name, me.team)
        socket = self._socket = Socket(self._wire, self._kit.clock, self.name)

        async def take(payload: Mapping[str, Any]) -> None:
            await intake.taken(payload, lambda inbound: self._take(inbound, receive))

        async def told(payload: Mapping[str, Any]) -> None:
            self._hearing.heard(payload)
            self._wire.permits.inside(place_of(payload)[0])
            self._slash.came(payload)
            await take(payload)

        def back(absence: float, end: End) -> None:
            self._hearing.renewed(end)
            catch_up.back(absence, end)

        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._errands.run())
                group.create_task(self._people.run())
                group.create_task(self._streams.run())
                group.create_task(self._permitted())
                group.create_task(catch_up.run(take))
                group.create_task(socket.run(told, back))
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None
        finally:
            self._socket = None

    async def _proven(self) -> Me:
        """Who the bot is, asked once: the token is good, and this is the id under which it is mentioned."""
        if self._posting.me is None:
            me = self._posting.me = await self._patiently(lambda: who_am_i(self._wire))
            self._sessions.name = me.name
            log.info("%s is @%s in %s", self.name, me.name, me.place)
        return self._posting.me

    async def _permitted(self) -> None:
        """Until cancelled. Whatever is called tells what the app may do, but where it may do nothing, nothing is called."""
        while True:
            await self._kit.clock.sleep(PERMITTED_SECONDS)
            if self._wire.permits.lacking:
                try:
                    await who_am_i(self._wire)
                except ChannelError as error:
                    log.info("%s: what the app may do is not known: %s", self.name, error)

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """For calls that no governor lets through: Slack's flood waits hold for them as well."""
        while True:
            try:
                return await call()
            except (RateLimited, Hushed) as limited:
                log.warning("%s waits %g s, as Slack asks", self.name, limited.retry_after)
                await self._kit.clock.sleep(limited.retry_after)

    async def _take(self, inbound: Inbound, receive: Receive) -> Receipt:
        if not isinstance(inbound, UserMessage):
            return await self._posting.arrivals.take(inbound, receive)
        message = await self._slash.meant(inbound)
        if not message.id.startswith(COMMAND):
            self._asked(message)
        receipt = await self._posting.arrivals.take(message, receive)
        if receipt.turn:
            self._slash.taken(message)
        elif not (receipt.refused or receipt.duplicate) and (url := self._slash.url(message)):
            told = say("command_not_here", language_of("", self._kit.language, message.sender.language))
            self._errands.surely(message.address, CallKind.ANSWER, lambda: self._wire.respond(url, escaped(told)))
        return receipt

    def _asked(self, message: UserMessage) -> None:
        self._sessions.asked(message)
        self._fresh.pop(message.address, None)
        if message.addressed and message.address.thread == message.id:
            self._fresh[message.address] = self._kit.clock.monotonic()
            if len(self._fresh) > FRESH_KEPT:
                self._fresh.popitem(last=False)

    async def show(self, to: Address, ref: Ref | None, part: Part) -> Ref:
        return await self._posting.show(to, ref, part)

    async def send_file(self, to: Address, file: OutFile, nonce: str) -> Ref:
        """Implements ``bot.core.ports.Sending``."""
        [result] = await self.send_files(to, [(file, nonce)])
        if isinstance(result, ChannelError):
            raise result
        return result

    async def send_files(self, to: Address, files: Sequence[tuple[OutFile, str]]) -> Sequence[Ref | ChannelError]:
        """Implements ``bot.core.ports.SendingTogether``."""
        await self._posting.arrivals.showing(to, known=False)
        results = await self._uploads.send(to, files)
        self._sessions.seen(to)
        return results

    async def remove(self, to: Address, ref: Ref) -> None:
        await self._posting.remove(to, ref)

    async def unbutton(self, to: Address, ref: Ref, part: Part) -> None:
        """Implements ``bot.core.ports.Unbuttoning``."""
        await self._posting.unbutton(to, ref, part)

    async def title(self, of: Address) -> str:
        """Implements ``bot.core.ports.Titled``."""
        async with self._kit.governor.call(of, CallKind.ANSWER):
            name = await self._past.title(of.chat)
        return f"#{name}" if name else ""

    async def answer(self, press: ButtonPress, notice: str) -> None:
        """Returns at once: the event that brought the press must not wait for the answer to it."""
        if notice and press.token:
            told = escaped(self._posting.typed(notice, press.address))
            self._errands.surely(press.address, CallKind.ANSWER, lambda: self._wire.respond(press.token, told))

    async def fetch(self, file: FileRef) -> bytes:
        return await self._wire.download(file.id)

    async def history(self, of: Address, limit: int) -> Sequence[Inbound]:
        """The newest ``limit`` messages of the thread or the conversation, the bot's own among them, oldest first."""
        if self._intake is None or limit <= 0:
            return ()
        if self._kit.clock.monotonic() - self._fresh.get(of, -inf) < FRESH_SECONDS:
            return ()  # the answer opens this thread: there is nothing in it but the question
        try:
            return await self._intake.history(of.chat, of.thread, limit)
        except Unfit as error:
            log.warning("what was said before in %s stays unknown: %s", of, error)
            return ()
        except Hushed as hushed:
            raise RateLimited(str(hushed), hushed.retry_after) from None
