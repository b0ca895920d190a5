"""How the parts of one turn are shown after what the platform has refused: every kind of refusal has one other way to go."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace
from typing import Final

from bot.core.errors import ChannelError, FormatRefused, MessageGone, TooLong
from bot.outbox.parts import Wanted

log = logging.getLogger(__name__)

TIMES_GONE: Final = 2


class Ways:
    """``plain`` are the indexes of parts whose formatting was refused, ``tight`` of those that were too long, ``bare`` of
    those whose buttons were given up as well."""

    def __init__(self, turn: str) -> None:
        self._turn = turn
        self.plain: set[int] = set()
        self.tight: set[int] = set()
        self.bare: set[int] = set()
        self._gone: Counter[int] = Counter()

    @property
    def stand(self) -> tuple[int, int, int]:
        """Changes whenever parts may look otherwise."""
        return len(self.plain), len(self.tight), len(self.bare)

    def adapted(self, want: Wanted) -> Wanted:
        bare = want.part.index in self.bare and want.part.buttons
        return replace(want, part=replace(want.part, buttons=())) if bare else want

    def went(self, index: int) -> None:
        """The part's message is gone from the platform."""
        self._gone[index] += 1

    def comes_back(self, index: int) -> bool:
        """What went twice waits for its end."""
        return self._gone[index] < TIMES_GONE

    def refused(self, index: int, error: ChannelError) -> str:
        """Why the part cannot be shown; "" where there is another way. One that nobody knows is tried as the words alone."""
        match error:
            case FormatRefused() if index not in self.plain:
                self.plain.add(index)
            case TooLong() if index not in self.tight:
                self.tight.add(index)
            case TooLong():
                return "too_long"
            case MessageGone():
                self.went(index)
                return "message_gone" if self._gone[index] > TIMES_GONE else ""
            case _ if index not in self.bare:
                log.info("turn %s: part %d is tried as plain text without buttons: %s", self._turn, index, error)
                self.plain.add(index)
                self.bare.add(index)
            case _:
                return "refused"
        return ""
