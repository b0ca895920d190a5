"""``python -m bot`` is ``bowerbird``."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # the public module is slow enough to be interrupted in
import sys


def main() -> int:
    """The exit status. Until the command line is there Ctrl+C ends the process without a word."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from bot.cli import main as command_line

    return command_line.main()


if __name__ == "__main__":
    sys.exit(main())
