"""Long results: short in the prompt, whole on the disk, read on by their handle, also after a restart, by nobody else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

import pytest

from bot.brain.handles import handle_of, pointing, row_of, unpointed
from bot.brain.kept import FEW_CHARS, RESULT_CHARS, TURN_CHARS, KeptResults, room_for
from bot.brain.limits import TurnLimits
from bot.brain.results import fitted, snipped
from bot.core.address import Address
from bot.core.model import Message, ResultBlock
from bot.core.stop import StopReason
from bot.core.tool import Effect, ToolCall, ToolContext, ToolResult, ToolSpec
from bot.core.transcript import ResultRow
from bot.providers.local.gate import may_need
from bot.store.store import Store
from bot.tools.more import PAGE_CHARS
from bot.tools.registry import find_tools
from tests.brain.conftest import HERE, House, MakeHouse
from tests.brain.conftest import make_house as make_house
from tests.fakes.provider import calls, says

BOOK = "\n".join(f"Line {n}: the secret of chapter {n // 100} is {n * 7919}." for n in range(2_000))


class Given:
    """A tool that gives a text. Implements ``bot.core.ports.Tool``."""

    def __init__(self, name: str, text: str) -> None:
        self.spec, self._text = ToolSpec(name, name, {"type": "object"}, Effect.READ), text

    def check(self, args: Mapping[str, Any]) -> str:
        return ""

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult(self._text)


def read(call_id: str, **arguments: Any) -> ToolCall:
    return ToolCall(call_id, "read_more", arguments)


def tools(**texts: str) -> dict[str, Any]:
    return {**find_tools(), **{name: Given(name, text) for name, text in texts.items()}}


async def results(house: House, turn: str = "turn1") -> list[ResultRow]:
    return [row.body for row in await house.store.transcript.turn_rows(turn) if isinstance(row.body, ResultRow)]


def handles(house: House) -> list[str]:
    return re.findall(r'read_more\(handle="(r\d+)"\)', str(house.provider.requests[-1].messages))


async def test_a_long_result_is_short_in_the_prompt_and_can_be_read_on(make_house: MakeHouse) -> None:
    house = make_house(calls(ToolCall("c1", "book", {})), says("ok"), tools=tools(book=BOOK))
    await house.answer(await house.turn())
    [result] = await results(house)
    assert len(result.text) <= RESULT_CHARS and result.whole
    [handle] = set(handles(house))
    house.provider.scripts = [
        list(calls(read("c2", handle=handle, start=50_000))),
        list(calls(read("c3", handle=handle, find="line 1234:"))),
        list(says("Found.")),
    ]
    assert await house.answer(await house.turn("and then?", 2)) is StopReason.ANSWERED
    page, found = (result.text for result in await results(house, "turn2"))
    first, _, rest = page.partition("\n")
    shown, _, note = rest.rpartition("\n")
    assert shown == BOOK[50_000 : 50_000 + len(shown)] and PAGE_CHARS // 2 < len(shown) <= PAGE_CHARS
    assert first == f"[Characters 50000 to {50_000 + len(shown)} of {len(BOOK)}]"
    assert note == f"[{len(BOOK) - 50_000 - len(shown)} characters are left: start={50_000 + len(shown)}]"
    assert f"is {1234 * 7919}." in found and "That is all of it" in found


async def test_pages_one_after_the_other_are_the_whole(make_house: MakeHouse) -> None:
    read_more = find_tools()["read_more"]

    async def earlier(handle: str) -> str | None:
        return BOOK

    house = make_house()
    context = ToolContext("t", "c", HERE, (await house.turn()).sender, 1.0, "UTC", house.workspace, earlier)
    whole, start = "", 0
    while start < len(BOOK):
        page = (await read_more.run({"handle": "r1", "start": start}, context)).text
        whole += page.partition("\n")[2].rpartition("\n")[0]
        start = int(found[1]) if (found := re.search(r"start=(\d+)\]$", page)) else len(BOOK)
    assert whole == BOOK


async def test_after_a_restart_it_is_still_there_and_for_no_other_chat(make_house: MakeHouse) -> None:
    house = make_house(calls(ToolCall("c1", "book", {})), says("ok"), tools=tools(book=BOOK))
    await house.answer(await house.turn())
    [handle] = set(handles(house))
    data = house.workspace.parent / "data"
    await house.store.database.settled()
    async with Store.open(data) as anew:
        kept = KeptResults(anew)
        assert await kept.read(HERE, handle) == BOOK
        assert await kept.read(Address("web", "main", "other"), handle) is None
        [result] = await results(house)
        (data / result.whole).unlink()
        assert await kept.read(HERE, handle) is None


@pytest.mark.parametrize("arguments", [{"handle": "r999999"}, {"handle": "../x"}, {"handle": ""}, {"handle": "r1"}])
async def test_what_is_no_handle_of_a_result_is_said_to_be_none(
    make_house: MakeHouse, arguments: dict[str, Any]
) -> None:
    house = make_house(calls(read("c1", **arguments)), says("ok"))
    await house.answer(await house.turn())
    [result] = await results(house)
    assert result.error and "has the handle" in result.text


async def test_of_json_the_keys_and_shapes_come_first_and_the_handle_last(make_house: MakeHouse) -> None:
    found = json.dumps({"total": 5_000, "items": [{"id": n, "name": f"name {n}"} for n in range(5_000)]})
    house = make_house(calls(ToolCall("c1", "api", {})), says("ok"), tools=tools(api=found))
    await house.answer(await house.turn())
    [block] = [b for m in house.provider.requests[-1].messages for b in m.content if isinstance(b, ResultBlock)]
    note, outline, pointer = block.text.splitlines()
    assert note.startswith("[JSON of ") and json.loads(outline)["total"] == 5_000 and "read_more" in pointer


@pytest.mark.parametrize("steps", [[1] * 20, [20], [4, 16]], ids=["in a row", "side by side", "both"])
async def test_all_results_of_a_turn_together_have_a_bound(make_house: MakeHouse, steps: list[int]) -> None:
    wanted = iter([ToolCall(f"c{n}", f"book{n}", {}) for n in range(20)])
    many = [calls(*islice(wanted, count)) for count in steps]
    books = tools(**{f"book{n}": f"{n}\n{BOOK}" for n in range(20)})
    house = make_house(*many, says("ok"), tools=books, limits=TurnLimits(tokens=10**9))
    await house.answer(await house.turn())
    sizes = [len(result.text) for result in await results(house)]
    assert sizes[0] > FEW_CHARS and sizes[-1] <= FEW_CHARS
    assert sum(sizes) <= TURN_CHARS + FEW_CHARS * sum(size <= FEW_CHARS for size in sizes)
    assert len(set(handles(house))) == 20


def test_the_bound_leaves_something_for_each() -> None:
    assert [room_for(n) for n in (0, 70_000, 75_000, 79_000, 10**9)] == [10_000, 10_000, 5_000, FEW_CHARS, FEW_CHARS]


def test_what_is_cut_to_fit_a_prompt_points_to_the_whole_once() -> None:
    whole = Message("user", (ResultBlock("c", "book", "word " * 1_000, handle="r7"),))
    part = Message("user", (ResultBlock("c", "book", pointing("word " * 1_000, "r7"), handle="r7"),))
    short = Message("user", (ResultBlock("c", "book", "word", handle="r7"),))
    for message in (whole, part):
        for cut in (snipped([message]), fitted([message], 200)):
            (block,) = cut[0].content
            assert isinstance(block, ResultBlock)
            assert block.text.count('read_more(handle="r7")') == 1 and block.text.endswith("]")
    assert snipped([short]) == [short]


def test_handles_are_read_as_models_write_them() -> None:
    assert [row_of(one) for one in ("r12", ' "r12" ', "12", "rx", "", "r" + "9" * 30)] == [
        12,
        12,
        None,
        None,
        None,
        None,
    ]
    assert (handle_of(0), unpointed(pointing("a", "r1"), "r1"), pointing("a", "")) == ("", "a", "a")


@pytest.mark.parametrize("message", ["Tell me more about cats", "Can you read more of it?", "show me more"])
def test_a_small_model_is_not_shown_it_for_a_word(message: str) -> None:
    assert may_need(message, [find_tools()["read_more"].spec]) == ()
