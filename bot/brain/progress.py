"""Where a turn stands, read from its rows and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.model import CallBlock, ModelStopReason, TextBlock
from bot.core.text import clipped
from bot.core.tool import ToolCall
from bot.core.transcript import EndRow, ReplyRow, ResultRow, RevisedRow, Row, StepRow, UserRow
from bot.core.view import OutFile, ToolLine

SUMMARY_CHARS = 60


@dataclass(frozen=True, slots=True)
class Progress:
    """``text`` is the answer so far, ``steps`` how many model calls are finished, ``open_calls`` those of the last
    step that have no result, ``fresh_input`` whether something was said to the model that it has not answered,
    ``files`` what is for the person (with paths below the data folder), ``cuts`` how often the model's output limit cut it
    off."""

    text: str
    steps: int
    calls_made: int
    open_calls: tuple[ToolCall, ...]
    tools: tuple[ToolLine, ...]
    fresh_input: bool
    last_stop: str
    end: EndRow | None
    files: tuple[OutFile, ...] = ()
    cuts: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether the model's output limit, or the end of its window, cut its text off, so that what comes next goes on from
        there."""
        return not self.fresh_input and (self.last_stop == ModelStopReason.MAX_TOKENS or self.filled_window)

    @property
    def filled_window(self) -> bool:
        """Whether prompt and answer together were more than the model reads."""
        return not self.fresh_input and self.last_stop == ModelStopReason.CONTEXT_FULL

    def with_next(self, text: str) -> str:
        """The answer with the first text of the next step."""
        return self.text + (text if self.is_cut else separator(self.text, text) + text)


def summary_of(call: ToolCall) -> str:
    """The call in a few words: its most telling argument."""
    values = [value for value in call.arguments.values() if isinstance(value, str | int | float) and value != ""]
    return clipped(str(values[0]), SUMMARY_CHARS) if values else ""


def calls_of(step: StepRow) -> tuple[ToolCall, ...]:
    return tuple(block.call for block in step.content if isinstance(block, CallBlock))


def text_of(step: StepRow) -> str:
    return "".join(block.text for block in step.content if isinstance(block, TextBlock))


def with_step(text: str, step: StepRow) -> str:
    """The answer so far with what the step said."""
    said = text_of(step)
    return text + (said if step.because == "continuation" else separator(text, said) + said)


def separator(before: str, after: str) -> str:
    """What goes between the answer so far and the first text of the next step, where that is not its continuation."""
    if not before.strip() or not after:
        return ""
    return "\n" * max(0, 2 - (len(before) - len(before.rstrip("\n"))))


def progress_of(rows: Sequence[Row]) -> Progress:
    """``rows`` are all rows of one turn in order."""
    text = ""
    lines: dict[str, ToolLine] = {}
    open_calls: dict[str, ToolCall] = {}
    files: list[OutFile] = []
    steps = calls_made = cuts = 0
    fresh, last_stop, end = True, "", None
    for row in rows:
        match row.body:
            case StepRow() as step:
                text = with_step(text, step)
                steps, last_stop, fresh = steps + 1, step.stop, False
                cuts += step.stop == ModelStopReason.MAX_TOKENS
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
                fresh, last_stop, text, cuts = True, "", "", 0
                lines.clear()
                open_calls.clear()
                files.clear()
            case ReplyRow(text=said):
                text += separator(text, said) + said
            case EndRow():
                end = row.body
    open_now = tuple(open_calls.values())
    return Progress(text, steps, calls_made, open_now, tuple(lines.values()), fresh, last_stop, end, tuple(files), cuts)
