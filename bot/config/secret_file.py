"""A secret in a file of its own, as systemd credentials and container secrets come."""

from __future__ import annotations

from pathlib import Path
from typing import Final

MAX_BYTES: Final = 64 * 1024


def read_secret(file: Path) -> tuple[str, str]:
    """The secret without the line end, and a sentence about what is wrong ("" when nothing is)."""
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        text = data.decode("utf-8-sig").strip()
    except FileNotFoundError:
        return "", "there is no such file"
    except UnicodeDecodeError:
        return "", "this file does not hold text"
    except OSError as error:
        return "", f"this file cannot be read: {(error.strerror or 'unknown reason').lower()}"
    if len(data) > MAX_BYTES:
        return "", "this file is too large for a secret"
    return text, "" if text else "this file is empty"
