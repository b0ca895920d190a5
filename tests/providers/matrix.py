"""The house in front of a faulty vendor: the real Brain, real retries, real libraries, two models of one kind in a chain."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from bot.brain.approvals import Approvals
from bot.brain.limits import TurnLimits
from bot.brain.loop import Brain, opening_rows
from bot.brain.turn import Floor, Turn
from bot.core.address import Address, Sender
from bot.core.errors import ModelResting, ProviderError
from bot.core.events import TurnEvent
from bot.core.http import DEFAULT_TIMEOUTS, Timeouts
from bot.core.inbound import UserMessage
from bot.core.model import ModelEvent, ModelRef, ModelRequest, Price
from bot.core.ports import Provider, Tool
from bot.core.stop import StopReason
from bot.core.transcript import ResultRow
from bot.core.view import View
from bot.net.http import Reply, Transport
from bot.outbox.fold import fold
from bot.providers.discovery import entry
from bot.providers.models import Models
from bot.store.store import Store
from bot.store.transcript import Opening
from bot.tools.registry import find_tools
from tests.brain.conftest import brain_over
from tests.fakes.routes import FakeRoutes
from tests.providers.bench import SleeplessClock
from tests.sim.llm import LlmSim, When, answer, text
from tests.sim.llm.script import Answer
from tests.sim.llm.steps import Step

FIRST: Final = "Answered by the first."
SECOND: Final = "Answered by the second."
FAULTY: Final = "faulty"
SOUND: Final = "sound"
HERE: Final = Address("web", "main", "c")
OWNER: Final = Sender("web", "owner", "Owner")
PRICE: Final = Price(1.0, 2.0)
HASTY: Final[Mapping[str, float]] = {"silence_seconds": 0.3, "first_seconds": 0.4, "alive_seconds": 0.6}
"""Patience with silence, which is real on the wire; everything else goes by a clock that never waits."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One column of the matrix. ``alive`` is what keeps its connection open and says nothing."""

    name: str
    kind: str
    first: str
    second: str
    path: str = ""
    own: str = ""
    alive: bytes = b": keep-alive\n\n"


OPENAI_URL: Final = "https://api.openai.com/v1"
KINDS: Final = {
    kind.name: kind
    for kind in (
        Kind("anthropic", "anthropic", "claude-sonnet-5-5", "claude-haiku-5-5", alive=b"event: ping\ndata: {}\n\n"),
        Kind("openai", "openai", "gpt-5.4", "gpt-5.4-mini", own=OPENAI_URL),
        Kind("compatible", "openai", "qwen2.5-72b", "mistral-small", path="/v1"),
        Kind(
            "ollama",
            "ollama",
            "qwen3:8b",
            "llama3.2:3b",
            alive=b'{"model":"m","message":{"role":"assistant","content":""},"done":false}\n',
        ),
    )
}


class Rerouted(Transport):
    """A transport on which OpenAI's own address leads to the simulator."""

    def __init__(self, sim: LlmSim) -> None:
        super().__init__()
        self._to = sim.openai_url

    async def open(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        redirects: int = 0,
    ) -> Reply:
        url = url.replace(OPENAI_URL, self._to)
        return await super().open(method, url, headers=headers, body=body, timeouts=timeouts, redirects=redirects)


class Overheard:
    """Implements ``Provider``: passes everything on and keeps what each model met."""

    def __init__(self, inner: Provider) -> None:
        self._inner = inner
        self.met: dict[str, list[ProviderError]] = {}

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        try:
            async with self._inner.stream(request) as events:
                yield events
        except ProviderError as error:
            self.met.setdefault(request.model.model, []).append(error)
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()


@dataclass(slots=True)
class Told:
    """What came of one turn. ``first`` and ``second`` are the requests that reached each model in it, ``whole`` those of
    the first that asked for an answer that is not streamed; ``error`` is the last that the first model met."""

    stop: StopReason
    text: str
    notices: tuple[str, ...]
    first: int
    second: int
    whole: int
    slept: list[float]
    error: str
    resting: bool
    results: list[ResultRow]
    shown: list[str]


@dataclass
class House:
    """Scripts are played to the first model; the second always answers."""

    kind: Kind
    sim: LlmSim
    store: Store
    models: Models
    heard: Overheard
    clock: SleeplessClock
    brain: Brain
    chain: list[ModelRef]
    events: list[TurnEvent] = field(default_factory=list)
    number: int = 0

    def script(self, *answers: Answer | Sequence[Step], repeat: bool = False) -> None:
        for one in answers:
            steps = one.steps if isinstance(one, Answer) else tuple(one)
            self.sim.script(answer(*steps, when=When(model=self.kind.first), repeat=repeat))

    async def ask(self, words: str = "hi", **facts: Any) -> Told:
        self.number += 1
        self.events.clear()
        self.heard.met.clear()
        asked, slept = len(self.sim.chats), len(self.clock.slept)
        message = UserMessage(str(self.number), HERE, OWNER, words, 1.0)
        turn = Turn(f"turn{self.number}", message, facts.pop("language", "en"), **facts)
        row = (await self.store.inbox.record(message, turn.id, self.clock.now())).row
        await self.store.transcript.begin(row.id, HERE, turn.id, self.clock.now(), *opening_rows(turn))
        stop = await self.brain.answer(turn, self.events.append, Floor(_nobody, _held), Opening(1))
        shown = self._shown()
        requests = [seen.body for seen in self.sim.chats[asked:]]
        first = [body for body in requests if body["model"] == self.kind.first]
        met = self.heard.met.get(self.kind.first, [])
        rows = await self.store.transcript.turn_rows(turn.id)
        return Told(
            stop,
            shown[-1].text,
            shown[-1].notices,
            first=len(first),
            second=len(requests) - len(first),
            whole=sum(body.get("stream") is False for body in first),
            slept=self.clock.slept[slept:],
            error=next((type(error).__name__ for error in reversed(met) if not isinstance(error, ModelResting)), ""),
            resting=any(isinstance(error, ModelResting) for error in met),
            results=[row.body for row in rows if isinstance(row.body, ResultRow)],
            shown=[view.text for view in shown],
        )

    def _shown(self) -> list[View]:
        views = [View("t")]
        for event in self.events:
            views.append(fold(views[-1], event, "en"))
        return views


async def _nobody(first: bool) -> int:
    return 0


@asynccontextmanager
async def _held() -> AsyncIterator[None]:
    yield


@asynccontextmanager
async def house(
    kind: Kind,
    sim: LlmSim,
    folder: Path,
    *,
    alone: bool = False,
    tools: Mapping[str, Tool] | None = None,
    limits: TurnLimits | None = None,
    **more: Any,
) -> AsyncIterator[House]:
    """``alone``: the chain is the first model only. ``tools`` are in place of the house's own. ``more`` goes into the section
    of its provider."""
    clock, http = SleeplessClock(), Rerouted(sim)
    base_url = kind.own or sim.url + kind.path
    sections = [
        entry(name, {"kind": kind.kind, "base_url": base_url, "api_key": f"sk-{name}-key", **section})
        for name, section in ((FAULTY, more), (SOUND, {}))
    ]
    sim.script(answer(text(SECOND), when=When(model=kind.second), repeat=True))
    async with Store.open(folder) as store:
        models = Models(sections, clock, Random(7), folder, http, store.notes("models"))
        heard = Overheard(models)
        chain = [ModelRef(FAULTY, kind.first, price=PRICE), ModelRef(SOUND, kind.second, price=PRICE)]
        chain = chain[:1] if alone else chain
        approvals = Approvals(store.approvals, clock, lambda who: True, 30)
        routes = FakeRoutes(chain)
        brain = brain_over(
            store, folder, heard, routes, clock, approvals, tools or find_tools(), {"*": "allow"}, limits
        )
        try:
            yield House(kind, sim, store, models, heard, clock, brain, chain)
        finally:
            await models.aclose()
            await http.aclose()
