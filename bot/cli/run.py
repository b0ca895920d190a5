"""``bowerbird run``: the daemon in the foreground."""

from __future__ import annotations

import argparse
import asyncio
import faulthandler
import os
import signal
import sys

from bot.cli.session import Session, config_option
from bot.cli.signals import until_signal

DETAILS = """\
Log lines go to standard error; standard input is never read. One daemon owns a data folder; a second one is refused.
SIGTERM and SIGINT stop it within 10 seconds; what was being answered goes on at the next start.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    config_option(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    session.log_to_stderr("info")
    from bot.app.notify import ServiceManager

    manager = ServiceManager.taken_from(os.environ)
    if manager.watchdog_seconds and sys.stderr is not None:
        faulthandler.enable()  # its SIGABRT then leaves in the journal where every thread stood
    config = session.config()
    from bot.app.daemon import run_daemon
    from bot.cli.progress import show_download

    work = run_daemon(config, watch=show_download, manager=manager)
    asyncio.run(until_signal(work, (signal.SIGTERM, signal.SIGINT)))
    return 0
