"""How long files are kept: what came with messages, what was made of it, what answers brought."""

from __future__ import annotations

import logging
from typing import Final

from bot.core.errors import StoreError
from bot.core.inbound import UserMessage
from bot.core.ports import Clock
from bot.core.transcript import ResultRow, UserRow
from bot.store.files import Files, OnDisk
from bot.store.inbox import InboxRows
from bot.store.transcript import TranscriptRows

log = logging.getLogger(__name__)

KEPT_SECONDS: Final = 90 * 24 * 3600.0
"""A quarter of a year: longer than people look back for a picture. What was read in a file stays in the transcript."""
MOST_BYTES: Final = 2 * 1024**3
"""A hundred files of the largest size; a small machine can spare it."""
FRESH_SECONDS: Final = 3600.0
"""What is younger may belong to a turn that has not written down yet that it has it, or may still be written."""
FIRST_SECONDS: Final = 120.0
EVERY_SECONDS: Final = 3600.0


class Retention:
    """A file goes when nobody has kept it anew for ``KEPT_SECONDS``, or, oldest first, when all of them are more than
    ``MOST_BYTES``; never while a turn that is not over has to do with it, and never within ``FRESH_SECONDS``."""

    def __init__(self, files: Files, inbox: InboxRows, transcript: TranscriptRows, clock: Clock) -> None:
        self._files, self._inbox, self._transcript, self._clock = files, inbox, transcript, clock

    async def run(self) -> None:
        """Until cancelled."""
        await self._clock.sleep(FIRST_SECONDS)
        while True:
            try:
                await self.sweep()
            except StoreError as error:
                log.warning("old files are not removed: %s", error)
            await self._clock.sleep(EVERY_SECONDS)

    async def sweep(self) -> None:
        """What is in use is read after the list was made: what is asked for later is newer than the list says."""
        found = sorted(await self._files.listed(), key=lambda file: file.since)
        in_use = await self._in_use()
        total = sum(file.size_bytes for file in found)
        removed = 0
        for file in found:
            if self._may_go(file, total) and file.path not in in_use and await self._files.remove(file):
                total -= file.size_bytes
                removed += 1
        if removed:
            log.info("%d old files are removed; %d MB are kept", removed, total // (1024 * 1024))

    def _may_go(self, file: OnDisk, total: int) -> bool:
        age = self._clock.now() - file.since
        return age > FRESH_SECONDS and (file.draft or age > KEPT_SECONDS or total > MOST_BYTES)

    async def _in_use(self) -> set[str]:
        """The paths that turns know of which wait, run, or are still to be shown."""
        paths: set[str] = set()
        turns: set[str] = set()
        for row in await self._inbox.unfinished():
            turns.add(row.turn)
            if isinstance(row.inbound, UserMessage):
                paths |= {file.id for file in row.inbound.all_files}
                turns.add(row.inbound.again)
        for turn in turns - {""}:
            for told in await self._transcript.turn_rows(turn):
                if isinstance(told.body, UserRow):
                    paths |= {path for file in told.body.files for path in (file.path, file.picture)}
                elif isinstance(told.body, ResultRow):
                    paths |= {told.body.whole, *(file.path for file in told.body.files)}
        return paths
