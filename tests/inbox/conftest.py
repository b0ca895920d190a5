from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.attachments.intake import Intake, Transcribe
from bot.attachments.opening import Opener
from bot.brain.approvals import Approvals
from bot.brain.calls import Bench
from bot.brain.limits import TurnLimits
from bot.brain.loop import Brain
from bot.brain.policy import Policy
from bot.brain.prompt import Persona
from bot.brain.purse import MoneyLimits, Purse
from bot.brain.skills.active import Skills
from bot.brain.skills.shelf import SkillShelf
from bot.brain.toolbox.box import Toolbox
from bot.brain.turn import Turn
from bot.core.address import Address, Sender
from bot.core.errors import StoreError
from bot.core.inbound import ButtonPress, Receipt, UserMessage
from bot.core.model import Audio, ModelRef, Transcript
from bot.core.ports import Clock
from bot.core.stop import StopReason
from bot.core.view import Limits
from bot.inbox.access import Access
from bot.inbox.admission import Admission
from bot.inbox.announcements import Announcements
from bot.inbox.commands import Commands, Stopped, models_told
from bot.inbox.gate import Gate
from bot.inbox.groups import Groups
from bot.inbox.lanes import Lanes, WhenBusy
from bot.inbox.links import Links
from bot.inbox.manners import Manners
from bot.inbox.marks import Marks
from bot.inbox.model_commands import ModelCommands
from bot.inbox.pairing import Pairing
from bot.inbox.receiving import Inbox
from bot.inbox.retries import Retries
from bot.inbox.revisions import Revisions
from bot.inbox.settings import Settings
from bot.inbox.skill_commands import SkillCommands
from bot.inbox.turns import TurnRunner
from bot.outbox.governor import BucketGovernor
from bot.outbox.publisher import Publisher
from bot.outbox.screen import Screen
from bot.store.inbox import InboxRow
from bot.store.store import Store
from bot.time.clock import SystemClock
from bot.tools.registry import find_tools
from tests.fakes.channel import FakeChannel
from tests.fakes.provider import FakeProvider
from tests.fakes.routes import FakeRoutes

HERE = Address("fake", "main", "1")
OWNER = Sender("fake", "7", "Ann")
ACCESS = Access(owners=("7",), users=("8",))


@dataclass
class House:
    """The inner house over one data folder: real store, inbox, Brain and outbox, a scripted vendor, a fake platform."""

    store: Store
    provider: FakeProvider
    channel: FakeChannel
    inbox: Inbox
    lanes: Lanes
    workspace: Path
    ended: list[StopReason]
    trouble: list[StoreError | None]
    group: asyncio.TaskGroup
    pairing: Pairing

    async def say(self, text: str, number: int = 1, sender: Sender = OWNER, address: Address = HERE) -> Receipt:
        return await self.inbox.receive(UserMessage(str(number), address, sender, text, 1.0))

    async def press(self, verb: str, number: int = 1, sender: Sender = OWNER) -> str:
        """Press the button of the newest message that has one with this verb, and return what the presser is told."""
        payload = await self.button(verb)
        await self.inbox.receive(ButtonPress(f"p{number}", HERE, sender, payload, 1.0))
        return self.channel.answers[-1][1]

    async def button(self, verb: str) -> str:
        async with asyncio.timeout(5):
            while True:
                for shown in reversed(list(self.channel.messages.values())):
                    for button in shown.part.buttons:
                        if button.payload.endswith(f":{verb}"):
                            return button.payload
                await asyncio.sleep(0.005)

    async def idle(self) -> None:
        async with asyncio.timeout(10):
            while self.lanes.live_lanes:
                await asyncio.sleep(0.002)

    @property
    def shown(self) -> list[str]:
        return [message.text for message in self.channel.messages.values()]

    async def outcomes(self) -> dict[str, str | None]:
        return await self.store.database.read(
            lambda db: dict(db.execute("SELECT platform_id, outcome FROM inbox").fetchall())
        )


def _turn_of(row: InboxRow, message: UserMessage, settings: Settings) -> Turn:
    set_here = settings.of(message.address)
    return Turn(row.turn, message, set_here.language or "en", zone=set_here.timezone)


OpenHouse = Callable[..., AbstractAsyncContextManager[House]]


@pytest.fixture
def open_house(tmp_path: Path) -> OpenHouse:
    @asynccontextmanager
    async def opened(
        *scripts: Any,
        when_busy: WhenBusy = "steer",
        channel: FakeChannel | None = None,
        die: bool = False,
        clock: Clock | None = None,
        access: Access = ACCESS,
        others: dict[str, Access] | None = None,
        language: str = "en",
        sees: bool = False,
        hears: Transcribe | None = None,
    ) -> AsyncIterator[House]:
        """With ``die`` the house falls when the block is left, as at the end of the process, instead of emptying. The
        model ``sees`` pictures or not; ``hears`` writes speech down, None: nobody does."""
        clock = clock or SystemClock()
        channel = channel or FakeChannel(clock, Limits(4096, "utf16"), strict=False)
        governor = BucketGovernor(clock)
        channel.governor = governor
        provider = FakeProvider(*scripts)
        gate = Gate({"fake": access, **(others or {})}, lambda address: chat_settings.of(address).trigger)
        async with Store.open(tmp_path / "data") as store:
            pairing = Pairing(
                store.people,
                gate,
                clock,
                announce=lambda row: lanes.submit(row),
                turn_out=lambda who: inbox.turn_out(who),
            )
            await pairing.load()
            chat_settings = Settings(store.settings)
            await chat_settings.load()
            announcements = Announcements(store.inbox, clock, lambda row: lanes.submit(row))
            groups = Groups(store, gate, announcements, clock, "Bower", language)
            await groups.load()
            approvals = Approvals(store.approvals, clock, gate.is_owner, 30)
            skills = Skills(SkillShelf([tmp_path / "skills"], clock), None)
            brain = Brain(
                provider=provider,
                routes=FakeRoutes([ModelRef("a", "big", vision=sees)]),
                persona=lambda: Persona("You are a test.", "small"),
                bench=Bench(Toolbox(find_tools().values()), tmp_path / "workspace", "UTC"),
                policy=Policy({"*": "ask"}),
                approvals=approvals,
                store=store,
                clock=clock,
                limits=TurnLimits(),
                purse=Purse(store.usage, MoneyLimits(), clock, "UTC"),
                skills=skills,
            )

            def publisher(turn: Turn, screen: Screen | None) -> Publisher:
                to = turn.address
                return Publisher(channel, governor, store.parts, clock, to, turn.id, turn.language, screen=screen)

            about = {
                "name": "Bower",
                "version": "1",
                "uptime_seconds": 60,
                "channels": {},
                "chain": ["a/big"],
                "troubles": {"en": "", "zh": ""},
                "model": {},
            }
            ended: list[StopReason] = []
            trouble: list[StoreError | None] = []
            lanes: Lanes
            inbox: Inbox

            async def reset() -> Sequence[str]:
                return ["a"]

            async def stop(turn: Turn) -> Stopped:
                return "stopped" if lanes.stop(turn.address, lambda other: other.id != turn.id) else "nothing"

            async def deaf(model: ModelRef, audio: Audio) -> Transcript:
                raise AssertionError("nobody was to listen")

            attach = Intake(
                fetch=channel.fetch,
                files=store.files,
                opener=Opener(),
                speech=ModelRef("a", "ear") if hears else None,
                transcribe=hears or deaf,
                usage=store.usage,
                clock=clock,
            ).take
            runner = TurnRunner(
                brain=brain,
                commands=Commands(
                    store.usage,
                    lambda: about,
                    stop,
                    "UTC",
                    pairing,
                    chat_settings,
                    Links(store.links, clock, announcements.tell),
                    Purse(store.usage, MoneyLimits(), clock, "UTC"),
                    ModelCommands(
                        chat_settings,
                        store.transcript,
                        lambda name: ModelRef("a", "big") if name in ("big", "a/big") else None,
                        reset,
                        lambda turn: gate.is_owner(turn.sender),
                        lambda language: models_told(about, language),
                    ),
                    SkillCommands(skills, store.transcript),
                ),
                publisher=publisher,
                store=store,
                clock=clock,
                ended=lambda turn, reason: ended.append(reason),
                trouble=trouble.append,
                attach=attach,
            )
            async with asyncio.TaskGroup() as group:
                lanes = Lanes(
                    group=group,
                    run=runner,
                    turn_of=lambda row, message: _turn_of(row, message, chat_settings),
                    transcript=store.transcript,
                    clock=clock,
                    admission=Admission(),
                    when_busy=when_busy,
                    attach=attach,
                )
                inbox = Inbox(
                    gate=gate,
                    pairing=pairing,
                    rows=store.inbox,
                    lanes=lanes,
                    approvals=approvals,
                    revisions=Revisions(store.inbox, lanes, brain, clock, language),
                    retries=Retries(store, lanes),
                    marks=Marks(store, clock),
                    overheard=store.overheard,
                    manners=Manners("Bower", clock),
                    groups=groups,
                    answer=channel.answer,
                    clock=clock,
                    language=language,
                )
                house = House(
                    store, provider, channel, inbox, lanes, tmp_path / "workspace", ended, trouble, group, pairing
                )
                yield house
                if die:
                    lanes.cancel()
                await house.idle()

    return opened
