"""``bowerbird run``: the daemon in the foreground."""

from __future__ import annotations

import argparse
import faulthandler
import gc
import logging
import os
import resource
import signal
import sys
from typing import TYPE_CHECKING, Final

from bot.cli.session import Session, config_option
from bot.cli.signals import until_signal

if TYPE_CHECKING:
    from bot.config.loaded import Config

log = logging.getLogger(__name__)

OPEN_FILES: Final = 16_384
COLLECT_AFTER: Final = 10_000
"""New objects; the default of 700 collects several times in every turn."""
DETAILS = """\
Log lines go to standard error; standard input is never read. One daemon owns a data folder; a second one is refused.
SIGTERM and SIGINT stop it within 10 seconds; what was being answered goes on at the next start.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    config_option(parser)


def run(args: argparse.Namespace, session: Session, *, live_turns: int | None = None) -> int:
    """``live_turns``: where a measurement has the limit out of its way."""
    gc.disable()  # importing makes much that lives on, and nothing that must be found
    _leave_out_httpx_main()
    session.log_to_stderr("info")
    from bot.app.notify import ServiceManager

    manager = ServiceManager.taken_from(os.environ)
    if manager.watchdog_seconds and sys.stderr is not None:
        faulthandler.enable()  # its SIGABRT then leaves in the journal where every thread stood
    config = session.config()
    _tell_unread(config)
    from bot.app.daemon import nobody_watches, run_daemon
    from bot.inbox.admission import LIVE_TURNS

    watch = nobody_watches
    if sys.stderr is not None and sys.stderr.isatty():
        from bot.cli.progress import show_download

        watch = show_download
    _raise_open_files()
    work = run_daemon(config, ready=_settle, watch=watch, manager=manager, live_turns=live_turns or LIVE_TURNS)
    until_signal(work, (signal.SIGTERM, signal.SIGINT))
    return 0


def _leave_out_httpx_main() -> None:
    """httpx, which python-telegram-bot and ollama bring, imports a command line of its own wherever rich is installed:
    27 ms of a start and 3 MB, for nobody. It goes without where that import fails, and None here makes it fail."""
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]


def _tell_unread(config: Config) -> None:
    """Nobody shall rely on a limit or a rule that is only written down."""
    from bot.config.unread import unread_and_set

    keys = unread_and_set(config)
    if keys:
        log.warning("not built into this version, so without effect in %s: %s", config.file, ", ".join(keys))


def _settle() -> None:
    """What the start has made stays for good: the collector need not walk it again with every turn."""
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 20)
    gc.enable()


def _raise_open_files() -> None:
    """Many systems give 1,024 unless asked: hundreds of pages, chats and streams at once need more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
