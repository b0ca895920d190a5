"""The Discord channel: direct messages, guilds, threads and posts, whose messages it edits while the answers grow."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

import discord

from bot.core.address import Address
from bot.core.errors import ChannelError, ChannelUnreachable, MessageGone, RateLimited, StoreError
from bot.core.inbound import ButtonPress, FileRef, Inbound, UserMessage
from bot.core.ports import CallKind, ChannelKit, Progress, Receive
from bot.core.tasks import first_failure
from bot.core.text import clipped
from bot.core.texts import say
from bot.core.view import Button, Limits, Part, Ref, Rendered
from bot.net.http import Transport
from bot.outbox.arrivals import Arrivals
from bot.outbox.errands import Errands
from bot.outbox.governor import Rates
from bot.outbox.silences import Silences
from channels.discord.commands import Interactions, offer
from channels.discord.config import Config
from channels.discord.gateway import FRESH, LIBRARY_ERRORS, Client, Heard, TextWithheld, point, translated
from channels.discord.markup import Renderer
from channels.discord.messages import Place, Reader
from channels.discord.places import Places
from channels.discord.rest import Rest

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
ROW_BUTTONS: Final = 5
CAUGHT_UP_MESSAGES: Final = 200
"""In one channel after one silence."""
GUILDS_SECONDS: Final = 5.0
KEEP_SECONDS: Final = 5.0
STORE_SECONDS: Final = 2.0
NO_PREVIEW: Final = 4
"""The flag SUPPRESS_EMBEDS."""
QUIET: Final = {"parse": [], "replied_user": False}
"""Nobody is pinged, in sends and in edits: an edit without it would ping whatever the message had."""
STYLES: Final = {"plain": 2, "primary": 1, "danger": 4}
NOTHING: Final = "…"


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
        self._arrivals = Arrivals(self._errands, self._sign, self._say)
        self._interactions = Interactions(self._rest, kit.clock)
        self._silences = Silences(kit.notes, kit.clock)
        self._places = Places(kit.notes)
        self._renderer = Renderer()
        self._renderer.render("*warm*")
        self._reader = Reader(kit.name, kit.account, str(kit.about().get("name") or ""), self._place_of, kit.clock.now)
        self._client: Client | None = None
        self._reads_text = True
        self._resent: Counter[str] = Counter()
        self._limits = Limits(
            size=SIZE,
            pace=CHAT_INTERVAL,
            previews=config.streaming != "off",
            idempotent=True,
            label_chars=LABEL_CHARS,
        )
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

    def render(self, markdown: str) -> Rendered:
        return self._renderer.render(markdown)

    # hearing

    async def run(self, receive: Receive) -> None:
        """Raises ``Unauthorised`` when the token is refused, ``ChannelUnreachable`` when Discord stays away."""
        await self._places.load()
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
        point(self._config.api_base, self._config.gateway_url or await self._gateway())
        client = self._client = Client(self._kit.clock, self.name, reads_text=self._reads_text, said=self._said)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._errands.run())
                group.create_task(self._kept())
                group.create_task(self._worked(client, receive))
                group.create_task(client.hear(self._config.token.get_secret_value()))
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None
        finally:
            self._client = None
            await self._places.keep()

    async def _gateway(self) -> str:
        told = await self._rest.call("GET", "/gateway")
        url = told.get("url") if isinstance(told, dict) else None
        if not isinstance(url, str):
            raise ChannelUnreachable("Discord did not say where its gateway is.", maybe_done=False)
        return url

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
        """One thing heard after the other, in order; what cannot be stored is tried until it can. What breaks something is
        named in the log and left, so that it stops nothing else."""
        while True:
            heard = await client.line.get()
            try:
                if heard.event == FRESH:
                    await self._fresh(client, receive)
                else:
                    await self._take(client, heard, receive)
            except ChannelError as error:
                log.warning("%s: %s was not dealt with: %s", self.name, heard.event, error)
            except Exception:
                log.exception("%s: %s broke something and is left", self.name, heard.event)

    async def _fresh(self, client: Client, receive: Receive) -> None:
        """A new session does not tell what was said meanwhile."""
        if client.application_id is not None:
            self._interactions.application = client.application_id
            self._errands.surely(self._nowhere, CallKind.ANSWER, self._menu)
        if (since := self._places.since(self._kit.clock.now())) is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(GUILDS_SECONDS):
                await client.wait_until_ready()
        for number in dict.fromkeys((*self._places.known, *self._newer(client, since))):
            try:
                messages = client.get_partial_messageable(number).history(
                    limit=CAUGHT_UP_MESSAGES, after=discord.Object(since), oldest_first=True
                )
                async for message in messages:
                    await self._take(client, Heard("message", message), receive)
            except LIBRARY_ERRORS as error:
                log.info("%s: what was said in %s meanwhile is not known: %s", self.name, number, translated(error))

    def _newer(self, client: Client, since: int) -> Iterator[int]:
        """Channels and threads of guilds where the bot may answer and somebody wrote after ``since``."""
        groups = self._config.access.groups
        for guild in client.guilds:
            for channel in (*guild.text_channels, *guild.threads):
                names = {str(guild.id), str(channel.id), str(getattr(channel, "parent_id", "")), "*"}
                if (channel.last_message_id or 0) > since and names & set(groups):
                    yield channel.id

    async def _menu(self) -> None:
        await offer(self._kit.notes, self._rest, self._interactions.application)

    @property
    def _nowhere(self) -> Address:
        """For calls that are about no chat."""
        return Address(self.name, self._kit.account, "application")

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
                    await self._stored(edited, receive)
            case "raw_message_delete":
                await self._stored(self._reader.deleted(heard.value.channel_id, heard.value.message_id), receive)
            case "raw_bulk_message_delete":
                for number in sorted(heard.value.message_ids):
                    await self._stored(self._reader.deleted(heard.value.channel_id, number), receive)
            case "raw_reaction_add" | "raw_reaction_remove" if heard.value.user_id != me.id:
                added = heard.event == "raw_reaction_add"
                await self._stored(self._reader.reaction(heard.value, added=added), receive)

    async def _message(self, raw: discord.Message, me: discord.ClientUser, receive: Receive) -> None:
        message = self._reader.message(raw, me)
        if message is not None:
            if message.direct or message.addressed:  # known before it is stored: else it could not be caught up on
                await self._places.spoken(raw.channel.id, self._place_of(raw.channel.id))
            await self._stored(message, receive)
        self._places.saw(raw.id)

    async def _interaction(self, raw: discord.Interaction[Any], receive: Receive) -> None:
        if raw.type is discord.InteractionType.component:
            await self._stored(self._reader.press(raw), receive)
        elif raw.type is discord.InteractionType.application_command:
            message = self._reader.command(raw)
            self._interactions.arrived(message.id, raw.token)
            self._errands.surely(message.address, CallKind.ANSWER, lambda: self._interactions.promise(message.id))
            await self._stored(message, receive)
            await self._places.spoken(raw.channel_id or 0, self._place_of(raw.channel_id or 0))

    async def _stored(self, inbound: Inbound, receive: Receive) -> None:
        while True:
            try:
                receipt = await self._arrivals.take(inbound, receive)
                break
            except StoreError as error:
                log.warning("%s: what was heard waits for the store: %s", self.name, error)
                await self._kit.clock.sleep(STORE_SECONDS)
        if isinstance(inbound, ButtonPress) and receipt.duplicate:
            await self.answer(inbound, "")  # whoever took it may have died before the answer: the button must not wait
        silent = not (receipt.turn or receipt.refused or receipt.duplicate)
        if silent and isinstance(inbound, UserMessage) and self._interactions.waits(inbound.id):
            told = say("command_not_here", inbound.sender.language)
            self._errands.surely(inbound.address, CallKind.FINAL, lambda: self._say(inbound, told))

    def _place_of(self, number: int) -> Place:
        channel = self._client.get_channel(number) if self._client else None
        if isinstance(channel, discord.Thread):
            return Place(str(channel.parent_id), str(number), str(channel.guild.id))
        if isinstance(channel, discord.abc.GuildChannel):
            return Place(str(number), guild=str(channel.guild.id))
        return self._places.find(number) or Place(str(number))

    # showing

    async def show(self, to: Address, ref: Ref | None, part: Part) -> Ref:
        if ref is None:
            await self._arrivals.showing(to, known=True)
        async with self._kit.governor.call(
            to, CallKind.FINAL if part.final else CallKind.PREVIEW, edit=ref is not None
        ):
            self._errands.seen(to)
            body: dict[str, Any] = {
                "content": part.rendered.text.strip() or NOTHING,
                "components": rows(part.buttons),
                "allowed_mentions": QUIET,
                "flags": NO_PREVIEW,
            }
            if ref is not None:
                return await self._edit(to, ref, part, body)
            return await self._first(to, part, body)

    async def _edit(self, to: Address, ref: Ref, part: Part, body: dict[str, Any]) -> Ref:
        try:
            await self._call(to, "PATCH", f"/channels/{_id(to)}/messages/{ref.message_id}", body)
        except MessageGone:
            self._resent[part.nonce] += 1
            raise
        return ref

    async def _first(self, to: Address, part: Part, body: dict[str, Any]) -> Ref:
        """A repeated send is one message: Discord knows the nonce for a few minutes, and answers with what is there."""
        question = self._arrivals.question(part.turn) if part.index == 0 else None
        if question is not None and (filled := await self._interactions.fill(question.id, body)) is not None:
            return _ref(filled)
        nonce = f"{part.nonce}.{again}" if (again := self._resent[part.nonce]) else part.nonce
        sent = {**body, "nonce": nonce[-25:], "enforce_nonce": True}
        if question is not None and not question.direct and not self._interactions.waits(question.id):
            sent["message_reference"] = {"message_id": question.id, "fail_if_not_exists": False}
        answer = await self._call(to, "POST", f"/channels/{_id(to)}/messages", sent)
        ref = _ref(answer)
        if isinstance(answer, dict) and answer.get("content") != body["content"]:
            await self._call(to, "PATCH", f"/channels/{_id(to)}/messages/{ref.message_id}", body)
        return ref

    async def _say(self, message: UserMessage, text: str) -> None:
        body: dict[str, Any] = {"content": text, "allowed_mentions": QUIET, "flags": NO_PREVIEW}
        if await self._interactions.fill(message.id, body) is None:
            sent = {**body, "nonce": message.id[-25:], "enforce_nonce": True}
            await self._call(message.address, "POST", f"/channels/{_id(message.address)}/messages", sent)

    async def _sign(self, to: Address) -> None:
        await self._call(to, "POST", f"/channels/{_id(to)}/typing", bucket="typing")

    async def remove(self, to: Address, ref: Ref) -> None:
        try:
            async with self._kit.governor.call(to, CallKind.FINAL):
                await self._call(to, "DELETE", f"/channels/{_id(to)}/messages/{ref.message_id}")
        except MessageGone:
            pass

    async def answer(self, press: ButtonPress, notice: str) -> None:
        """Returns at once: what was pressed waits for nothing but the store."""
        told = clipped(notice, NOTICE_CHARS)
        self._errands.surely(
            press.address, CallKind.ANSWER, lambda: self._interactions.press(press.token, told), repeatable=True
        )

    async def fetch(self, file: FileRef) -> bytes:
        return await self._rest.download(file.id)

    async def history(self, of: Address, limit: int) -> Sequence[Inbound]:
        client = self._client
        if client is None or client.user is None:
            return ()
        try:
            found = [raw async for raw in client.get_partial_messageable(int(_id(of))).history(limit=limit)]
        except LIBRARY_ERRORS as error:
            raise translated(error) from None
        said = (self._reader.message(raw, client.user) for raw in reversed(found))
        return [message for message in said if message is not None]

    async def _call(
        self, to: Address, method: str, path: str, body: dict[str, Any] | None = None, *, bucket: str = "messages"
    ) -> Any:
        """One call for a chat. A wait that an earlier process was told of still holds."""
        chat = _id(to)
        if left := await self._silences.left(chat):
            raise RateLimited("Discord asked to wait before this start.", left)
        try:
            return await self._rest.call(method, path, body, bucket=f"{bucket} {chat}")
        except RateLimited as limited:
            await self._silences.keep(chat, limited.retry_after)
            raise


def rows(buttons: Sequence[Button]) -> list[dict[str, Any]]:
    """The verbs of a card in one row, Stop in one of its own."""
    found: list[dict[str, Any]] = []
    last = None
    for button in buttons:
        target = button.payload.rpartition(":")[0]
        if target != last or len(found[-1]["components"]) >= ROW_BUTTONS:
            found.append({"type": 1, "components": []})
            last = target
        made = {"type": 2, "style": STYLES[button.style], "label": button.label, "custom_id": button.payload}
        found[-1]["components"].append(made)
    return found


def _id(to: Address) -> str:
    """The channel that is called: a thread is one of its own."""
    return to.thread or to.chat


def _ref(message: Any) -> Ref:
    number = message.get("id") if isinstance(message, dict) else None
    if not isinstance(number, str):
        raise ChannelUnreachable("Discord did not say which message it sent.", maybe_done=True)
    return Ref(number)
