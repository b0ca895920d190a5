"""What the pages of a chat show of one turn, and the frames that bring them from one state to the next."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from bot.core.ports import Clock
from bot.core.stop import StopReason
from bot.core.view import ApprovalCard, OutFile, Part, Phase, ToolLine
from bot.inbox.retries import WORTH_ANOTHER
from channels.web.render import Growing
from channels.web.shown_file import ShownFile, outgoing

Fields = dict[str, Any]
Unsent = tuple[str, Fields]
"""A frame without its id: the event's name and its fields."""

WORTH_KEEPING_CHARS: Final = 400
RENDER_QUICK: Final = 0.008
RENDER_SHARE: Final = 10
"""Rendering that takes longer than ``RENDER_QUICK`` seconds rests for ten times as long: however odd a text is, it never
keeps the event loop busy for more than a tenth of the time."""


@dataclass(frozen=True, slots=True)
class Said:
    """A person's message. ``block`` is the number of the answer's blocks that were there before it (0: it began the turn)."""

    id: str
    text: str
    at: float
    block: int = 0
    files: tuple[ShownFile, ...] = ()

    def fields(self, turn: str) -> Fields:
        path, message = f"v1/files/{turn}/said", self.id
        files = [file.fields(path, {"message": message, "n": n}) for n, file in enumerate(self.files)]
        return {"id": self.id, "text": self.text, "at": self.at, "block": self.block, "files": files}


class Screen:
    """The state of one turn. ``show`` and ``say`` change it and return the frames that tell the pages."""

    def __init__(self, turn: str, clock: Clock) -> None:
        self.turn = turn
        self.text = ""
        self.blocks: tuple[str, ...] = ()
        self.said: tuple[Said, ...] = ()
        self.tools: tuple[ToolLine, ...] = ()
        self.cards: tuple[ApprovalCard, ...] = ()
        self.notices: tuple[str, ...] = ()
        self.files: tuple[ShownFile, ...] = ()
        self._view_files: tuple[OutFile, ...] = ()
        self.phase: Phase | None = None
        self.stop: StopReason | None = None
        self.at = self.changed_at = clock.now()
        self.fresh = False
        self._sought = False
        self._clock = clock
        self._growing = Growing()
        self._render_due = 0.0
        self._behind = False

    @property
    def live(self) -> bool:
        """True while it is being answered; a message that still waits for its turn is not."""
        return self.stop is None and self.phase is not None

    @property
    def waits(self) -> bool:
        """True while there is only a message, and nothing of an answer."""
        return self.stop is None and self.phase is None

    def seeks_question(self) -> bool:
        """True where there is an answer and no question, and that once."""
        sought, self._sought = self._sought, True
        return not sought and not self.said

    def say(self, said: Said) -> list[Unsent]:
        """A person's message joins the turn; one that is already here changes nothing."""
        if any(one.id == said.id for one in self.said):
            return []
        self.said = (*self.said, said)
        return [("message", {"turn": self.turn, **said.fields(self.turn)})]

    def show(self, part: Part) -> list[Unsent]:
        """Make the pages equal the part. Idempotent: what is on the pages already makes no frame."""
        if self.stop is not None:
            return []
        view, now = part.view, self._clock.now()
        lost = not _ids(self.tools) <= _ids(view.tools) or not _ids(self.cards) <= _ids(view.cards)
        was = (self.text, self.blocks, self.tools, self.cards, self.notices, self.files, self.phase)
        self.changed_at = now
        self.text, self.tools, self.cards = part.markdown, view.tools, view.cards
        self.notices, self.phase = view.notices, view.phase
        if self._view_files != view.files:
            self._view_files, self.files = view.files, tuple(map(outgoing, view.files))
        self._render(final=view.final)
        self.stop = view.stop
        return self.snapshot() if lost else self._difference(*was) + self._ending()

    @property
    def behind(self) -> float | None:
        """Seconds until the text that ``show`` left for later can be rendered; None when nothing was left."""
        return max(0.0, self._render_due - self._clock.monotonic()) if self._behind else None

    def catch_up(self) -> list[Unsent]:
        """Render what ``show`` left for later: without this the last words before a pause would stay unseen."""
        before, self._render_due = self.blocks, 0.0
        if self._behind:
            self._render(final=False)
        if self.blocks == before:
            return []
        offset = len(self.text)
        return [("token", {"turn": self.turn, "offset": offset, "text": "", **patch(before, self.blocks)})]

    def restore(self, text: str, stop: StopReason | None) -> None:
        """Fill from the transcript: a turn of which nothing was shown since the process started."""
        self.text, self.stop = text, stop
        self.phase = Phase.THINKING if stop is None else Phase.DONE
        self._render(final=stop is not None)

    def _render(self, *, final: bool) -> None:
        before = self._clock.monotonic()
        self._behind = not final and before < self._render_due
        if self._behind:
            return
        self.blocks = self._growing.update(self.text, final=final)
        took = self._clock.monotonic() - before
        self._render_due = before + RENDER_SHARE * took if took > RENDER_QUICK else 0.0

    def _difference(
        self,
        text: str,
        blocks: tuple[str, ...],
        tools: tuple[ToolLine, ...],
        cards: tuple[ApprovalCard, ...],
        notices: tuple[str, ...],
        files: tuple[ShownFile, ...],
        phase: Phase | None,
    ) -> list[Unsent]:
        frames: list[Unsent] = []
        if self.phase is Phase.THINKING and phase is not Phase.THINKING:
            frames.append(("thinking", {"turn": self.turn, "at": self.changed_at}))
        if (self.text, self.blocks) != (text, blocks):
            offset = common_length(text, self.text)
            token = {"turn": self.turn, "offset": offset, "text": self.text[offset:], **patch(blocks, self.blocks)}
            frames.append(("token", token))
        frames += self._tool_frames({line.call_id: line for line in tools})
        known = {card.id: card for card in cards}
        frames += [("approval", self._card(card)) for card in self.cards if known.get(card.id) != card]
        if self.notices != notices:
            frames.append(("notice", {"turn": self.turn, "notices": list(self.notices)}))
        if self.files != files:
            frames.append(("files", {"turn": self.turn, "files": self._file_list()}))
        return frames

    def _tool_frames(self, known: Mapping[str, ToolLine]) -> list[Unsent]:
        frames: list[Unsent] = []
        for line in self.tools:
            if line == known.get(line.call_id):
                continue
            if line.call_id not in known:
                frames.append(("tool_call_start", self._tool(line)))
            if line.seconds is not None:
                frames.append(("tool_result", self._tool(line)))
        return frames

    def _ending(self) -> list[Unsent]:
        if self.stop is None:
            return []
        notice = self.notices[-1] if self.notices else ""
        done = {"turn": self.turn, "stop": self.stop.value, "notice": notice, "at": self.changed_at}
        done["retry"] = self.stop in WORTH_ANOTHER
        failed = [("error", {"turn": self.turn, "message": notice or self.stop.value})] if self.stop.is_failure else []
        return [*failed, ("done", done)]

    def snapshot(self) -> list[Unsent]:
        """The whole turn in one ``token`` frame with offset 0, then each question that is open, then how it ended. Of a
        turn that has not begun there are only its messages."""
        if self.waits:
            return [("message", {"turn": self.turn, **one.fields(self.turn)}) for one in self.said]
        whole: Fields = {
            "turn": self.turn,
            "offset": 0,
            "text": self.text,
            "block": 0,
            "html": list(self.blocks),
            "snapshot": True,
            "said": [one.fields(self.turn) for one in self.said],
            "tools": [self._tool(line) for line in self.tools],
            "cards": [self._card(card) for card in self.cards],
            "notices": list(self.notices),
            "files": self._file_list(),
            "phase": (self.phase or Phase.THINKING).value,
            "at": self.at,
            "fresh": self.fresh,
        }
        asked = [("approval", self._card(card)) for card in self.cards if not card.decision and self.stop is None]
        return [("token", whole), *asked, *self._ending()]

    def _tool(self, line: ToolLine) -> Fields:
        return {"turn": self.turn, **asdict(line)}

    def _card(self, card: ApprovalCard) -> Fields:
        return {"turn": self.turn, **asdict(card)}

    def _file_list(self) -> list[Fields]:
        return [file.fields(f"v1/files/{self.turn}/{index}", {}) for index, file in enumerate(self.files)]


def _ids(lines: tuple[ToolLine, ...] | tuple[ApprovalCard, ...]) -> set[str]:
    return {line.call_id for line in lines}


def common_length(old: str, new: str) -> int:
    """How many characters two texts share at their beginning."""
    if new.startswith(old):
        return len(old)
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[:middle] == new[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def patch(old: tuple[str, ...], new: tuple[str, ...]) -> Fields:
    """From which top-level block on the page must replace its blocks, and by what.

    ``keep`` is how many UTF-16 units of the first replaced block's HTML stay, so that a long block that grows is not
    sent again and again.
    """
    first = next(
        (at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new))
    )
    html = list(new[first:])
    if html and first < len(old):
        kept = common_length(old[first], html[0])
        if kept >= WORTH_KEEPING_CHARS:
            keep = len(html[0][:kept].encode("utf-16-le", "surrogatepass")) // 2
            return {"block": first, "keep": keep, "html": [html[0][kept:], *html[1:]]}
    return {"block": first, "html": html}


def encoded(fields: Mapping[str, Any]) -> bytes:
    """One line of JSON in UTF-8; a half surrogate, which no client could read, becomes a question mark."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
