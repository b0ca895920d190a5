"""What goes over a terminal's connection, as JSON objects; ``type`` says which.

From the terminal: ``message {id, text, language?}``, ``press {id, payload}``, ``stop {id}`` and ``look`` (send the
history again). Ids are the terminal's own and make each of them safe to send again after a broken connection.

To the terminal: ``hello {chat, address, language}`` and ``history {entries}`` after attaching; then ``part`` (one
platform message of an answer, always whole), ``removed {turn, index}``, ``receipt {id, turn, duplicate, refused}``,
``said {id, turn, text}`` (another terminal wrote in this chat), ``answer {press, text}`` (what became of a press) and
``error {id, text}`` (that message was not stored; it may be sent again).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from bot.brain.progress import separator, with_step
from bot.core.ports import Shelf
from bot.core.transcript import BreakRow, EndRow, ReplyRow, ResultRow, Row, StepRow, UserRow
from bot.core.view import OutFile, Part

Frame = dict[str, Any]

HISTORY_ENTRIES = 20


def part_frame(part: Part) -> Frame:
    """``stop`` is "" until the turn has ended. Only the last part carries tools, cards, notices, files and buttons."""
    view = part.view
    return {
        "type": "part",
        "turn": part.turn,
        "index": part.index,
        "text": part.markdown,
        "phase": view.phase.value,
        "tools": [asdict(line) for line in view.tools] if part.last else [],
        "cards": [asdict(card) for card in view.cards] if part.last else [],
        "notices": list(view.notices) if part.last else [],
        "files": [_file(file) for file in view.files] if part.last else [],
        "buttons": [asdict(button) for button in part.buttons],
        "stop": view.stop.value if view.stop is not None and part.last else "",
        "last": part.last,
        "final": part.final,
    }


def _file(file: OutFile) -> Frame:
    """``size`` in bytes; 0 for one that is no longer there."""
    try:
        size = os.path.getsize(file.path)
    except OSError:
        size = 0
    return {**asdict(file), "size": size}


@dataclass(slots=True)
class Entry:
    """One line of the history: what a person wrote, or the whole answer of a turn.

    ``message_id`` is the platform's id of what was written. ``stop`` says how the turn ended ("" while it has not),
    ``notice`` is the sentence that goes with it, and ``files`` what came with the answer.
    """

    who: Literal["person", "bot"]
    turn: str
    at: float
    text: str = ""
    message_id: str = ""
    notice: str = ""
    stop: str = ""
    files: list[Frame] = field(default_factory=list)


def entries_of(rows: Iterable[Row], answering: Iterable[str], shelf: Shelf | None = None) -> list[Entry]:
    """The conversation since its last break, oldest first. Answers of turns in ``answering`` are left to their parts.
    ``shelf`` is where their files are."""
    entries: list[Entry] = []
    answers: dict[str, Entry] = {}
    skipped = frozenset(answering)
    for row in rows:
        match row.body:
            case BreakRow():
                entries.clear()
                answers.clear()
            case UserRow(text=text, message_id=message_id):
                entries.append(Entry("person", row.turn, row.at, text, message_id))
            case StepRow() | ReplyRow() | EndRow() | ResultRow() if row.turn not in skipped:
                answer = answers.setdefault(row.turn, Entry("bot", row.turn, row.at))
                _extend(answer, row, shelf)
                entries = [entry for entry in entries if entry is not answer] + [answer]
            case _:
                pass
    return entries[-HISTORY_ENTRIES:]


def _extend(answer: Entry, row: Row, shelf: Shelf | None) -> None:
    answer.at = row.at
    match row.body:
        case StepRow() as step:
            answer.text = with_step(answer.text, step)
        case ReplyRow(text=text):
            answer.text += separator(answer.text, text) + text
        case EndRow(reason=reason, text=text):
            answer.stop, answer.notice = reason.value, text
        case ResultRow(files=files) if shelf is not None:
            placed = ((file, shelf.place(file.path)) for file in files)
            answer.files += [_file(replace(file, path=str(place))) for file, place in placed if place is not None]
        case _:
            pass


def history_frame(entries: Iterable[Entry]) -> Frame:
    return {"type": "history", "entries": [asdict(entry) for entry in entries]}
