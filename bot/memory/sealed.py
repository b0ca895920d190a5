"""Files of what can be computed again: whole, or as if they were not there."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

_DIGEST_BYTES: Final = hashlib.sha256().digest_size


def read_sealed(file: Path) -> bytes | None:
    """None where there is none, or one that is not whole: a digest at its end tells."""
    try:
        held = file.read_bytes()
    except OSError:
        return None
    content, told = held[:-_DIGEST_BYTES], held[-_DIGEST_BYTES:]
    return content if hashlib.sha256(content).digest() == told else None


def write_sealed(file: Path, content: bytes) -> None:
    """Whole or not at all. Raises ``OSError``."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.write_bytes(content + hashlib.sha256(content).digest())
    os.replace(new, file)
