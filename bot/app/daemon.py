"""The wiring: what is built from a configuration, in which order it starts, and in which order it stops."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from random import Random
from typing import Any, Final

from bot.app.about import About, version
from bot.app.alarm import Alarm
from bot.app.chain import Chain
from bot.app.commanding import commands_of
from bot.app.compared import route_routes
from bot.app.control import ControlServer, control_app
from bot.app.edges import Edges, http_place
from bot.app.faults import ModelFaults
from bot.app.hands import taint_of, toolbox_of
from bot.app.intake import intake_of
from bot.app.local import LocalModel
from bot.app.lock import FolderLock
from bot.app.metered import MeteredProvider, metered
from bot.app.notify import ServiceManager, keep_informed
from bot.app.pairing import gate_of, pair_routes
from bot.app.persona import persona_of
from bot.app.reading import reader_of
from bot.app.routes import ConfiguredRoutes
from bot.app.stopping import stop_others
from bot.app.store_watch import watch_store
from bot.attachments.retention import Retention
from bot.brain.approvals import Approvals
from bot.brain.budget import Gauge
from bot.brain.calls import Bench
from bot.brain.compaction import Compaction
from bot.brain.limits import TurnLimits
from bot.brain.loop import Brain
from bot.brain.policy import Policy
from bot.brain.purse import MoneyLimits, Purse
from bot.brain.skills.active import Skills
from bot.brain.skills.shelf import SkillShelf
from bot.brain.turn import Turn
from bot.config.loaded import Config
from bot.config.packaged import packaged_skills
from bot.config.services import answers
from bot.core.errors import StoreError
from bot.core.inbound import UserMessage
from bot.core.ports import Clock
from bot.core.stop import StopReason
from bot.core.tasks import alongside, first_of
from bot.core.texts import language_of, say
from bot.inbox.admission import LIVE_TURNS, Admission
from bot.inbox.announcements import Announcements
from bot.inbox.commands import Stopped
from bot.inbox.groups import Groups
from bot.inbox.lanes import Lanes
from bot.inbox.manners import Manners
from bot.inbox.marks import Marks
from bot.inbox.pairing import Pairing
from bot.inbox.receiving import Inbox
from bot.inbox.retries import Retries
from bot.inbox.revisions import Revisions
from bot.inbox.settings import Settings
from bot.inbox.turns import TurnRunner
from bot.memory.embedding import EmbeddedEmbedder, is_installed
from bot.net.http import Transport
from bot.outbox.governor import BucketGovernor
from bot.providers.models import Models
from bot.store.inbox import InboxRow
from bot.store.store import Store
from bot.time.clock import SystemClock
from bot.time.zones import local_zone
from bot.web.health import Health
from bot.web.metrics import Metrics
from bot.web.server import WebServer

log = logging.getLogger(__name__)

DRAIN_SECONDS: Final = 4.0
"""How long running turns may take to finish when the daemon is asked to stop; out within 10 s in all."""


Watch = Callable[[Callable[[], Mapping[str, Any]]], Coroutine[None, None, None]]


async def nobody_watches(about: Callable[[], Mapping[str, Any]]) -> None:
    """Implements ``Watch``."""


async def run_daemon(
    config: Config,
    *,
    only: Collection[str] = (),
    ready: Callable[[], None] = lambda: None,
    watch: Watch = nobody_watches,
    manager: ServiceManager | None = None,
    live_turns: int = LIVE_TURNS,
) -> None:
    """Run until cancelled; cancellation stops it in order. ``only`` names the channels to run (none: all that are on,
    and the HTTP port). ``ready`` is called once messages are taken; ``watch`` runs beside, with what the daemon says of
    itself; ``manager`` is the service manager that started this process, if one did; ``live_turns`` are let in at once.

    Raises ``BowerbirdError`` when it cannot start.
    """
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        lock = stack.enter_context(FolderLock(config.data_dir))
        store = await stack.enter_async_context(Store.open(config.data_dir))
        if store.loss is not None:
            log.error("%s", store.loss)
        transport = Transport()
        stack.push_async_callback(transport.aclose)
        entries = [entry for entry in config.providers.values() if entry.module]
        models = Models(entries, clock, Random(), config.data_dir, transport, store.notes("models"))
        stack.push_async_callback(models.aclose)
        daemon = Daemon(config, clock, store, transport, models, only, live_turns)
        await daemon.run(lock, ready, watch, manager)


class Daemon:
    """Everything that runs, wired; ``run`` starts it from the inside out and stops it from the outside in."""

    def __init__(
        self,
        config: Config,
        clock: Clock,
        store: Store,
        transport: Transport,
        models: Models,
        only: Collection[str],
        live_turns: int = LIVE_TURNS,
    ) -> None:
        self._config, self._clock, self._store, self._models, self._only = config, clock, store, models, only
        self._live_turns = live_turns
        self._transport = transport
        self._metrics = Metrics(clock, version())
        self._zone = local_zone() if config.timezone == "auto" else config.timezone
        self._local = LocalModel(config, models)
        self._faults = ModelFaults(clock, self._zone, self._works, models.parked)
        self._chain = Chain(config, transport, clock, self._local.ref, self._faults.met, models.window)
        self._embedder = EmbeddedEmbedder() if is_installed() and config.memory.embedder.provider == "local" else None
        self._toolbox = toolbox_of(config, self._embedder)
        self._skills = Skills(SkillShelf([packaged_skills(), *config.skills], clock), self._embedder)
        money = config.brain.money
        self._purse = Purse(store.usage, MoneyLimits(money.day_usd, money.person_day_usd), clock, self._zone)
        self._provider = MeteredProvider(models, self._metrics, self._faults)
        self._reader = reader_of(
            config, self._chain, self._provider, self._embedder, store.usage, self._purse, clock, self._zone
        )
        self._routes = ConfiguredRoutes(config, self._chain, self._reader)
        self._gauge = Gauge(store.notes("gauge"))
        self._compaction = Compaction(self._provider, self._routes, store, self._purse, clock, self._gauge)
        self._edges = Edges(BucketGovernor(clock), clock, store, self._metrics)
        self._lanes: Lanes | None = None
        self._inbox: Inbox | None = None
        self._began: dict[str, float] = {}
        self._warm = asyncio.Event()
        self._about = About(
            name=config.name,
            clock=clock,
            channels=self._edges.channels,
            chain=lambda: list(self._chain.models()),
            local=self._local.state,
            live=lambda: (self._lanes.live_turns, self._lanes.live_lanes) if self._lanes else (0, 0),
            data_dir=config.data_dir,
            language=config.language,
            stale=lambda: self._edges.stale,
            faults=self._wrong_with_models,
            resting=self._faults.resting,
            loss=store.loss,
        )
        self._edges.build(config, only, transport, self._about)
        self._settings = Settings(store.settings)
        self._announcements = Announcements(store.inbox, clock, self._announce)
        self._gate = gate_of(config, lambda address: self._settings.of(address).trigger)
        self._groups = Groups(
            store, self._gate, self._announcements, clock, config.name, config.language, self._edges.title
        )
        self._pairing = Pairing(store.people, self._gate, clock, announce=self._announce, turn_out=self._turn_out)
        self._approvals = Approvals(
            store.approvals, clock, self._gate.is_owner, config.tools.approval_minutes, self._metrics.approval
        )

    async def run(
        self,
        lock: FolderLock,
        ready: Callable[[], None],
        watch: Watch = nobody_watches,
        manager: ServiceManager | None = None,
    ) -> None:
        manager = manager or ServiceManager()
        async with AsyncExitStack() as servers, asyncio.TaskGroup() as edges:
            await self._models.load()
            await self._chain.look()
            edges.create_task(self._prepare_model())
            async with asyncio.TaskGroup() as turns:
                inbox = self._inbox = self._build_inbox(turns)
                receive = metered(inbox.receive, self._metrics, self._note_trouble)
                await self._pairing.load()
                await self._settings.load()
                await self._groups.load()
                await self._open_ports(servers, lock)
                resumed = await inbox.resume(self._edges.channels)
                if resumed:
                    log.info("%d unfinished turns go on", resumed)
                for name in self._edges.channels:
                    edges.create_task(self._edges.run(name, receive, self._warm))
                for work in (
                    self._chain.watch(),
                    self._faults.watch(),
                    self._metrics.watch_loop(),
                    self._compaction.run(),
                    self._toolbox.warm(),
                    self._models.learn_windows(),
                    self._gauge.run(self._clock),
                    Retention(self._store.files, self._store.inbox, self._store.transcript, self._clock).run(),
                    watch(self._about),
                    self._keep_informed(manager),
                    Alarm(
                        self._about,
                        lambda: list(self._edges.channels),
                        self._gate,
                        self._store.inbox,
                        self._announcements,
                        self._store.notes("daemon"),
                        self._clock,
                        self._config.language,
                    ).watch(),
                    watch_store(
                        self._clock, self._store.notes("daemon"), lambda: bool(self._about.trouble), self._note_trouble
                    ),
                ):
                    edges.create_task(work)
                ready()
                try:
                    await asyncio.get_running_loop().create_future()
                finally:
                    manager.tell(STOPPING=1, STATUS="stopping")
                    log.info("stopping: new messages are kept for the next start")
                    inbox.close()
                    await self._drained()
                    await self._gauge.keep()
                    if self._embedder is not None:
                        await self._embedder.aclose()

    def _build_inbox(self, turns: asyncio.TaskGroup) -> Inbox:
        brain, attach = self._brain(), intake_of(self._config, self._edges, self._models, self._store, self._clock).take
        runner = TurnRunner(
            brain=brain,
            commands=commands_of(
                self._store,
                self._clock,
                self._zone,
                about=self._about,
                stop=self._stop_others,
                pairing=self._pairing,
                settings=self._settings,
                announcements=self._announcements,
                purse=self._purse,
                routes=self._routes,
                models=self._models,
                skills=self._skills,
                trouble=self._compaction.trouble,
            ),
            publisher=self._edges.publisher,
            store=self._store,
            clock=self._clock,
            ended=self._ended,
            trouble=self._note_trouble,
            earlier=self._edges.earlier,
            attach=attach,
        )
        self._lanes = Lanes(
            group=turns,
            run=runner,
            turn_of=self._turn_of,
            transcript=self._store.transcript,
            clock=self._clock,
            admission=Admission(self._live_turns),
            when_busy=self._config.brain.when_busy,
            attach=attach,
        )
        self._metrics.lanes_from(lambda: self._lanes.live_lanes if self._lanes else 0)
        return Inbox(
            gate=self._gate,
            pairing=self._pairing,
            rows=self._store.inbox,
            lanes=self._lanes,
            approvals=self._approvals,
            revisions=Revisions(self._store.inbox, self._lanes, brain, self._clock, self._config.language),
            retries=Retries(self._store, self._lanes),
            marks=Marks(self._store, self._clock),
            overheard=self._store.overheard,
            manners=Manners(self._config.name, self._clock),
            groups=self._groups,
            answer=self._edges.answer,
            clock=self._clock,
            language=self._config.language,
        )

    def _brain(self) -> Brain:
        config, limits = self._config, self._config.brain.limits
        return Brain(
            provider=self._provider,
            routes=self._routes,
            persona=lambda: persona_of(config, self._local.profile),
            bench=Bench(self._toolbox, config.tools.files.root, self._zone),
            policy=Policy(config.tools.approve),
            approvals=self._approvals,
            store=self._store,
            clock=self._clock,
            limits=TurnLimits(limits.tool_calls, limits.turn_tokens, limits.turn_seconds),
            purse=self._purse,
            skills=self._skills,
            consider=self._compaction.consider,
            gauge=self._gauge,
            taint=taint_of(config),
        )

    def _wrong_with_models(self, language: str) -> Sequence[str]:
        """What keeps models from answering: their providers' faults, and a budget that is spent."""
        return [*self._faults.sentences(language), *([say("money_spent", language)] if self._purse.is_spent else [])]

    def _turn_of(self, row: InboxRow, message: UserMessage) -> Turn:
        limits = self._edges.limits(message.address)
        self._began[row.turn] = self._clock.monotonic()
        self._metrics.turn_started()
        settings = self._settings.of(message.address)
        language = language_of(message.text, settings.language or self._config.language, message.sender.language)
        chosen = (settings.timezone, settings.work, settings.model)
        return Turn(row.turn, message, language, limits.can_edit, limits.gather, *chosen)

    def _ended(self, turn: Turn, reason: StopReason) -> None:
        began = self._began.pop(turn.id, self._clock.monotonic())
        self._metrics.turn_ended(reason, self._clock.monotonic() - began)

    def _note_trouble(self, trouble: StoreError | None) -> None:
        """Told by the page and by ``status``; in the log once when it comes and once when it goes."""
        if trouble and str(trouble) != str(self._about.trouble):
            log.error("%s", trouble)
        elif self._about.trouble and not trouble:
            log.info("the store works again")
        self._about.trouble = trouble

    async def _stop_others(self, turn: Turn) -> Stopped:
        assert self._lanes is not None, "commands come by way of the lanes"
        return await stop_others(turn, self._lanes, self._gate, self._store.inbox, self._clock.now())

    def _announce(self, notice: InboxRow) -> None:
        """Of a channel that does not run, it waits for a start with it."""
        if self._lanes is not None and notice.inbound.address.channel in self._edges.channels:
            self._lanes.submit(notice)

    async def _turn_out(self, identity: str) -> None:
        if self._inbox is not None:
            await self._inbox.turn_out(identity)

    async def _open_ports(self, servers: AsyncExitStack, lock: FolderLock) -> None:
        terminal = getattr(self._edges.channels.get("terminal"), "attach", None)
        more = (*pair_routes(self._pairing), *route_routes(self._store.routes, self._clock))
        control = control_app(self._about, self._store.transcript, terminal, more)
        await servers.enter_async_context(ControlServer(lock, control))
        if self._only:
            return
        host, port = http_place(self._config)
        health = Health(lambda: self._edges.connected, lambda: self._edges.stale)
        server = await servers.enter_async_context(WebServer(host, port, self._edges.mounts, health, self._metrics))
        self._about.urls.append(server.url)
        log.info("%s is at %s", self._config.name, server.url)

    async def _works(self, provider: str) -> bool:
        entry = self._config.providers.get(provider)
        if entry is None or not await answers(entry, self._transport):
            return False
        await self._models.proven(provider)
        return True

    async def _keep_informed(self, manager: ServiceManager) -> None:
        settled = self._store.database.settled
        await keep_informed(manager, self._clock, self._edges.supervisors.values(), self._about.words, settled)

    async def _prepare_model(self) -> None:
        """What the first answer would otherwise wait for: the skills, the routes, the vendor's library, or the embedded
        model, also where the others go away later."""
        await self._skills.warm()
        await self._reader.ready()
        chain = self._chain.models()
        if chain and not self._chain.needs_local:
            await asyncio.to_thread(self._models.warm, chain[0])
        self._warm.set()
        async with alongside(self._reader.warm(self._routes.asked)):
            await first_of(self._local.stand_by(), self._chain.left_alone())
            await self._local.run()

    async def _drained(self) -> None:
        """Give running turns a moment to finish; what is left then is interrupted and goes on at the next start."""
        deadline = self._clock.monotonic() + DRAIN_SECONDS
        while self._lanes is not None and self._lanes.busy_turns and self._clock.monotonic() < deadline:
            await self._clock.sleep(0.05)
