"""``bowerbird run`` with another limit on the turns that are live at once: ``python -m tests.bench.ours TURNS run …``.

The bench at 500 chats measures what a turn costs when all of them are let in; nothing else differs from the command.
"""

from __future__ import annotations

import sys

from bot.app import daemon
from bot.cli.main import main
from bot.inbox.admission import Admission


def lifted(turns: int) -> type[Admission]:
    class Lifted(Admission):
        def __init__(self) -> None:
            super().__init__(turns)

    return Lifted


if __name__ == "__main__":
    daemon.Admission = lifted(int(sys.argv[1]))  # type: ignore[attr-defined]
    raise SystemExit(main(sys.argv[2:]))
