"""When nobody can answer: one plain sentence, in the person's language, with when to try again; and who is asked anyway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.core.model import ModelRef
from bot.core.stop import StopReason
from tests.providers.matrix import FAULTY, FIRST, KINDS, PRICE, SECOND, SOUND, House, house
from tests.sim.llm import LlmSim, When, answer, drop, garbage, status, text


@pytest.fixture
async def sim() -> AsyncIterator[LlmSim]:
    async with LlmSim() as running:
        yield running


@pytest.fixture(params=["anthropic", "ollama"])
async def home(request: pytest.FixtureRequest, sim: LlmSim, tmp_path: Path) -> AsyncIterator[House]:
    async with house(KINDS[request.param], sim, tmp_path) as made:
        sim.reset()  # the second model has no answer of its own here
        yield made


def both(home: House, first: object, second: object) -> None:
    home.script(answer(first), repeat=True)  # type: ignore[arg-type]
    home.sim.script(answer(second, when=When(model=home.kind.second), repeat=True))  # type: ignore[arg-type]


async def test_a_blip_everywhere_is_told_with_when_to_try_again(home: House) -> None:
    both(home, status(529), status(500))
    told = await home.ask()
    assert told.stop is StopReason.PROVIDER_UNAVAILABLE and (told.first, told.second) == (3, 2)
    (notice,) = told.notices
    assert notice.startswith("faulty has too much to do right now. Please try again in a minute. (Reference ")
    (notice,) = (await home.ask(language="zh")).notices
    assert notice.startswith("faulty 目前过于繁忙，请一分钟后再试。（编号 ")


async def test_frames_that_break_in_the_middle_are_no_reason_to_look_at_the_address(home: House) -> None:
    torn = answer(text("Half of it"), garbage("json"))
    home.script(torn, repeat=True)
    home.sim.script(answer(*torn.steps, when=When(model=home.kind.second), repeat=True))
    told = await home.ask()
    assert (told.stop, told.first, told.text) == (StopReason.PROVIDER_UNAVAILABLE, 3, "Half of it")
    (notice,) = told.notices
    assert "broke off before its answer was complete" in notice and "base_url" not in notice


async def test_the_time_is_that_of_the_first_that_may_be_asked_again(home: House) -> None:
    """08:00:00 UTC: the first wants half an hour, the second an hour and a half."""
    both(home, status(429, headers={"retry-after": "1810"}), status(429, headers={"retry-after": "5400"}))
    told = await home.ask()
    assert (told.first, told.second, told.slept) == (1, 1, [])
    (notice,) = told.notices
    assert "faulty takes no more requests of this account until 08:31 UTC" in notice
    assert "Please try again after 08:31 UTC." in notice
    again = await home.ask()
    assert (again.first, again.second) == (0, 0), "a wait that the vendor asks for is kept in full"
    assert "after 08:31 UTC" in again.notices[0]


async def test_a_key_to_mend_is_told_first_and_then_when_another_model_may_be_asked(home: House) -> None:
    both(home, status(401), status(429, headers={"retry-after": "600"}))
    (notice,) = (await home.ask()).notices
    assert notice.startswith(
        "faulty does not accept its key: the owner should check it in .env or config.yaml."
        " It is not asked again before 13:00 UTC; `/model reset` has it asked at once."
        " Another model can be asked again after 08:10 UTC. (Reference "
    )
    again = await home.ask(language="zh")
    assert (again.first, again.second) == (0, 0)
    assert (
        "在 13:00 UTC 之前不会再询问它" in again.notices[0] and "其他模型可在 08:10 UTC 之后再试。" in again.notices[0]
    )


async def test_the_only_model_is_asked_in_spite_of_a_blip_minutes_ago(sim: LlmSim, tmp_path: Path) -> None:
    async with house(KINDS["anthropic"], sim, tmp_path, alone=True) as home:
        home.script(*[answer(status(500))] * 3, answer(text(FIRST)))
        assert (await home.ask()).stop is StopReason.PROVIDER_UNAVAILABLE
        told = await home.ask()
        assert (told.text, told.first, told.notices) == (FIRST, 1, ())


async def test_the_only_model_is_asked_once_and_not_three_times_while_it_cools(sim: LlmSim, tmp_path: Path) -> None:
    async with house(KINDS["anthropic"], sim, tmp_path, alone=True) as home:
        home.script(answer(status(500)), repeat=True)
        assert [(await home.ask()).first for _ in range(4)] == [3, 1, 1, 1]
        assert "after 08:0" in (await home.ask()).notices[0], "five minutes by now"


async def test_b147_while_the_first_cools_the_second_answers_and_the_answer_says_so(home: House) -> None:
    both(home, status(529), text(SECOND))
    first, second = await home.ask(), await home.ask()
    assert (first.first, first.second) == (3, 1) and (second.first, second.second) == (0, 1)
    assert first.text == second.text == SECOND
    assert first.notices == second.notices and "too much to do" in first.notices[0]


async def test_b146_the_sibling_of_an_overloaded_model_is_asked_with_the_same_key(home: House) -> None:
    sibling = ModelRef(FAULTY, home.kind.second, price=PRICE)
    home.chain.insert(1, sibling)
    both(home, status(529), text(SECOND))
    told = await home.ask()
    assert (told.text, told.first, told.second) == (SECOND, 3, 1)
    assert set(home.heard.met) == {home.kind.first}


async def test_b146_the_sibling_of_a_model_with_a_refused_key_is_not(home: House) -> None:
    home.chain.insert(1, ModelRef(FAULTY, "sibling", price=PRICE))
    both(home, status(401), text(SECOND))
    told = await home.ask()
    assert (told.text, told.first, told.second) == (SECOND, 1, 1)
    assert [type(error).__name__ for error in home.heard.met["sibling"]] == ["ModelResting"]


async def test_reset_has_everything_asked_again(home: House) -> None:
    both(home, status(402), status(500))
    await home.ask()
    assert [one.provider for one in home.models.parked()] == [FAULTY]
    assert await home.models.reset() == [FAULTY, SOUND]
    assert home.models.parked() == []
    told = await home.ask()
    assert (told.first, told.second) == (1, 2)
    assert await home.models.reset() == [FAULTY, SOUND]
    assert await home.models.reset() == []


async def test_what_is_parked_is_still_parked_after_a_restart(sim: LlmSim, tmp_path: Path) -> None:
    kind = KINDS["openai"]
    async with house(kind, sim, tmp_path) as home:
        home.script(answer(status(401)), repeat=True)
        assert (await home.ask()).first == 1
    async with house(kind, sim, tmp_path) as home:
        home.number = 1
        await home.models.load()
        told = await home.ask()
        assert (told.first, told.text, told.resting) == (0, SECOND, True)
    async with house(kind, sim, tmp_path, effort="low") as home:
        home.number = 2
        await home.models.load()
        (parked,) = home.models.parked()
        assert (parked.provider, parked.times) == (FAULTY, 1), "what else the section says is no other key"


async def test_what_broke_before_any_text_is_not_shown(home: House) -> None:
    both(home, drop("rst"), text(SECOND))
    told = await home.ask()
    assert set(told.shown) == {"", SECOND}
