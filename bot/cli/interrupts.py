"""Ctrl+C while the program is still being put together."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Around imports: an interrupt ends the process on the spot and without a word. Raised in the midst of an import it
    would come out as a traceback, or as the panic of a library that is not written in Python. Afterwards it is raised
    as usual; one that is ignored, or has a handler of its own, stays so."""
    usual = signal.default_int_handler
    ours = signal.getsignal(signal.SIGINT) in (usual, signal.SIG_DFL)
    if not ours or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
