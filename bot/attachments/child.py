"""The process in which a file of unknown origin is opened: it has little memory, little time, no network and nothing of
the daemon's, writes no file, and says on its standard output what it found: a line of JSON, then the text or the picture."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import BinaryIO, Final

from bot.attachments.documents import Locked, TooMuch, Unknown, read_office, read_old_office, read_pdf
from bot.attachments.ends import Ends
from bot.attachments.kinds import Kind
from bot.attachments.pages import read_page
from bot.attachments.pictures import TooManyPixels, shrunken
from bot.attachments.plain import decoded

MEMORY_BYTES: Final = 768 * 1024 * 1024
"""Of address space. A Word document of 7 MB that is text alone takes 300 MB, a picture of 50 million pixels 400 MB."""
CPU_SECONDS: Final = 30
OPEN_FILES: Final = 64
NICENESS: Final = 10
PR_SET_PDEATHSIG: Final = 1
PR_SET_NO_NEW_PRIVS: Final = 38
OWN_USERS_AND_NETWORK: Final = 0x10000000 | 0x40000000

Found = tuple[str, bytes]
"""The trouble in a word ("" for none) and what there is."""


def main(kind: str, path: str, chars: str, out: BinaryIO) -> None:
    confine()
    trouble, body = found(Kind(kind), Path(path), int(chars))
    out.write(json.dumps({"trouble": trouble}).encode() + b"\n" + body)


def confine() -> None:
    """Give up what opening a file does not need. What a system does not know, it cannot take away."""
    os.nice(NICENESS)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        libc.unshare(OWN_USERS_AND_NETWORK)
    for which, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(which, (most, most))


def found(kind: Kind, path: Path, chars: int) -> Found:
    """Whatever is wrong with the file is a trouble, never an error: this is where outside data is met."""
    try:
        return _found(kind, path, chars)
    except ImportError:
        return "reader", b""
    except Locked:
        return "locked", b""
    except Unknown:
        return "kind", b""
    except (TooMuch, TooManyPixels, MemoryError, RecursionError):
        return "broken", b""
    except Exception as error:  # noqa: BLE001 - the libraries raise what they like at a damaged file
        return ("kind" if type(error).__name__ == "UnidentifiedImageError" else "broken"), b""


def _found(kind: Kind, path: Path, chars: int) -> Found:
    if kind is Kind.PICTURE:
        picture, moves = shrunken(path)
        return "still" if moves else "", picture
    ends = Ends(chars)
    match kind:
        case Kind.PDF:
            read_pdf(path, ends)
        case Kind.OFFICE:
            read_office(path, ends)
        case Kind.OLD_OFFICE:
            read_old_office(path, ends)
        case Kind.PAGE | Kind.TEXT:
            _read_text(kind, path, ends)
        case _:
            raise Unknown
    text = ends.text.replace("\x00", "").strip()
    if not text:
        return "blank", b""
    return "cut" if ends.is_cut else "", text.encode("utf-8", "replace")


def _read_text(kind: Kind, path: Path, ends: Ends) -> None:
    text = decoded(path.read_bytes())
    if text is None:
        raise Unknown
    if kind is Kind.PAGE:
        read_page(text, ends)
    else:
        ends.add(text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.stdout.buffer)
