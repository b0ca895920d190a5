"""What happened in a chat before this process or this page: turns read back from the transcript."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.brain.progress import progress_of
from bot.core.address import Address
from bot.core.ports import ChannelKit, Clock, Shelf
from bot.core.transcript import BreakRow, Row, UserRow
from channels.web.events import ChatLog, Frame, Hub, Reader
from channels.web.render import blocks
from channels.web.screen import Said, Screen
from channels.web.shown_file import attached, told

MISSED_ROWS: Final = 400
MISSED_TURNS: Final = 20
SLACK_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Past:
    """Turns, oldest first. ``more``: there are older ones."""

    screens: tuple[Screen, ...]
    more: bool


async def past(kit: ChannelKit, address: Address, log: ChatLog, limit: int) -> Past:
    """The newest turns within ``limit`` rows, each as it is on the pages now where it is on them."""
    rows = await kit.archive.rows(address, limit)
    more = len(rows) >= limit
    turns: dict[str, list[Row]] = {}
    for row in rows:
        turns.setdefault(row.turn, []).append(row)
    whole = list(turns.values())[more and len(turns) > 1 :]
    told = await asyncio.to_thread(lambda: [restored(turn, kit.clock, kit.shelf) for turn in whole])
    screens = {screen.turn: screen for screen in told}
    for turn, screen in log.screens.items():
        told_before = screens.get(turn)
        if told_before:
            screen.fresh = told_before.fresh
            for said in told_before.said:
                screen.say(said)
        screens[turn] = screen
    return Past(tuple(screens.values()), more)


def restored(rows: Sequence[Row], clock: Clock, shelf: Shelf) -> Screen:
    """One turn from its rows, in order."""
    progress = progress_of(rows)
    screen = Screen(rows[0].turn, clock)
    screen.at, screen.changed_at = rows[0].at, rows[-1].at
    for at, row in enumerate(rows):
        if isinstance(row.body, UserRow):
            before = len(blocks(progress_of(rows[:at]).text)) if row.body.steered else 0
            files = tuple(attached(file, shelf) for file in row.body.files)
            screen.say(Said(row.body.message_id, row.body.text, row.at, before, files))
    screen.tools, screen.files = progress.tools, tuple(told(file, shelf) for file in progress.files)
    screen.fresh = any(isinstance(row.body, BreakRow) for row in rows)
    if progress.end and progress.end.text:
        screen.notices = (progress.end.text,)
    screen.restore(progress.text, progress.end.reason if progress.end else None)
    return screen


async def opening(hub: Hub, kit: ChannelKit, address: Address, reader: Reader) -> list[Frame]:
    """What a reader that has just connected must be given first; afterwards its cursor is at the tip of the log.

    Without a cursor: the turns that are running. With one: exactly what it missed; where the log no longer has that (it
    is older than the ring, or from before a restart), the turns since then as one snapshot.
    """
    log = hub.log(address.chat)
    if reader.cursor is None:
        frames = log.snapshot(screen for screen in log.screens.values() if screen.live)
    else:
        exact = log.since(reader.cursor)
        frames = await _missed(log, kit, address, reader.cursor) if exact is None else exact
    reader.cursor = log.tip
    return frames


async def _missed(log: ChatLog, kit: ChannelKit, address: Address, cursor: int) -> list[Frame]:
    story = await past(kit, address, log, MISSED_ROWS)
    since = cursor / 1_000_000 - SLACK_SECONDS if cursor <= log.tip else 0.0
    missed = [screen for screen in story.screens if screen.live or screen.changed_at >= since]
    for screen in missed:
        if screen.live:
            log.adopt(screen)
    return log.snapshot(missed[-MISSED_TURNS:])
