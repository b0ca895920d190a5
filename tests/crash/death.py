"""Where a process is to die: one action of it, counted, just before or just after it takes effect."""

from __future__ import annotations

import os
import signal
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn, Self, cast, get_args

Kind = Literal["hear", "commit", "show", "wire", "tool"]
When = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Death:
    """The ``nth`` (from 1) action of this name. Written ``kind:action:nth:when``.

    ``before`` something is heard: the adapter has it and nobody else; ``after``: it is stored and the adapter was not told.
    ``before`` a commit: its statements have run and COMMIT has not; ``after``: it is on the disk and nobody was told.
    ``before`` a show: the platform knows nothing; ``after``: it has accepted, and the caller was not told. The same holds
    for a call on the wire, which is nearer to the platform: ``after``, the answer was read and nobody has looked at it.
    ``before`` a tool: it was about to open its file.
    """

    kind: Kind
    action: str
    nth: int
    when: When

    def __str__(self) -> str:
        return f"{self.kind}:{self.action}:{self.nth}:{self.when}"

    @classmethod
    def parse(cls, text: str) -> Self:
        kind, action, nth, when = text.split(":")
        assert kind in get_args(Kind), text
        assert when in get_args(When), text
        return cls(cast(Kind, kind), action, int(nth), cast(When, when))


class Reaper:
    """Counts the actions of this process, writes each to ``log`` before it happens, and strikes at the one it is for."""

    def __init__(self, death: Death | None, log: Path) -> None:
        self._death = death
        self._counts: Counter[tuple[Kind, str]] = Counter()
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def count(self, kind: Kind, action: str) -> int:
        """Which action of its name this is, from 1."""
        self._counts[kind, action] += 1
        nth = self._counts[kind, action]
        os.write(self._log, f"{kind}:{action}:{nth}\n".encode())
        return nth

    def strike(self, kind: Kind, action: str, nth: int, when: When) -> None:
        if self._death == Death(kind, action, nth, when):
            die()


def die() -> NoReturn:
    """As the out-of-memory killer does it: no handler runs, nothing is flushed."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")
