"""A chat as a terminal knows it: frames of the terminal channel go in, things to print for good come out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from bot.cli.cards import CardDesk
from bot.cli.harmless import harmless

Frame = dict[str, Any]


@dataclass(slots=True)
class Turn:
    """One answer. ``began`` is when this terminal first heard of it (monotonic seconds); ``printed`` the text that is
    already above the growing part of the screen and cannot be taken back."""

    id: str
    began: float
    parts: dict[int, Frame] = field(default_factory=dict)
    printed: str = ""
    tools_printed: set[str] = field(default_factory=set)

    @property
    def text(self) -> str:
        """The answer so far, safe to print."""
        texts = [self.parts[index]["text"] for index in sorted(self.parts)]
        return harmless("\n\n".join(text for text in texts if text))

    @property
    def last(self) -> Frame:
        return self.parts[max(self.parts)]

    @property
    def ended(self) -> bool:
        return bool(self.last["last"] and self.last["final"] and self.last["stop"])


@dataclass(frozen=True, slots=True)
class Said:
    """A person wrote, here before or in another terminal."""

    text: str


@dataclass(frozen=True, slots=True)
class Past:
    """An answer of the history, the sentence with which its turn ended, and its files."""

    text: str
    notice: str
    files: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence of the house: a refusal, an error, what became of a press."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    turn: Turn


Printed = Said | Past | Told | Done


class Conversation:
    """``language`` is that of this terminal until the house names its own."""

    def __init__(self, monotonic: Callable[[], float], language: str = "en") -> None:
        self.growing: dict[str, Turn] = {}
        self.desk = CardDesk()
        self.language = language
        self._monotonic = monotonic
        self._finished: set[str] = set()
        self._messages: set[str] = set()

    def wrote(self, message_id: str) -> None:
        """This terminal sent that message and has printed it."""
        self._messages.add(message_id)

    def take(self, frame: Frame) -> list[Printed]:
        match frame["type"]:
            case "hello" if frame["language"] != "auto":
                self.language = frame["language"]
            case "history":
                return list(self._history(frame["entries"]))
            case "part":
                return self._part(frame)
            case "removed":
                self._removed(frame)
            case "said":
                return self._said(frame["id"], frame["text"])
            case "receipt" if frame["refused"]:
                return [Told(frame["refused"])]
            case "answer" | "error" if frame["text"]:
                return [Told(frame["text"])]
            case _:
                pass
        return []

    def _part(self, frame: Frame) -> list[Printed]:
        id = frame["turn"]
        if id in self._finished:
            return []
        turn = self.growing.setdefault(id, Turn(id, self._monotonic()))
        turn.parts[frame["index"]] = frame
        if frame["last"]:
            for index in [index for index in turn.parts if index > frame["index"]]:
                del turn.parts[index]
        finished = self._finish(turn) if turn.ended else []
        self._lay_cards()
        return finished

    def _removed(self, frame: Frame) -> None:
        turn = self.growing.get(frame["turn"])
        if turn is None:
            return
        turn.parts.pop(frame["index"], None)
        if not turn.parts:
            del self.growing[turn.id]
        self._lay_cards()

    def _finish(self, turn: Turn) -> list[Printed]:
        self._finished.add(turn.id)
        self.growing.pop(turn.id, None)
        return [Done(turn)]

    def _said(self, message_id: str, text: str) -> list[Printed]:
        if message_id in self._messages:
            return []
        self._messages.add(message_id)
        return [Said(text)]

    def _history(self, entries: Iterable[Frame]) -> Iterator[Printed]:
        """What this terminal does not show yet. Answers that grew here and ended while it was cut off end here too."""
        for entry in entries:
            if entry["who"] == "person":
                yield from self._said(entry["message_id"], entry["text"])
            elif entry["stop"] and entry["turn"] in self.growing:
                turn = self.growing[entry["turn"]]
                notices = [entry["notice"]] if entry["notice"] else []
                files = entry.get("files") or turn.last["files"]
                ended = {"text": entry["text"], "notices": notices, "stop": entry["stop"], "files": files}
                turn.parts = {0: turn.last | ended}
                yield from self._finish(turn)
            elif entry["stop"] and entry["turn"] not in self._finished:
                self._finished.add(entry["turn"])
                yield Past(entry["text"], entry["notice"], tuple(entry.get("files", ())))
        self._lay_cards()

    def _lay_cards(self) -> None:
        lasts = [turn.last for turn in self.growing.values()]
        self.desk.lay(
            [card for last in lasts for card in last["cards"]], [button for last in lasts for button in last["buttons"]]
        )
