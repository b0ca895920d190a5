"""The event log of each chat: numbered frames in a bounded ring, and readers that catch up from any point of it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from bot.core.ports import Clock
from bot.core.view import ApprovalCard, Part
from channels.web.screen import Fields, Said, Screen, Unsent, encoded

RING_FRAMES: Final = 2000
RING_BYTES: Final = 512 * 1024
FINISHED_KEPT: Final = 8
"""Finished turns whose state a chat keeps, so that a page that loads its history meanwhile misses nothing."""
QUIET_LOGS: Final = 64
"""Chats without a reader and without a running turn that stay in memory."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One event. ``id`` 0 marks a piece of a snapshot, which no reader can resume from; ``body`` is a JSON object."""

    id: int
    type: str
    body: bytes

    def sse(self) -> bytes:
        numbered = b"id: %d\n" % self.id if self.id else b""
        return b"%sevent: %s\ndata: %s\n\n" % (numbered, self.type.encode(), self.body)


@dataclass(eq=False, slots=True)
class Reader:
    """One open stream. ``cursor`` is the id of the last frame it was given, None before the first. A ``page`` also gets
    the news that belong to no chat."""

    cursor: int | None
    page: bool = False
    awake: asyncio.Event = field(default_factory=asyncio.Event)
    beat: bool = False
    asides: dict[str, Frame] = field(default_factory=dict)
    """Frames outside the chat's own log (the model's state, another chat's news): only the latest of a kind counts."""

    def wake(self) -> None:
        self.awake.set()


class ChatLog:
    """One chat: its turns as they stand, the newest frames, and who reads them."""

    def __init__(self, chat: str, next_id: Callable[[], int], clock: Clock) -> None:
        self.chat = chat
        self.readers: set[Reader] = set()
        self.screens: dict[str, Screen] = {}
        self.touched_at = clock.now()
        self._clock = clock
        self._next_id = next_id
        self._ring: deque[Frame] = deque()
        self._ring_bytes = 0
        self.tip = self._horizon = next_id()

    @property
    def live(self) -> bool:
        return any(screen.live for screen in self.screens.values())

    def screen(self, turn: str) -> Screen:
        if turn not in self.screens:
            self.screens[turn] = Screen(turn, self._clock)
            finished = [one for one in self.screens.values() if not one.live]
            for old in finished[:-FINISHED_KEPT]:
                del self.screens[old.turn]
        return self.screens[turn]

    def adopt(self, screen: Screen) -> None:
        """A turn read from the transcript that is still running: what is shown next is compared with it."""
        self.screens.setdefault(screen.turn, screen)

    def show(self, part: Part) -> None:
        self._append(self.screen(part.turn).show(part))

    def catch_up(self, turn: str) -> None:
        if turn in self.screens:
            self._append(self.screens[turn].catch_up())

    def say(self, turn: str, said: Said) -> None:
        self._append(self.screen(turn).say(said))

    @property
    def waiting(self) -> dict[str, str]:
        """Messages whose turn has not begun: their ids and the turns they were given."""
        return {said.id: turn for turn, screen in self.screens.items() if screen.waits for said in screen.said}

    def join(self, turn: str, message: str) -> None:
        """A waiting message was taken into a turn that runs: the pages move it there."""
        given = self.waiting.get(message)
        if given is None or given == turn or turn not in self.screens:
            return
        (said,) = (one for one in self.screens[given].said if one.id == message)
        self.remove(given)
        self.say(turn, replace(said, block=len(self.screens[turn].blocks)))

    def remove(self, turn: str) -> None:
        self.screens.pop(turn, None)
        self._append([("removed", {"turn": turn})])

    def _append(self, frames: Iterable[Unsent]) -> None:
        for type_, fields in frames:
            frame = numbered(self._next_id(), type_, fields)
            self.tip = frame.id
            self._ring.append(frame)
            self._ring_bytes += len(frame.body)
        while len(self._ring) > RING_FRAMES or self._ring_bytes > RING_BYTES:
            gone = self._ring.popleft()
            self._ring_bytes -= len(gone.body)
            self._horizon = gone.id
        self.touched_at = self._clock.now()
        for reader in self.readers:
            reader.wake()

    def since(self, cursor: int) -> list[Frame] | None:
        """Exactly the frames after ``cursor``; None when some of them are no longer here, or it is no id of this log."""
        if not self._horizon <= cursor <= self.tip:
            return None
        missed: list[Frame] = []
        for frame in reversed(self._ring):
            if frame.id <= cursor:
                break
            missed.append(frame)
        return missed[::-1]

    def snapshot(self, screens: Iterable[Screen]) -> list[Frame]:
        """The given turns as they stand now; only the last frame carries an id, the tip of the log."""
        pieces = [piece for screen in screens for piece in screen.snapshot()]
        return [
            numbered(self.tip if at == len(pieces) else 0, type_, fields)
            for at, (type_, fields) in enumerate(pieces, start=1)
        ]


def numbered(id_: int, type_: str, fields: Fields) -> Frame:
    head: Fields = {"type": type_, "seq": id_} if id_ else {"type": type_}
    return Frame(id_, type_, encoded({**head, **fields}))


class Hub:
    """Every chat's log. Ids are microseconds since 1970 and always grow, so that they keep growing across restarts."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._logs: dict[str, ChatLog] = {}
        self._last_id = 0
        self.on_last_reader_gone: Callable[[str], None] = lambda chat: None

    def _next_id(self) -> int:
        self._last_id = max(self._last_id + 1, int(self._clock.now() * 1_000_000))
        return self._last_id

    def log(self, chat: str) -> ChatLog:
        if chat not in self._logs:
            self._forget_quiet()
            self._logs[chat] = ChatLog(chat, self._next_id, self._clock)
        return self._logs[chat]

    def _forget_quiet(self) -> None:
        quiet = [log for log in self._logs.values() if not log.readers and not log.live]
        quiet.sort(key=lambda log: log.touched_at)
        for log in quiet[: max(0, len(quiet) - QUIET_LOGS + 1)]:
            del self._logs[log.chat]

    def open(self, chat: str, cursor: int | None, *, page: bool) -> Reader:
        reader = Reader(cursor, page)
        self.log(chat).readers.add(reader)
        return reader

    def close(self, chat: str, reader: Reader) -> None:
        log = self.log(chat)
        log.readers.discard(reader)
        if not log.readers and log.live:
            self.on_last_reader_gone(chat)

    def readers(self) -> list[Reader]:
        return [reader for log in self._logs.values() for reader in log.readers]

    @property
    def is_read(self) -> bool:
        return any(log.readers for log in self._logs.values())

    def beat(self) -> None:
        """Every reader sends its heartbeat."""
        for reader in self.readers():
            reader.beat = True
            reader.wake()

    def tell_all(self, type_: str, fields: Fields) -> None:
        """News for every page, whatever chat it shows."""
        frame = numbered(0, type_, fields)
        for reader in self.readers():
            if reader.page:
                reader.asides[type_] = frame
                reader.wake()

    def live_chats(self) -> set[str]:
        return {log.chat for log in self._logs.values() if log.live}

    def chat_of_card(self, approval: str) -> str:
        """The chat in which this approval was shown; "" when none shows it."""
        return next(
            (log.chat for log in self._logs.values() for card in _cards(log) if card.id == approval),
            "",
        )

    def screens(self, turn: str) -> list[Screen]:
        """The turn as it is on the pages: at most one."""
        return [log.screens[turn] for log in self._logs.values() if turn in log.screens]


def _cards(log: ChatLog) -> list[ApprovalCard]:
    return [card for screen in log.screens.values() for card in screen.cards]
