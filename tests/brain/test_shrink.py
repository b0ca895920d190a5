"""What does not fit is told by its structure; whatever the text, it gets as short as it must."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.brain.kept import RESULT_CHARS
from bot.brain.shrink import LEAST_CHARS, shrunk
from bot.core.tool import Effect, ToolCall, ToolContext, ToolResult, ToolSpec
from bot.core.transcript import ResultRow
from tests.brain.conftest import MakeHouse
from tests.brain.samples import log, objects, page, table
from tests.fakes.provider import calls, says

LINES = st.lists(
    st.sampled_from(["", "a,b", "1;2;3", '"x, y",2', "2026-01-02 10:11:12 ERROR no", "plain", "<html>", "字" * 90])
)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=90),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=9), inner, max_size=30),
    max_leaves=60,
)
TEXTS = st.one_of(
    st.text(max_size=3000),
    LINES.map("\n".join),
    st.tuples(LINES, st.integers(1, 200)).map(lambda both: "\n".join(both[0] * both[1])),
    JSONS.map(lambda value: json.dumps(value, ensure_ascii=False)),
)


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.integers(0, 3000))
def test_any_text_gets_as_short_as_it_must_and_one_that_fits_stays(text: str, chars: int) -> None:
    short = shrunk(text, chars)
    assert len(short) <= max(chars, LEAST_CHARS)
    assert (short == text) or len(text) > chars


def test_of_json_the_keys_and_the_first_entries_stay() -> None:
    long = json.dumps({"total": 90, "note": "n" * 900, "items": json.loads(objects()) * 3, "next": "/page/2"})
    short = shrunk(long, 1500)
    note, _, kept = short.partition("\n")
    value = json.loads(kept)
    assert f"{len(long)}" in note
    assert value["total"] == 90 and value["next"] == "/page/2"
    assert value["items"][0] == {"id": 0, "name": "item-0", "tags": ["a", "b"], "price": 0.5, "ok": True}
    assert value["items"][-1].endswith("more")


def test_of_a_table_the_first_line_and_the_number_of_rows_stay() -> None:
    short = shrunk(table(), 500).splitlines()
    assert short[0] == "[CSV: 40 rows below the first line, 4 columns]"
    assert short[1] == "date,number,amount,currency"
    assert short[-1] == table().splitlines()[-1]
    assert any("rows left out" in line for line in short)


def test_of_a_log_every_kind_of_error_stays_once_with_the_levels_counted() -> None:
    lines = log().splitlines() * 3
    lines[50:50] = [f"2026-11-30T18:50:0{n}Z ERROR cannot reach db-{n}: refused" for n in range(4)]
    short = shrunk("\n".join(lines), 1200)
    assert "[Log of 94 lines: 90 INFO, 4 ERROR]" in short
    assert "cannot reach db-0: refused (× 4)" in short and "db-1" not in short
    assert short.splitlines()[-1] == lines[-1]


def test_of_a_page_the_text_stays_and_not_the_markup() -> None:
    short = shrunk(page() + "<script>var x = 1;</script>", 800)
    assert "Page 3" in short and "<td>" not in short and "var x" not in short


def test_other_texts_keep_head_and_tail() -> None:
    short = shrunk("first words " + "x" * 5000 + " last words", 1000)
    assert short.startswith("first words") and short.endswith("last words") and "characters left out" in short


@pytest.mark.parametrize("broken", ['{"a": [1, 2', "[" * 100_000, '{"a": ' + "9" * 5000 + "}"])
def test_what_only_looks_like_json_is_cut_like_any_text(broken: str) -> None:
    assert len(shrunk(broken * 3, 1000)) <= 1000


class ReadAll:
    """Implements ``bot.core.ports.Tool``."""

    spec = ToolSpec("read_all", "Reads all.", {"type": "object"}, Effect.READ)

    def check(self, arguments: Mapping[str, Any]) -> str:
        return ""

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult("word " * 10_000)


async def test_b164_a_long_result_is_cut_once_when_it_comes_with_a_note_of_what_is_missing(
    make_house: MakeHouse,
) -> None:
    house = make_house(calls(ToolCall("c1", "read_all", {})), says("ok"), tools={"read_all": ReadAll()})
    await house.answer(await house.turn())
    [result] = [r.body for r in await house.store.transcript.turn_rows("turn1") if isinstance(r.body, ResultRow)]
    assert len(result.text) <= RESULT_CHARS and "characters left out" in result.text
