from __future__ import annotations

import json
from pathlib import Path

from bot.core.address import Address
from bot.core.model import CallBlock, TextBlock
from bot.core.ports import owner_of
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import BreakRow, EndRow, ReplyRow, ResultRow, StepRow, UserRow
from bot.core.view import ApprovalCard, Button, OutFile, Part, Phase, Rendered, ToolLine, View
from bot.store.files import Files
from channels.terminal.frames import HISTORY_ENTRIES, entries_of, history_frame, part_frame
from tests.fakes.house import MemoryRecords

MAIN = Address("terminal", "main", "main")
OWNER = owner_of("terminal")


def step(number: int, text: str) -> StepRow:
    return StepRow(number, (TextBlock(text), CallBlock(ToolCall("c", "f"))) if text else (), "a/b", "end")


def part(view: View, *, last: bool = True, final: bool = False) -> Part:
    return Part(view.turn, 0, 0, "shown", Rendered("shown", 5), view, (Button("Once", "b:k1:once"),), last, final)


def test_a_frame_says_everything_that_the_last_part_carries() -> None:
    card = ApprovalCard("k1", "c1", "shell", "run", "why", "{}", 1.0)
    view = View(
        "t1", "text", Phase.WAITING, (ToolLine("c1", "f", "s", 1.5),), (card,), ("note",), (OutFile("a", "b", "c"),)
    )
    frame = json.loads(json.dumps(part_frame(part(view))))
    assert frame["text"] == "shown"
    assert frame["phase"] == "waiting"
    assert frame["tools"] == [{"call_id": "c1", "name": "f", "summary": "s", "seconds": 1.5, "error": False}]
    assert frame["cards"][0]["id"] == "k1"
    assert frame["notices"] == ["note"]
    assert frame["files"] == [{"name": "a", "media_type": "b", "path": "c", "size": 0}]
    assert frame["buttons"] == [{"label": "Once", "payload": "b:k1:once", "style": "plain"}]
    assert (frame["stop"], frame["last"], frame["final"]) == ("", True, False)


def test_an_earlier_part_carries_text_alone() -> None:
    view = View("t1", notices=("note",), tools=(ToolLine("c1", "f", "s"),), stop=StopReason.ANSWERED)
    frame = part_frame(part(view, last=False, final=True))
    assert (frame["tools"], frame["notices"], frame["stop"], frame["final"]) == ([], [], "", True)


def test_an_answer_is_one_entry_after_everything_that_was_said_during_its_turn() -> None:
    records = MemoryRecords()
    records.append(MAIN, "t1", UserRow("one", OWNER, "m1"), step(1, "first"), ResultRow("c", "f", "out"))
    records.append(MAIN, "t1", UserRow("two", OWNER, "m2", steered=True), step(2, ""), step(3, "second"))
    records.append(MAIN, "t1", EndRow(StopReason.STOPPED, "Stopped."))
    entries = entries_of(records.all, ())
    assert [(entry.who, entry.text, entry.message_id) for entry in entries] == [
        ("person", "one", "m1"),
        ("person", "two", "m2"),
        ("bot", "first\n\nsecond", ""),
    ]
    assert (entries[2].notice, entries[2].stop) == ("Stopped.", "stopped")


def test_a_turn_that_runs_is_not_ended_and_one_that_grows_is_left_to_its_parts() -> None:
    records = MemoryRecords()
    records.append(MAIN, "t1", UserRow("one", OWNER, "m1"), step(1, "half"))
    assert [entry.stop for entry in entries_of(records.all, ())] == ["", ""]
    assert [entry.who for entry in entries_of(records.all, {"t1"})] == ["person"]


def test_the_history_begins_after_the_last_break_and_is_bounded() -> None:
    records = MemoryRecords()
    records.append(
        MAIN, "t0", UserRow("old", OWNER, "m0"), ReplyRow("old answer"), EndRow(StopReason.COMMAND), BreakRow()
    )
    for number in range(HISTORY_ENTRIES):
        records.append(MAIN, f"t{number + 1}", UserRow(str(number), OWNER, f"m{number + 1}"), ReplyRow("a"))
    entries = entries_of(records.all, ())
    assert len(entries) == HISTORY_ENTRIES
    assert entries[-2].text == str(HISTORY_ENTRIES - 1)
    assert all(entry.text != "old" for entry in entries)
    assert json.loads(json.dumps(history_frame(entries)))["entries"][-1]["text"] == "a"


async def test_the_files_of_an_answer_are_told_of_in_the_history_with_their_places(tmp_path: Path) -> None:
    shelf = Files(tmp_path)
    kept = await shelf.keep(b"a,b")
    files = (OutFile("t.csv", "text/csv", kept), OutFile("evil", "", "/etc/passwd"))
    records = MemoryRecords()
    records.append(MAIN, "t1", UserRow("one", OWNER, "m1"), step(1, ""), ResultRow("c", "f", "out", files=files))
    records.append(MAIN, "t1", step(2, "Here."), EndRow(StopReason.ANSWERED))
    (_, answer) = entries_of(records.all, (), shelf)
    assert answer.files == [{"name": "t.csv", "media_type": "text/csv", "path": str(tmp_path / kept), "size": 3}]
