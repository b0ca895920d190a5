"""Where log lines go, how they look, and where the details of an unexpected error are kept."""

from __future__ import annotations

import logging
import logging.handlers
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bot.config.redact import Redactor
from bot.core.errors import ConfigError

LEVELS: Final = ("debug", "info", "warning", "error")
VARIABLE: Final = "BOWERBIRD_LOG"
FILE_BYTES: Final = 1_000_000
ERRORS_NAME: Final = "errors.log"

_CHATTY: Final = (
    "httpx",
    "httpx2",
    "httpcore",
    "httpcore2",
    "aiohttp.access",
    "aiosqlite",
    "asyncio",
    "markdown_it",
    "websockets",
    "hpack",
)
"""Libraries whose INFO lines hold addresses (and with them tokens) or say one thing many times."""


def level_of(environ: Mapping[str, str], usual: str) -> int:
    """``BOWERBIRD_LOG`` or ``usual``. Raises ``ConfigError`` for an unknown level."""
    wanted = environ.get(VARIABLE, "").strip().lower() or usual
    if wanted not in LEVELS:
        raise ConfigError(f"must be one of {', '.join(LEVELS)}", key=VARIABLE)
    return int(getattr(logging, wanted.upper()))


def to_stderr(environ: Mapping[str, str], usual: str, redactor: Redactor) -> None:
    """Under systemd the journal keeps the time itself."""
    handler = logging.StreamHandler(sys.stderr)
    when = "" if "JOURNAL_STREAM" in environ else "%(asctime)s "
    handler.setFormatter(logging.Formatter(when + "%(levelname)s %(name)s: %(message)s"))
    _install(handler, level_of(environ, usual), redactor)


def to_file(path: Path, environ: Mapping[str, str], usual: str, redactor: Redactor) -> None:
    """For programs that own the terminal. A folder that cannot be written leaves them without a log, not without work."""
    handler: logging.Handler
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
        handler = logging.handlers.RotatingFileHandler(path, maxBytes=FILE_BYTES, backupCount=1, encoding="utf-8")
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    _install(handler, level_of(environ, usual), redactor)


def _install(handler: logging.Handler, level: int, redactor: Redactor) -> None:
    handler.addFilter(redactor)
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    root.setLevel(level)
    logging.captureWarnings(True)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))


def keep_details(error: BaseException, reference: str, folders: list[Path], redactor: Redactor) -> Path | None:
    """Append the traceback to ``errors.log`` in the first folder that takes it; None when none does."""
    text = redactor.clean("".join(traceback.format_exception(error)))
    for folder in folders:
        path = folder / ERRORS_NAME
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if path.exists() and path.stat().st_size > FILE_BYTES:
                path.replace(path.with_suffix(".log.1"))
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with open(descriptor, "w", encoding="utf-8", errors="replace") as file:
                file.write(f"reference {reference}\n{text}\n")
        except OSError:
            continue
        return path
    return None
