from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator

import pytest

from bot.app.records import row_json
from bot.cli.timeline import RESULT_LINES, Timeline
from bot.core.address import Address
from bot.core.inbound import Quote
from bot.core.model import CallBlock, Message, TextBlock, ThinkingBlock, Usage
from bot.core.ports import owner_of
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import Body, BreakRow, EndRow, GivenRow, ReplyRow, ResultRow, StepRow, UserRow
from tests.fakes.house import MemoryRecords

MAIN = Address("terminal", "main", "main")
OWNER = owner_of("terminal")
NOON = 1_800_014_400.0


@pytest.fixture(autouse=True)
def utc() -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


def shown(*bodies: Body, turn: str = "t1") -> str:
    records, timeline = MemoryRecords(), Timeline()
    records.append(MAIN, turn, *bodies, at=NOON)
    return "\n".join(line for row in records.all for line in timeline.lines(json.loads(row_json(row))))


def test_a_turn_reads_from_question_to_end() -> None:
    call = ToolCall("c1", "web_search", {"query": "birds"})
    content = (ThinkingBlock("v", "hm", "{}"), TextBlock("Let me look."), CallBlock(call))
    told = shown(
        UserRow("which bird?\nplease", OWNER, "m1", Quote("a bower", "Ann")),
        StepRow(1, content, "a/b", "tool_use", Usage(120, 30)),
        ResultRow("c1", "web_search", "found", seconds=1.25),
        StepRow(2, (TextBlock("A bowerbird."),), "a/b", "", Usage()),
        EndRow(StopReason.ANSWERED),
    )
    assert told == "\n".join(
        [
            "",
            "2027-01-15  turn t1  terminal:main:main:",
            "  12:00:00  person  Owner: which bird?",
            "                    please",
            "                    > a bower",
            "  12:00:00  model   a/b, step 1, tool_use, 120 tokens read, 30 written",
            "  12:00:00  thought hm",
            "  12:00:00  bot     Let me look.",
            '  12:00:00  call    web_search {"query": "birds"}',
            "  12:00:00  result  web_search in 1.2 s: found",
            "  12:00:00  model   a/b, step 2, broken off, 0 tokens read, 0 written",
            "  12:00:00  bot     A bowerbird.",
            "  12:00:00  end     answered",
        ]
    )


def test_failures_say_what_failed_and_where_the_log_has_more() -> None:
    told = shown(
        StepRow(1, (CallBlock(ToolCall("c1", "f", invalid="the arguments were cut off")),), "a/b", "end"),
        ResultRow("c1", "f", "no", error=True, seconds=2.0),
        EndRow(StopReason.INTERNAL_ERROR, "Sorry.", "r77"),
    )
    assert "f the arguments were cut off" in told
    assert "f failed after 2.0 s: no" in told
    assert "internal_error (reference r77): Sorry." in told


def test_every_kind_of_row_has_its_line() -> None:
    told = shown(
        GivenRow((Message("user", (TextBlock("x"),)),)),
        ReplyRow("pong"),
        BreakRow(),
        UserRow("q", OWNER, "m", steered=True),
    )
    for expected in (
        "1 messages of an API client",
        "bot     pong",
        "new     a new conversation",
        "(joined the running turn)",
    ):
        assert expected in told


def test_a_long_result_is_shortened_and_says_by_how_much() -> None:
    told = shown(ResultRow("c", "f", "\n".join(f"line {number}" for number in range(RESULT_LINES + 7))))
    assert f"line {RESULT_LINES - 1}" in told
    assert f"line {RESULT_LINES}" not in told
    assert "… (7 more lines)" in told


def test_what_was_said_cannot_drive_the_terminal() -> None:
    told = shown(UserRow("\x1b]0;x\x07", OWNER, "m"), ResultRow("c", "\x1b[2J", "\x9b"), turn="\x1b[31m")
    assert not any(char in told for char in "\x1b\x07\x9b")


def test_each_turn_is_named_once() -> None:
    records, timeline = MemoryRecords(), Timeline()
    for turn in ("t1", "t1", "t2"):
        records.append(MAIN, turn, ReplyRow("x"), at=NOON)
    told = "\n".join(line for row in records.all for line in timeline.lines(json.loads(row_json(row))))
    assert told.count("turn t1") == 1
    assert told.count("turn t2") == 1
