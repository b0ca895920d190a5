"""Where a turn stands, read from its rows and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.model import CallBlock, TextBlock
from bot.core.text import clipped
from bot.core.tool import ToolCall
from bot.core.transcript import EndRow, ReplyRow, ResultRow, RevisedRow, Row, StepRow, UserRow
from bot.core.view import OutFile, ToolLine

SUMMARY_CHARS = 60


@dataclass(frozen=True, slots=True)
class Progress:
    """``text`` is the answer so far, ``steps`` how many model calls are finished, ``open_calls`` those of the last
    step that have no result, ``fresh_input`` whether something was said to the model that it has not answered,
    ``files`` what is for the person (with paths below the data folder)."""

    text: str
    steps: int
    calls_made: int
    open_calls: tuple[ToolCall, ...]
    tools: tuple[ToolLine, ...]
    fresh_input: bool
    last_stop: str
    end: EndRow | None
    files: tuple[OutFile, ...] = ()


def summary_of(call: ToolCall) -> str:
    """The call in a few words: its most telling argument."""
    values = [value for value in call.arguments.values() if isinstance(value, str | int | float) and value != ""]
    return clipped(str(values[0]), SUMMARY_CHARS) if values else ""


def calls_of(step: StepRow) -> tuple[ToolCall, ...]:
    return tuple(block.call for block in step.content if isinstance(block, CallBlock))


def text_of(step: StepRow) -> str:
    return "".join(block.text for block in step.content if isinstance(block, TextBlock))


def joined(texts: Sequence[str]) -> str:
    """How the texts of several steps stand in one answer; ``separator`` is the same rule while it grows."""
    answer = ""
    for text in texts:
        answer += separator(answer, text) + text
    return answer


def separator(before: str, after: str) -> str:
    """What goes between the answer so far and the first text of the next step."""
    if not before.strip() or not after:
        return ""
    return "\n" * max(0, 2 - (len(before) - len(before.rstrip("\n"))))


def progress_of(rows: Sequence[Row]) -> Progress:
    """``rows`` are all rows of one turn in order."""
    texts: list[str] = []
    lines: dict[str, ToolLine] = {}
    open_calls: dict[str, ToolCall] = {}
    files: list[OutFile] = []
    steps = calls_made = 0
    fresh, last_stop, end = True, "", None
    for row in rows:
        match row.body:
            case StepRow() as step:
                steps, last_stop, fresh = steps + 1, step.stop, False
                texts.append(text_of(step))
                for call in calls_of(step):
                    calls_made += 1
                    open_calls[call.id] = call
                    lines[call.id] = ToolLine(call.id, call.name, summary_of(call))
            case ResultRow() as result:
                open_calls.pop(result.call_id, None)
                files.extend(result.files)
                fresh = True
                if result.call_id in lines:
                    line = lines[result.call_id]
                    lines[result.call_id] = ToolLine(
                        line.call_id, line.name, line.summary, result.seconds, result.error
                    )
            case UserRow():
                fresh = True
            case RevisedRow():
                fresh, last_stop = True, ""
                texts.clear()
                lines.clear()
                open_calls.clear()
                files.clear()
            case ReplyRow(text=text):
                texts.append(text)
            case EndRow():
                end = row.body
    open_now = tuple(open_calls.values())
    return Progress(
        joined(texts), steps, calls_made, open_now, tuple(lines.values()), fresh, last_stop, end, tuple(files)
    )
