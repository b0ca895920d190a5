"""Which time zone this machine is in."""

from __future__ import annotations

import os
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_LOCALTIME = Path("/etc/localtime")
_TIMEZONE = Path("/etc/timezone")


def local_zone() -> str:
    """An IANA name, from ``TZ``, ``/etc/timezone`` or where ``/etc/localtime`` points; ``UTC`` when none tells."""
    for name in (os.environ.get("TZ", "").lstrip(":"), _written(), _linked()):
        if name and _known(name):
            return name
    return "UTC"


def _written() -> str:
    try:
        return _TIMEZONE.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _linked() -> str:
    try:
        return os.readlink(_LOCALTIME).partition("zoneinfo/")[2]
    except OSError:
        return ""


def _known(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
