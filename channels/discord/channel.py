"""The Discord channel: direct messages, guilds, threads and posts, whose messages it edits while the answers grow."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any, Final, TypeVar

import discord

from bot.core.address import Address
from bot.core.errors import ChannelError, ChannelUnreachable, StoreError
from bot.core.inbound import ButtonPress, FileRef, Inbound, Receipt, UserMessage
from bot.core.ports import CallKind, ChannelKit, Progress, Receive
from bot.core.tasks import first_failure
from bot.core.text import clipped
from bot.core.texts import say
from bot.core.view import Limits, OutFile, Part, Ref, Rendered
from bot.net.http import Transport
from bot.outbox.arrivals import Arrivals
from bot.outbox.errands import Errands
from bot.outbox.governor import Rates
from bot.outbox.silences import Silences
from channels.discord.commands import offer
from channels.discord.config import Config
from channels.discord.gateway import FRESH, Client, Heard, TextWithheld, point
from channels.discord.interactions import Interactions
from channels.discord.markup import Renderer
from channels.discord.messages import Place, Reader, handle, place_of
from channels.discord.past import Past, missed_in
from channels.discord.permits import Permits
from channels.discord.places import Places
from channels.discord.posts import Posts
from channels.discord.promises import Promises
from channels.discord.rest import Rest
from channels.discord.revisits import Revisits
from channels.discord.threads import Threads
from channels.discord.traces import Traces

log = logging.getLogger(__name__)

SIZE: Final = 2000
CHAT_INTERVAL: Final = 1.3
"""Five sends and five edits in five seconds are borne by a channel (PLATFORMS.md 2.2); paced so, no bucket runs dry."""
CALLS_PER_SECOND: Final = 45
"""Discord bears 50 over all channels."""
TYPING_EVERY: Final = 8.0
"""Discord shows it for ten seconds."""
STALE_AFTER: Final = 150.0
"""Heartbeats are 41 s apart, and the library gives a silent connection up after another minute."""
NOTICE_CHARS: Final = 1000
LABEL_CHARS: Final = 80
GUILDS_SECONDS: Final = 5.0
KEEP_SECONDS: Final = 5.0
STORE_SECONDS: Final = 2.0
UNREAD_SECONDS: Final = 10.0
"""After a history that could not be read."""
Stored = TypeVar("Stored")


def build(config: Config, kit: ChannelKit) -> DiscordChannel:
    return DiscordChannel(config, kit)


async def probe(config: Config) -> str:
    """Prove the token for ``doctor --online``."""
    from bot.time.clock import SystemClock

    http = Transport()
    try:
        rest = Rest(http, config.api_base, config.token.get_secret_value(), SystemClock())
        me = await rest.call("GET", "/users/@me")
    finally:
        await http.aclose()
    return f"the token is {me.get('username')}'s"


class DiscordChannel:
    """Implements ``bot.core.ports.Channel``."""

    def __init__(self, config: Config, kit: ChannelKit) -> None:
        self.name = kit.name
        self._config, self._kit = config, kit
        self._rest = Rest(kit.http, config.api_base, config.token.get_secret_value(), kit.clock)
        self._errands = Errands(kit.governor, kit.clock, TYPING_EVERY)
        self._promises = Promises(kit.notes, kit.archive, kit.clock)
        self._interactions = Interactions(self._rest, self._errands, kit.clock, self._promises)
        self._silences = Silences(kit.notes, kit.clock)
        self._permits = Permits(self._known)
        traces = Traces(self._rest, kit.notes, kit.clock)
        self._posts = Posts(self._rest, self._interactions, self._silences, self._permits.refused, traces)
        self._arrivals = Arrivals(self._errands, self._sign, self._say)
        self._places, self._past = Places(kit.notes), Past(kit.governor, kit.clock)
        self._threads = Threads(self._rest, self._errands, kit, auto=config.threads == "auto", find=self._known)
        self._since = 0
        self._waiting: dict[int, list[Heard]] = {}
        self._renderer = Renderer()
        self._renderer.render("*warm*")
        self._reader = Reader(kit.name, kit.account, self._place_of, kit.clock.now, self._threads.owns)
        self._revisits = Revisits(kit, self._past, self._reader)
        self._client: Client | None = None
        self._reads_text = True
        live = config.streaming != "off"
        self._limits = Limits(SIZE, pace=CHAT_INTERVAL, previews=live, idempotent=True, label_chars=LABEL_CHARS)
        self.rates = Rates(CHAT_INTERVAL, account_per_second=CALLS_PER_SECOND, threads_apart=True)

    @property
    def limits(self) -> Limits:
        return self._limits

    @property
    def connected(self) -> bool:
        return self._client is not None and self._client.is_connected and not self._rest.is_refused

    @property
    def progress(self) -> Progress | None:
        """Implements ``bot.core.ports.Progressing``: frames of the gateway. While there is no connection the library's
        own pauses have no bound that could be told, and ``Client`` gives up by itself."""
        client = self._client
        return Progress(client.heard_at, STALE_AFTER) if client is not None and client.is_connected else None

    def trouble(self, language: str) -> str:
        """Implements ``bot.core.ports.Troubled``."""
        deaf = "" if self._reads_text else say("deaf_discord", language)
        return " ".join(filter(None, (deaf, self._permits.trouble(language), self._threads.trouble(language))))

    def render(self, markdown: str) -> Rendered:
        return self._renderer.render(markdown)

    # hearing

    async def run(self, receive: Receive) -> None:
        """Raises ``Unauthorised`` when the token is refused, ``ChannelUnreachable`` when Discord stays away."""
        await self._silences.hand_over(self._kit.governor, self._address)
        await self._places.load()
        await self._threads.load()
        self._threads.seen = self._places.seen
        while True:
            try:
                return await self._hear(receive)
            except TextWithheld:
                if not self._reads_text:
                    raise
                self._reads_text = False
                log.warning(
                    "%s: the bot sees only messages that mention it, and direct ones: switch on the Message Content Intent"
                    " in Discord's developer portal (Bot) and start again",
                    self.name,
                )

    async def _hear(self, receive: Receive) -> None:
        point(self._config.api_base, self._config.gateway_url or await self._rest.gateway())
        client = self._client = Client(
            self._kit.clock, self.name, reads_text=self._reads_text, said=self._said, hurry=self._hurry
        )
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._errands.run())
                group.create_task(self._interactions.run())
                group.create_task(self._kept())
                group.create_task(self._worked(client, receive))
                group.create_task(self._caught_up(client, receive))
                group.create_task(self._revisits.run(client, lambda change: self._stored(change, receive)))
                group.create_task(client.hear(self._config.token.get_secret_value()))
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None
        finally:
            self._client = None
            self._waiting.clear()
            await self._places.keep()

    def _said(self, up: bool) -> None:
        if up:
            log.info("%s hears", self.name)
        else:
            log.warning("%s hears nothing: the connection is gone; it is made again", self.name)

    async def _kept(self) -> None:
        while True:
            await self._kit.clock.sleep(KEEP_SECONDS)
            await self._places.keep()

    async def _worked(self, client: Client, receive: Receive) -> None:
        """One thing heard after the other, in order; but what was missed in a channel goes before what is said there now."""
        for command in await self._interactions.inherited():
            await self._stored(command, receive)
        while True:
            heard = await client.line.get()
            if heard.event == "message" and self._places.is_behind(heard.value.channel.id):
                self._waiting.setdefault(heard.value.channel.id, []).append(heard)
            else:
                await self._deal(client, heard, receive)

    async def _caught_up(self, client: Client, receive: Receive) -> None:
        """What was missed, channel by channel, those first where somebody waits; nobody waits elsewhere."""
        while True:
            behind = await self._places.behind()
            number = next(iter(self._waiting), behind)
            known = await self._read(client, number, receive)
            while waiting := self._waiting.pop(number, []):
                for heard in waiting:
                    await self._deal(client, heard, receive)
            if known:
                self._places.caught_up(number)
            else:
                self._places.put_off(number)
                await self._kit.clock.sleep(UNREAD_SECONDS)

    async def _read(self, client: Client, number: int, receive: Receive) -> bool:
        """Take what was missed in a channel. False where it must be read later."""
        to = self._reader.address(self._place_of(number))
        try:
            async for message in self._past.after(client, number, to, self._since):
                await self._deal(client, Heard("message", message), receive)
        except ChannelError as error:
            log.info("%s: what was said in %s meanwhile is not known: %s", self.name, number, error)
            return not isinstance(error, ChannelUnreachable)
        return True

    async def _deal(self, client: Client, heard: Heard, receive: Receive) -> None:
        """What cannot be stored is tried until it can. What breaks something is named in the log and left, so that it
        stops nothing else."""
        try:
            if heard.event == FRESH:
                await self._fresh(client)
            else:
                await self._take(client, heard, receive)
        except ChannelError as error:
            log.warning("%s: %s was not dealt with: %s", self.name, heard.event, error)
        except Exception:
            log.exception("%s: %s broke something and is left", self.name, heard.event)

    async def _fresh(self, client: Client) -> None:
        """A new session does not tell what was said meanwhile."""
        if (application := client.application_id) is not None:
            nowhere = Address(self.name, self._kit.account, "application")
            menu = partial(offer, self._kit.notes, self._rest, application)
            self._errands.surely(nowhere, CallKind.ANSWER, menu, repeatable=True)
        if (since := self._places.since(self._kit.clock.now())) is None:
            await self._places.keep()  # from now on nothing is missed
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(GUILDS_SECONDS):
                await client.wait_until_ready()
        self._since = since
        self._revisits.due()
        groups = {*self._config.access.groups, *self._places.guilds}
        self._places.fall_behind((*missed_in(client, groups, since), *self._places.direct))

    async def _take(self, client: Client, heard: Heard, receive: Receive) -> None:
        me = client.user
        if me is None:
            return
        match heard.event:
            case "message":
                await self._message(heard.value, me, receive)
            case "interaction":
                await self._interaction(heard.value, receive)
            case "raw_message_edit":
                if (edited := self._reader.edited(heard.value, me)) is not None:
                    await self._stored(self._threads.home(edited), receive)
            case "raw_message_delete":
                await self._deleted(heard.value, [heard.value.message_id], receive)
            case "raw_bulk_message_delete":
                await self._deleted(heard.value, sorted(heard.value.message_ids), receive)
            case "guild_join":
                if (joined := self._reader.joined(heard.value)) is not None:
                    await self._stored(joined, receive)
            case "raw_reaction_add" | "raw_reaction_remove" if heard.value.user_id != me.id:
                added = heard.event == "raw_reaction_add"
                await self._stored(self._reader.reaction(heard.value, added=added), receive)

    async def _deleted(self, raw: Any, numbers: Sequence[int], receive: Receive) -> None:
        for number in numbers:
            self._posts.deleted(str(number))
            await self._stored(self._threads.home(self._reader.deleted(raw, number)), receive)

    async def _message(self, raw: discord.Message, me: discord.ClientUser, receive: Receive) -> None:
        message = self._reader.message(raw, me)
        if message is not None:
            if message.direct or message.addressed:  # known before it is stored: else it could not be caught up on
                await self._places.spoken(raw.channel.id, self._reader.place(raw))
            message = await self._insisted(partial(self._threads.placed, raw, message, me))
            self._threads.taken(raw, message, me, await self._stored(message, receive))
        self._places.saw(raw.id)

    def _hurry(self, raw: discord.Interaction[Any]) -> None:
        """Before its turn in the line comes: Discord waits for three seconds, whatever the store is doing."""
        to = self._reader.address(self._reader.place_of_interaction(raw))
        if raw.type is discord.InteractionType.component:
            self._interactions.pressed(to, handle(raw))
        elif raw.type is discord.InteractionType.application_command:
            self._interactions.commanded(self._reader.command(raw), handle(raw))

    async def _interaction(self, raw: discord.Interaction[Any], receive: Receive) -> None:
        if raw.type is discord.InteractionType.component:
            await self._stored(self._threads.home(self._reader.press(raw)), receive)
        elif raw.type is discord.InteractionType.application_command:
            await self._stored(self._reader.command(raw), receive)
            await self._places.spoken(raw.channel_id or 0, self._reader.place_of_interaction(raw))

    async def _stored(self, inbound: Inbound, receive: Receive) -> Receipt:
        receipt = await self._insisted(partial(self._arrivals.take, inbound, receive))
        if isinstance(inbound, ButtonPress) and receipt.duplicate:
            await self.answer(inbound, "")  # whoever took it may have died before the answer: the button must not wait
        silent = not (receipt.turn or receipt.refused or receipt.duplicate)
        if silent and isinstance(inbound, UserMessage) and self._interactions.waits(inbound.id):
            told = say("command_not_here", inbound.sender.language)
            self._errands.surely(inbound.address, CallKind.FINAL, lambda: self._say(inbound, told))
        return receipt

    async def _insisted(self, storing: Callable[[], Awaitable[Stored]]) -> Stored:
        while True:
            try:
                return await storing()
            except StoreError as error:
                log.warning("%s: what was heard waits for the store: %s", self.name, error)
                await self._kit.clock.sleep(STORE_SECONDS)

    def _known(self, number: int) -> Any:
        return self._client.get_channel(number) if self._client else None

    def _place_of(self, number: int, guild: int | None = None) -> Place:
        told = Place(str(number), guild=str(guild or ""))
        above = self._threads.above(number)
        return place_of(number, self._known(number), above, told if above else self._places.find(number) or told)

    # showing

    async def show(self, to: Address, ref: Ref | None, part: Part) -> Ref:
        await self._silences.hand_over(self._kit.governor, self._address)
        place = await (self._threads.found(to) if ref is not None else self._threads.ready(to))
        if ref is None:
            await self._arrivals.showing(to, known=True)
        await self._threads.stands_in(to, part.buttons)
        kind = CallKind.FINAL if part.final else CallKind.PREVIEW
        async with self._kit.governor.call(place, kind, edit=ref is not None):
            self._errands.seen(to)
            if ref is not None:
                await self._posts.edit(place, ref, part)
                return ref
            return await self._posts.send(place, part, await self._question(to, part) if part.index == 0 else None)

    async def _question(self, to: Address, part: Part) -> UserMessage | None:
        """What is answered: as this process took it in, or as an earlier one promised to."""
        await self._interactions.inherited()
        return self._arrivals.question(part.turn) or await self._promises.question(part.turn, to)

    async def send_file(self, to: Address, file: OutFile, nonce: str) -> Ref:
        """Implements ``bot.core.ports.Sending``."""
        place = await self._threads.ready(to)
        async with self._kit.governor.call(place, CallKind.FINAL):
            return await self._posts.send_file(place, file, nonce)

    async def _sign(self, to: Address) -> None:
        """In the channel, as long as a thread is not open: the governor has let one in the thread."""
        place = self._threads.place_now(to)
        async with self._kit.governor.call(place, CallKind.TYPING) if place != to else nullcontext():
            await self._posts.sign(place)

    async def _say(self, message: UserMessage, text: str) -> None:
        await self._posts.say(self._threads.place_now(message.address), message, text)

    def _address(self, chat: str) -> Address:
        return Address(self.name, self._kit.account, chat)

    async def remove(self, to: Address, ref: Ref) -> None:
        place = await self._threads.found(to)
        async with self._kit.governor.call(place, CallKind.FINAL):
            await self._posts.remove(place, ref)

    async def unbutton(self, to: Address, ref: Ref, part: Part) -> None:
        """Implements ``bot.core.ports.Unbuttoning``."""
        place = await self._threads.found(to)
        async with self._kit.governor.call(place, CallKind.TYPING, edit=True):
            await self._posts.unbutton(place, ref)

    async def title(self, of: Address) -> str:
        """Implements ``bot.core.ports.Titled``: the guild's name and the channel's."""
        return self._permits.title(int(of.chat))

    async def answer(self, press: ButtonPress, notice: str) -> None:
        """Returns at once: what was pressed waits for nothing but the store."""
        told = clipped(notice, NOTICE_CHARS)
        self._errands.surely(
            press.address, CallKind.ANSWER, lambda: self._interactions.answer(press.token, told), repeatable=True
        )

    async def fetch(self, file: FileRef) -> bytes:
        return await self._rest.download(file.id)

    async def history(self, of: Address, limit: int) -> Sequence[Inbound]:
        client = self._client
        if client is None or client.user is None or self._threads.begins(of):
            return ()
        return await self._past.before(client, self._reader, client.user, of, limit)
