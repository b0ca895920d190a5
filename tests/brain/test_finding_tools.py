"""A model with more tools than its prompt can show: it finds them, guesses at them, and goes on after a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from bot.brain.budget import tools_tokens
from bot.brain.toolbox.box import ALWAYS, TOKENS
from bot.brain.toolbox.finder import NAME as FINDER
from bot.brain.toolbox.joined import MOST_JOINED
from bot.core.inbound import CallerRequest
from bot.core.model import ModelRequest, ResultBlock
from bot.core.stop import StopReason
from bot.core.tool import ToolCall, ToolSpec
from bot.core.transcript import BreakRow, JoinedRow, ResultRow
from tests.brain.conftest import HERE, House, MakeHouse
from tests.brain.test_loop import bodies, rows_of
from tests.brain.toolbox.shop import STOCK, parcel_send
from tests.fakes.provider import Step, calls, says

TOOLS: Mapping[str, object] = {**STOCK, "parcel_send": parcel_send}
FIND = ToolCall("f", FINDER, {"query": "trains and their connections"})
TRAIN = ToolCall("t", "train_search", {"what": "to Hamburg"})
MOST = len(ALWAYS) + MOST_JOINED + 1


def house_of(make_house: MakeHouse, *scripts: list[Step]) -> House:
    return make_house(*scripts, tools=TOOLS)


def names(request: ModelRequest) -> list[str]:
    return [spec.name for spec in request.tools]


def results(request: ModelRequest) -> list[ResultBlock]:
    return [block for message in request.messages for block in message.content if isinstance(block, ResultBlock)]


async def test_what_is_found_is_called_in_the_next_step(make_house: MakeHouse) -> None:
    house = house_of(make_house, calls(FIND), calls(TRAIN), says("At noon."))
    assert await house.answer(await house.turn("hi")) is StopReason.ANSWERED
    first, second, third = house.provider.requests
    assert names(first)[0] == FINDER and "train_search" not in names(first)
    (told,) = results(second)
    assert "train_search: Search train connections" in told.text
    assert names(second)[: len(names(first))] == names(first), "what is new stands behind"
    assert "train_search" in names(second) and names(third) == names(second)
    assert results(third)[-1].text == "train search: to Hamburg"


async def test_what_was_found_is_there_after_a_crash_and_in_later_turns(make_house: MakeHouse) -> None:
    house = house_of(
        make_house, calls(FIND), [asyncio.Event()], calls(TRAIN), says("At noon."), says("You are welcome.")
    )
    turn = await house.turn("hi")
    task = asyncio.ensure_future(house.answer(turn))
    while len(house.provider.requests) < 2:
        await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert await house.answer(turn) is StopReason.ANSWERED
    before, after = house.provider.requests[1:3]
    assert after.tools == before.tools and "train_search" in names(after)
    await house.answer(await house.turn("thanks", 2))
    assert house.provider.requests[-1].tools == after.tools


async def test_a_new_conversation_begins_with_none(make_house: MakeHouse) -> None:
    house = house_of(make_house, calls(FIND), says("Found."), says("Hello."))
    await house.answer(await house.turn("hi"))
    await house.store.transcript.append(HERE, "new", 1.0, BreakRow())
    await house.answer(await house.turn("hi", 2))
    assert house.provider.requests[-1].tools == house.provider.requests[0].tools


async def test_a_tool_that_was_not_shown_just_runs_where_the_arguments_fit(make_house: MakeHouse) -> None:
    house = house_of(make_house, calls(TRAIN), says("At noon."), says("Yes."))
    await house.answer(await house.turn("hi"))
    assert results(house.provider.requests[1])[0].text == "train search: to Hamburg"
    assert house.provider.requests[1].tools == house.provider.requests[0].tools
    await house.answer(await house.turn("thanks", 2))
    assert names(house.provider.requests[2])[-1] == "train_search", "what was used is there the next time"


async def test_where_they_do_not_fit_the_model_is_told_the_schema_and_has_the_tool_from_then_on(
    make_house: MakeHouse,
) -> None:
    wrong = ToolCall("t", "train_search", {"where": "Hamburg"})
    house = house_of(make_house, calls(wrong), calls(replace(TRAIN, id="u")), says("At noon."))
    assert await house.answer(await house.turn("hi")) is StopReason.ANSWERED
    told = results(house.provider.requests[1])[0]
    assert told.error and "Search train connections" in told.text and "in the person's own words" in told.text
    assert names(house.provider.requests[1])[-1] == "train_search"
    assert results(house.provider.requests[2])[-1].text == "train search: to Hamburg"


async def test_a_tool_with_an_effect_that_was_not_shown_asks_like_any_other(make_house: MakeHouse) -> None:
    house = house_of(make_house, calls(ToolCall("p", "parcel_send", {"to": "Ann"})), says("Not sent."))
    task = asyncio.ensure_future(house.answer(await house.turn("hi")))
    while not house.view.cards:
        await asyncio.sleep(0.001)
    assert house.view.cards[0].tool == "parcel_send"
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert not bodies(await rows_of(house), ResultRow)


async def test_a_tool_that_is_not_there_at_all_is_to_be_looked_for(make_house: MakeHouse) -> None:
    house = house_of(make_house, calls(ToolCall("x", "xylophone", {})), says("I cannot."))
    await house.answer(await house.turn("hi"))
    assert FINDER in results(house.provider.requests[1])[0].text


async def test_a_wrong_query_is_told_and_an_empty_find_is_no_failure(make_house: MakeHouse) -> None:
    house = house_of(
        make_house,
        calls(ToolCall("a", FINDER, {"query": " "}), ToolCall("b", FINDER, {"query": "zzz qqq"})),
        says("I cannot."),
    )
    await house.answer(await house.turn("hi"))
    wrong, empty = results(house.provider.requests[1])
    assert wrong.error and not empty.error and "No tool fits" in empty.text


async def test_however_much_is_wanted_the_prompt_never_has_more_than_its_share(make_house: MakeHouse) -> None:
    subjects = ("weather", "flights", "music", "gym workouts", "invoices", "parcels", "football", "garden plants")
    looks = [calls(ToolCall(f"f{n}", FINDER, {"query": subject})) for n, subject in enumerate(subjects)]
    turns = [step for look in looks for step in (look, says("Found."))]
    house = house_of(make_house, *turns)
    for number, subject in enumerate(subjects, 1):
        await house.answer(await house.turn(f"Please look for something about {subject}.", number))
    assert len(house.provider.requests) == 2 * len(subjects)
    for request in house.provider.requests:
        assert len(request.tools) <= MOST and len(set(names(request))) == len(request.tools)
        assert tools_tokens(request.tools) <= TOKENS
    joined = bodies([row for n in range(1, 9) for row in await rows_of(house, f"turn{n}")], JoinedRow)
    assert joined and all(isinstance(row, JoinedRow) and len(row.tools) <= MOST_JOINED for row in joined)


async def test_an_api_client_is_offered_what_needs_no_press_beside_its_own(make_house: MakeHouse) -> None:
    house = house_of(make_house, says("Noon."))
    theirs = ToolSpec("train_list", "Their own.", {"type": "object", "properties": {}})
    turn = await house.turn("Send a parcel by train: list the train connections and send the parcel")
    caller = replace(turn, message=replace(turn.message, caller=CallerRequest(tools=(theirs,))))
    await house.answer(caller)
    (request,) = house.provider.requests
    assert request.tools[-1] == theirs and names(request).count("train_list") == 1
    assert "train_search" in names(request) and FINDER not in names(request)
    assert not {"parcel_send", "note_write"} & set(names(request))


async def test_after_a_long_silence_a_message_brings_its_own_ten(make_house: MakeHouse) -> None:
    house = house_of(make_house, says("Noon."), says("A song."), says("Another."))
    await house.answer(await house.turn("Search the train connections to Hamburg"))
    await house.answer(await house.turn("play songs", 2))
    await house.clock.advance(3_600)
    await house.answer(await house.turn("play songs", 3))
    first, second, third = map(names, house.provider.requests)
    assert second == first, "two words are too little to pay for a change"
    assert "music_list" in third and "music_list" not in first


async def test_where_the_history_is_cut_what_has_joined_is_written_anew(make_house: MakeHouse) -> None:
    """A look back goes only so far: what is written nowhere else would leave the prompt without a word."""
    house = house_of(make_house, *(says(f"Answer {number}.") for number in range(26)))
    await house.answer(await house.turn("Search the train connections to Hamburg"))
    for number in range(2, 27):
        await house.answer(await house.turn("go on", number))
    written = [number for number in range(1, 27) if bodies(await rows_of(house, f"turn{number}"), JoinedRow)]
    assert len(written) == 2 and written[0] == 1 and written[1] > 20
    assert house.provider.requests[-1].tools == house.provider.requests[0].tools
