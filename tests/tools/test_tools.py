"""The three first tools: exact, total, and clear about what they cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.address import Address, Sender
from bot.core.errors import ToolFailed
from bot.core.tool import Effect, ToolContext
from bot.tools.arithmetic import calculated
from bot.tools.registry import find_tools


def context(workspace: Path = Path("nowhere"), zone: str = "Asia/Shanghai") -> ToolContext:
    return ToolContext("t", "c", Address("web", "main", "c"), Sender("web", "owner"), 1_800_000_000.0, zone, workspace)


def test_the_registry_finds_the_tools_and_their_effects() -> None:
    tools = find_tools()
    assert {name: tool.spec.effect for name, tool in tools.items()} == {
        "now": Effect.READ,
        "calculate": Effect.READ,
        "note_write": Effect.WRITE,
        "read_more": Effect.READ,
    }
    spec = tools["note_write"].spec
    assert not spec.idempotent and spec.own_reach and spec.parameters["required"] == ["text"]
    assert spec.parameters["properties"]["text"]["description"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("17*23", "391"),
        ("0.1+0.2", "0.3"),
        ("15% of 80", "12"),
        ("2^10", "1024"),
        ("10 % 3", "1"),
        ("-7 // 2", "-4"),
        ("-7 % 3", "2"),
        ("50%", "0.5"),
        ("3 + 4 =", "7"),
        ("（2+3）×4", "20"),
        ("sqrt(144)", "12"),
        ("1/3", "0.3333333333333333333333333333"),
        ("123456789012345678901234567890 + 1", "123456789012345678901234567891"),
        ("max(3, 7, 5)", "7"),
        ("1e3", "1000"),
    ],
)
def test_arithmetic_is_exact(expression: str, value: str) -> None:
    assert calculated(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os')",
        "1/0",
        "9**9**9",
        "a+1",
        "",
        "1+",
        "[1]*9",
        "'x'*9",
        "True+1",
        "(" * 300,
        "1" * 500,
        "lambda: 1",
        "sqrt(-1)",
    ],
)
def test_what_is_not_arithmetic_is_refused(expression: str) -> None:
    with pytest.raises(ToolFailed):
        calculated(expression)


@given(st.text(max_size=60))
def test_no_text_breaks_the_calculator(expression: str) -> None:
    try:
        calculated(expression)
    except ToolFailed:
        pass


async def test_now_tells_the_time_in_the_persons_zone() -> None:
    tool = find_tools()["now"]
    assert "Friday, 15 January 2027, 16:00 (Asia/Shanghai" in (await tool.run({}, context())).text
    assert "08:00 (UTC" in (await tool.run({"zone": "UTC"}, context())).text
    assert "(Asia/Tokyo" in (await tool.run({"zone": "Tokyo"}, context())).text
    assert "(America/New_York" in (await tool.run({"zone": "New York, USA"}, context())).text
    with pytest.raises(ToolFailed, match="no time zone"):
        await tool.run({"zone": "../etc/passwd"}, context())


async def test_notes_are_appended_whole_lines(tmp_path: Path) -> None:
    tool = find_tools()["note_write"]
    for text in ("buy milk", "打电话\n给妈妈"):
        await tool.run({"text": text}, context(tmp_path / "workspace"))
    assert (tmp_path / "workspace" / "notes.md").read_text(encoding="utf-8").splitlines() == [
        "- 2027-01-15 16:00 buy milk",
        "- 2027-01-15 16:00 打电话 给妈妈",
    ]
    with pytest.raises(ToolFailed, match="empty"):
        await tool.run({"text": " \n "}, context(tmp_path))


async def test_wrong_arguments_are_explained_before_anything_runs(tmp_path: Path) -> None:
    tool = find_tools()["note_write"]
    for arguments in ({}, {"text": 5}, {"text": "x", "extra": 1}):
        assert "note_write" in tool.check(arguments)
        with pytest.raises(ToolFailed):
            await tool.run(arguments, context(tmp_path))
    assert tool.check({"text": "x"}) == ""
