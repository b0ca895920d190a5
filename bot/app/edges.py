"""The channels of a running daemon: built, kept alive, and how each one shows a turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from bot.app.metered import MeteredChannel
from bot.app.supervision import Supervisor
from bot.brain.turn import Turn
from bot.config.discover import builder
from bot.config.loaded import Config
from bot.core.address import Address
from bot.core.errors import ChannelError
from bot.core.http import Http
from bot.core.inbound import ButtonPress, FileRef, UserMessage
from bot.core.ports import AsgiApp, Channel, ChannelKit, Clock, Receive
from bot.core.tasks import alongside
from bot.core.text import clipped
from bot.core.transcript import Overheard
from bot.core.view import Limits
from bot.inbox.retries import is_question
from bot.outbox.governor import BucketGovernor, Rates
from bot.outbox.leftovers import Leftovers
from bot.outbox.publisher import Publisher
from bot.outbox.screen import Screen
from bot.store.store import Store
from bot.web.metrics import Metrics
from bot.web.server import PortServer

log = logging.getLogger(__name__)

ACCOUNT: Final = "main"
WARM_SECONDS: Final = 5.0
EARLIER_SECONDS: Final = 3.0
TITLE_SECONDS: Final = 1.0
EARLIER_MESSAGES: Final = 20
EARLIER_CHARS: Final = 600
WEB_HOST: Final = "127.0.0.1"
WEB_PORT: Final = 8717


@dataclass(frozen=True, slots=True)
class Edges:
    """``channels`` by name, in the order of the configuration; ``supervisors`` keep each of them running, ``leftovers``
    clear up behind those that can."""

    governor: BucketGovernor
    clock: Clock
    store: Store
    metrics: Metrics
    channels: dict[str, Channel] = field(default_factory=dict)
    supervisors: dict[str, Supervisor] = field(default_factory=dict)
    leftovers: dict[str, Leftovers] = field(default_factory=dict)

    def build(self, config: Config, only: Collection[str], http: Http, about: Callable[[], Mapping[str, Any]]) -> None:
        """Every channel that is on; of those only the ``only`` ones, where any are named."""
        for name, entry in config.channels.items():
            if not entry.on or (only and name not in only):
                continue
            kit = ChannelKit(
                governor=self.governor,
                clock=self.clock,
                http=http,
                archive=self.store.transcript,
                notes=self.store.notes(f"channel:{name}"),
                name=name,
                account=ACCOUNT,
                language=config.language,
                about=about,
                serve=PortServer,
                shelf=self.store.files,
                unanswered=partial(self._unanswered, name),
            )
            channel: Channel = builder(entry.module)(entry.config, kit)
            self.governor.declare(name, getattr(channel, "rates", Rates(chat_interval=channel.limits.pace)))
            self.channels[name] = channel
            self.supervisors[name] = Supervisor(channel, self.clock)
            if (unbutton := getattr(channel, "unbutton", None)) is not None:
                self.leftovers[name] = Leftovers(unbutton, self.governor, self.clock)

    async def run(self, name: str, receive: Receive, warm: asyncio.Event) -> None:
        """A platform keeps its messages for a moment: until the answer to the first is as quick as any other."""
        if hasattr(self.channels[name], "progress"):
            with suppress(TimeoutError):
                async with asyncio.timeout(WARM_SECONDS):
                    await warm.wait()
        async with alongside(self.leftovers[name].run()) if name in self.leftovers else nullcontext():
            await self.supervisors[name].run(receive)

    def limits(self, address: Address) -> Limits:
        """A channel may have addresses that can do less than others."""
        channel = self.channels[address.channel]
        limits_for = getattr(channel, "limits_for", None)
        limits: Limits = limits_for(address) if limits_for else channel.limits
        return limits

    async def earlier(self, turn: Turn) -> Sequence[Overheard]:
        """What was said in a thread before the turn's question, as far as the platform tells it soon."""
        channel = self.channels[turn.address.channel]
        try:
            async with asyncio.timeout(EARLIER_SECONDS):
                said = await channel.history(turn.address, EARLIER_MESSAGES + 1)
        except (TimeoutError, ChannelError) as error:
            log.info("what was said in %s before is not known: %s", turn.address, type(error).__name__)
            return ()
        return [
            Overheard(one.sender.name or one.sender.id, clipped(one.text, EARLIER_CHARS))
            for one in said
            if isinstance(one, UserMessage) and one.id != turn.message.id and one.text.strip()
        ]

    async def title(self, of: Address) -> str:
        """What a group is called, as far as the platform tells it soon; else ""."""
        titled = getattr(self.channels[of.channel], "title", None)
        try:
            async with asyncio.timeout(TITLE_SECONDS):
                return str(await titled(of)) if titled is not None else ""
        except (TimeoutError, ChannelError) as error:
            log.info("what %s is called is not known: %s", of, type(error).__name__)
            return ""

    async def _unanswered(self, channel: str) -> Sequence[UserMessage]:
        waiting = [row.inbound for row in await self.store.inbox.unfinished() if row.turn]
        return [one for one in waiting if isinstance(one, UserMessage) and one.address.channel == channel]

    def publisher(self, turn: Turn, screen: Screen | None) -> Publisher:
        leftovers = self.leftovers.get(turn.address.channel)
        return Publisher(
            channel=MeteredChannel(self.channels[turn.address.channel], self.metrics),
            governor=self.governor,
            ledger=self.store.parts,
            clock=self.clock,
            address=turn.address,
            turn=turn.id,
            language=turn.language,
            limits=self.limits(turn.address),
            send_file=getattr(self.channels[turn.address.channel], "send_file", None),
            send_files=getattr(self.channels[turn.address.channel], "send_files", None),
            screen=screen,
            work=turn.work,
            stands=leftovers.begins(turn.address, turn.sender.identity) if leftovers and is_question(turn) else None,
        )

    async def fetch(self, file: FileRef) -> bytes:
        """Raises ``ChannelError``, also for a file of a channel that does not run."""
        channel = self.channels.get(file.channel)
        if channel is None:
            raise ChannelError(f"{file.channel} does not run.")
        return await channel.fetch(file)

    async def answer(self, press: ButtonPress, notice: str) -> None:
        await self.channels[press.address.channel].answer(press, notice)

    @property
    def connected(self) -> dict[str, bool]:
        return {name: channel.connected for name, channel in self.channels.items()}

    @property
    def stale(self) -> list[str]:
        return [name for name, supervisor in self.supervisors.items() if supervisor.stale]

    @property
    def mounts(self) -> list[AsgiApp]:
        return [channel.app for channel in self.channels.values() if hasattr(channel, "app")]


def http_place(config: Config) -> tuple[str, int]:
    """Where the HTTP server listens: health and metrics are there also without the page."""
    web = config.channels.get("web")
    if web is None:
        return WEB_HOST, WEB_PORT
    section: Any = web.config
    return section.host, section.port
