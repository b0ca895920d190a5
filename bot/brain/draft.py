"""Text of the step that is being written: stored first, shown then, without holding up the model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bot.brain.seam import Seam
from bot.core.text import storable
from bot.store.transcript import Draft, TranscriptRows


class DraftWriter:
    """Pieces that arrive while one is being stored are stored together: a slow disk makes larger pieces, not a slower
    model. ``text`` is what has been stored of the step; ``show`` is told each piece once it is stored. An answer that
    is written anew replaces the ``draft``, which began at ``anew`` in the whole answer, with its first piece. ``cut`` is
    the answer before the step, where that goes on from its very end."""

    def __init__(
        self,
        rows: TranscriptRows,
        turn: str,
        draft: Draft,
        show: Callable[[str], None],
        anew: int | None = None,
        cut: str = "",
    ) -> None:
        if anew is not None:
            draft = Draft(draft.step)
        self.text, self.wrote, self._anew = draft.text, False, anew
        self._rows, self._turn, self._step, self._show = rows, turn, draft.step, show
        self._pieces = draft.pieces
        self._seam = Seam(cut + draft.text, stripped=bool(draft.text))
        self._waiting: list[str] = []
        self._half = ""
        self._wake = asyncio.Event()
        self._done = False

    def add(self, piece: str) -> None:
        """Never waits. Halves of a surrogate pair that a vendor split are joined first."""
        piece = self._half + piece
        self._half = _half_of(piece)
        piece = piece[: len(piece) - len(self._half)]
        self._take(self._seam.take(storable(piece.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))))

    def finish(self) -> None:
        """No more pieces: ``run`` returns once everything is stored. Half a sign stays away: its answer was cut off there."""
        self._take(self._seam.rest())
        self._done = True
        self._wake.set()

    def _take(self, piece: str) -> None:
        if piece:
            self._waiting.append(piece)
            self._wake.set()

    @property
    def draft(self) -> Draft:
        return Draft(self._step, self.text, self._pieces)

    async def run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                piece = "".join(self._waiting)
                self._waiting.clear()
                if self._anew is not None and not self.wrote:
                    await self._rows.replace_draft(self._turn, self._anew, self._step, piece)
                else:
                    await self._rows.write_draft(self._turn, self._step, self._pieces, piece)
                self.wrote = True
                self._pieces += 1
                self.text += piece
                self._show(piece)
            if self._done:
                return


def _half_of(piece: str) -> str:
    """What ``piece`` ends in that the next may complete: half a surrogate pair, or what servers make of half a sign."""
    if "\ud800" <= piece[-1:] <= "\udbff":
        return piece[-1]
    return piece[len(piece.rstrip("\ufffd")) :]
