"""``bowerbird run`` with another limit on the turns that are live at once: ``python -m tests.bench.ours TURNS CONFIG``.

The bench at 500 chats measures what a turn costs when all of them are let in; nothing else differs from the command.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bot.cli.run import run
from bot.cli.session import Session

if __name__ == "__main__":
    raise SystemExit(run(argparse.Namespace(), Session(Path(sys.argv[2])), live_turns=int(sys.argv[1])))
