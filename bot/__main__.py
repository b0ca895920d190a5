"""``python -m bot`` is ``bowerbird``."""

from __future__ import annotations

import sys

from bot.cli.interrupts import ending_at_once


def main() -> int:
    """The exit status."""
    with ending_at_once():
        from bot.cli import main as command_line
    return command_line.main()


if __name__ == "__main__":
    sys.exit(main())
