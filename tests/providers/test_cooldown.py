"""Models that failed are left alone for a while, and keys that are refused for hours; nobody else is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from bot.core.errors import (
    ContextTooLong,
    KeyRefused,
    ModelForbidden,
    ModelResting,
    NoCredit,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderUnreachable,
    RequestRefused,
    StoreFull,
    StreamCut,
    StreamStalled,
)
from bot.core.model import ModelRequest, ModelText
from bot.core.ports import Notes
from bot.providers.cooldown import Cooldown, Cooling
from bot.providers.discovery import CheckedEntry, entry
from bot.providers.parking import HOUR, NOTE, Parking, credential_of
from tests.fakes.clock import FakeClock
from tests.fakes.notes import MemoryNotes
from tests.providers.bench import VENDORS, Bench, Heard, ask
from tests.providers.scripted import END, Part, Pause, ScriptedProvider
from tests.sim.llm import LlmSim

REQUEST = Bench(VENDORS["openai"], LlmSim()).request()
SIBLING = replace(REQUEST, model=replace(REQUEST.model, model="sibling"))
ANSWER: list[Part] = [ModelText("Hi"), END]
KEY = "sk-secret-0123456789"


def lab(key: str = KEY, name: str = "lab") -> CheckedEntry:
    return entry(name, {"kind": "openai", "base_url": "http://lab:8000/v1", "api_key": key})


class Lab:
    """One provider behind its cooldown. ``asked`` counts what reaches it."""

    def __init__(self, *scripts: Sequence[Part] | ProviderError, notes: Notes | None = None, key: str = KEY) -> None:
        self.clock = FakeClock()
        self.entry = lab(key)
        self.inner = ScriptedProvider(*scripts)
        self.cooling, self.parking = Cooling(self.clock), Parking(self.clock, notes)
        self.cooldown = Cooldown(self.inner, self.entry, self.clock, self.cooling, self.parking)

    @property
    def asked(self) -> int:
        return self.inner.entered

    async def ask(self, request: ModelRequest = REQUEST) -> Heard:
        return await ask(self.cooldown, request)

    async def rests(self, request: ModelRequest = REQUEST) -> float:
        """For how many seconds the model will not be asked; it must not be asked now."""
        before = self.asked
        heard = await self.ask(request)
        assert isinstance(heard.error, ModelResting), heard
        assert self.asked == before
        assert heard.error.until is not None
        return heard.error.until - self.clock.now()


@pytest.mark.parametrize(
    "error", [ProviderBusy("b"), ProviderFailed("f"), ProviderUnreachable("u"), StreamCut("c"), StreamStalled("s")]
)
@pytest.mark.parametrize("said", [[], [ModelText("Hello wor")]], ids=["at once", "after some text"])
async def test_a_model_that_failed_is_not_asked_for_half_a_minute(error: ProviderError, said: list[Part]) -> None:
    house = Lab([*said, error], ANSWER)
    heard = await house.ask()
    assert isinstance(heard.error, ProviderError) and heard.error.until == house.clock.now() + 30.0
    assert await house.rests() == 30.0
    await house.clock.advance(29.0)
    assert await house.rests() == 1.0
    await house.clock.advance(1.0)
    assert (await house.ask()).text == "Hi"


async def test_failures_in_a_row_cool_it_longer_and_an_answer_forgets_them() -> None:
    house = Lab(*[ProviderBusy("b")] * 4, ANSWER, ProviderBusy("b"))
    for rest in (30.0, 60.0, 300.0, 300.0):
        await house.ask()
        assert await house.rests() == rest
        await house.clock.advance(rest)
    await house.ask()
    await house.ask()
    assert await house.rests() == 30.0


async def test_a_longer_wait_that_the_vendor_asks_for_counts() -> None:
    house = Lab(ProviderBusy("b", retry_after=400.0))
    await house.ask()
    assert await house.rests() == 400.0


@pytest.mark.parametrize("error", [RequestRefused("r"), ContextTooLong("l")])
async def test_what_is_wrong_with_the_request_cools_nothing(error: ProviderError) -> None:
    house = Lab(error, ANSWER)
    await house.ask()
    assert (await house.ask()).text == "Hi"


async def test_b146_the_sibling_at_the_same_vendor_is_asked() -> None:
    house = Lab(ProviderBusy("529"), ANSWER)
    await house.ask()
    await house.rests()
    assert (await house.ask(SIBLING)).text == "Hi"


async def test_the_rest_tells_what_the_model_met() -> None:
    house = Lab(ProviderBusy("busy", detail="HTTP 529"))
    await house.ask()
    heard = await house.ask()
    assert isinstance(heard.error, ModelResting)
    assert isinstance(heard.error.cause, ProviderBusy)
    assert (heard.error.yields, heard.error.parked, heard.error.next_model) == (True, False, True)
    assert "lab" in str(heard.error)


async def test_who_insists_is_let_through_but_not_against_a_wait_that_was_asked_for() -> None:
    house = Lab(ProviderBusy("b"), ANSWER)
    await house.ask()
    assert (await house.ask(replace(REQUEST, insist=True))).text == "Hi"
    house = Lab(ProviderBusy("b", retry_after=10.0), ANSWER)
    await house.ask()
    heard = await house.ask(replace(REQUEST, insist=True))
    assert isinstance(heard.error, ModelResting) and not heard.error.yields
    await house.clock.advance(10.0)
    assert isinstance((await house.ask()).error, ModelResting), "our own caution goes on"
    assert (await house.ask(replace(REQUEST, insist=True))).text == "Hi"


async def test_another_try_of_the_same_answer_is_let_through() -> None:
    house = Lab([ModelText("Hello wor"), StreamCut("c")], ANSWER)
    await house.ask()
    assert (await house.ask(replace(REQUEST, tried=1))).text == "Hi"


async def test_requests_that_fail_side_by_side_failed_once() -> None:
    house = Lab([ModelText("H"), Pause(0.05), ProviderBusy("b")])
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(house.ask()) for _ in range(4)]
        await asyncio.sleep(0.02)
        await house.clock.advance(1.0)
    assert all(isinstance(task.result().error, ProviderBusy) for task in tasks)
    assert await house.rests() == 30.0


@pytest.mark.parametrize("error", [ProviderBusy("b", retry_after=300.0), KeyRefused("k")])
async def test_an_answer_that_was_under_way_ends_no_rest(error: ProviderError) -> None:
    house = Lab([Pause(0.05), ModelText("late"), END], error)
    async with asyncio.TaskGroup() as group:
        late = group.create_task(house.ask())
        await asyncio.sleep(0.02)
        await house.clock.advance(1.0)
        await house.ask()
    assert late.result().text == "late"
    assert await house.rests() in (300.0, 5 * HOUR)


# keys and accounts


@pytest.mark.parametrize("error", [KeyRefused("k"), NoCredit("n")])
async def test_b146_a_refused_key_parks_every_model_of_it_for_five_hours_doubling_to_a_day(
    error: ProviderError,
) -> None:
    house = Lab(error)
    for hours in (5, 10, 20, 24, 24):
        heard = await house.ask()
        assert type(heard.error) is type(error) and heard.error.until == house.clock.now() + hours * HOUR
        assert await house.rests() == hours * HOUR
        assert await house.rests(SIBLING) == hours * HOUR
        assert await house.rests(replace(REQUEST, insist=True)) == hours * HOUR
        await house.clock.advance(hours * HOUR)


async def test_a_key_that_may_not_use_one_model_parks_that_one_alone() -> None:
    house = Lab(ModelForbidden("403"), ANSWER)
    await house.ask()
    assert await house.rests() == 5 * HOUR
    assert (await house.ask(SIBLING)).text == "Hi"
    assert await house.rests() == 5 * HOUR, "that a sibling answers shows nothing of this one"


async def test_an_answer_ends_it() -> None:
    house = Lab(KeyRefused("k"), ANSWER, KeyRefused("k"))
    await house.ask()
    await house.clock.advance(5 * HOUR)
    assert (await house.ask()).text == "Hi"
    await house.ask()
    assert await house.rests() == 5 * HOUR


async def test_requests_that_were_refused_side_by_side_were_refused_once() -> None:
    house = Lab([Pause(0.05), KeyRefused("k")])
    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(house.ask())
        await asyncio.sleep(0.02)
        await house.clock.advance(1.0)
    assert await house.rests() == 5 * HOUR


async def test_what_is_parked_survives_a_restart_and_the_note_tells_no_key() -> None:
    notes = MemoryNotes()
    house = Lab(NoCredit("n"), notes=notes)
    await house.ask()
    noted = notes.values[NOTE]
    assert KEY not in noted and "lab:8000" not in noted
    (one,) = json.loads(noted)
    assert (one["provider"], one["kind"], one["times"], one["model"]) == ("lab", "NoCredit", 1, "")
    again = Lab(NoCredit("n"), notes=notes)
    await again.clock.advance(HOUR)
    await again.parking.load({credential_of(again.entry)})
    assert await again.rests() == 4 * HOUR
    await again.clock.advance(4 * HOUR)
    await again.ask()
    assert await again.rests() == 10 * HOUR, "the doubling goes on"


async def test_a_changed_key_is_another_key() -> None:
    notes = MemoryNotes()
    house = Lab(KeyRefused("k"), notes=notes)
    await house.ask()
    changed = Lab(ANSWER, notes=notes, key="sk-another")
    await changed.parking.load({credential_of(changed.entry)})
    assert changed.parking.all() == []
    assert (await changed.ask()).text == "Hi"


async def test_reset_clears_it_for_good() -> None:
    notes = MemoryNotes()
    house = Lab(KeyRefused("k"), ANSWER, notes=notes)
    await house.ask()
    await house.parking.clear()
    assert json.loads(notes.values[NOTE]) == []
    assert (await house.ask()).text == "Hi"


async def test_a_free_proof_that_the_key_is_accepted_is_believed_once() -> None:
    house = Lab(KeyRefused("k"))
    await house.ask()
    await house.parking.proven(credential_of(house.entry))
    await house.ask()
    assert house.asked == 2
    await house.parking.proven(credential_of(house.entry))
    assert await house.rests() == 10 * HOUR


async def test_no_free_proof_fills_an_account() -> None:
    house = Lab(NoCredit("n"))
    await house.ask()
    await house.parking.proven(credential_of(house.entry))
    assert await house.rests() == 5 * HOUR


async def test_a_model_with_an_address_of_its_own_is_parked_alone_and_not_over_restarts() -> None:
    notes = MemoryNotes()
    house = Lab(KeyRefused("k"), ANSWER, notes=notes)
    elsewhere = replace(REQUEST, model=replace(REQUEST.model, endpoint="http://elsewhere/v1"))
    await house.ask(elsewhere)
    assert await house.rests(elsewhere) == 5 * HOUR
    assert (await house.ask()).text == "Hi"
    assert json.loads(notes.values[NOTE]) == []


@pytest.mark.parametrize("text", ["", "no json", "{}", '[{"credential": 1}]', "[[]]"])
async def test_a_note_that_cannot_be_read_parks_nothing(text: str) -> None:
    notes = MemoryNotes()
    notes.values[NOTE] = text
    house = Lab(ANSWER, notes=notes)
    await house.parking.load({credential_of(house.entry)})
    assert (await house.ask()).text == "Hi"


class FullNotes(MemoryNotes):
    async def write(self, key: str, value: str) -> None:
        raise StoreFull("The disk is full.")


async def test_a_store_that_cannot_be_written_costs_only_the_memory_of_it() -> None:
    house = Lab(KeyRefused("k"), notes=FullNotes())
    assert isinstance((await house.ask()).error, KeyRefused)
    assert await house.rests() == 5 * HOUR
