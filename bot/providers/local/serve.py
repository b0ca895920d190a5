"""The engine's own process: reads its settings as one JSON line from standard input, serves, and dies with its parent.

Run by path, with `python -P`: it imports nothing of Bowerbird, so no key of the daemon ever is in this process. The
standard input stays open as a leash: when its other end closes, however the parent died, this process ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import select
import shutil
import signal
import sys
import threading
from typing import Any, Final, NoReturn

NICENESS: Final = 10
LOOK_SECONDS: Final = 2.0
LOG_BYTES: Final = 1_000_000
"""At this size the log is moved to `….1`, which it replaces."""
CACHE_MIB: Final = 128
"""Memory for the prompts of chats that have lost their slot: about ten thousand tokens of the larger model."""
PR_SET_PDEATHSIG: Final = 1


def main() -> NoReturn:
    parent = os.getppid()
    _tie_to(parent)
    settings = json.loads(sys.stdin.buffer.readline())
    os.nice(NICENESS)
    log_file = settings["log"]
    announce = _redirect_output(log_file)
    threading.Thread(target=_watch, args=(parent, log_file), daemon=True).start()
    server = _server(settings)
    os.write(announce, json.dumps({"address": server.listening_address}).encode() + b"\n")
    os.close(announce)
    threading.Event().wait()
    sys.exit(1)


def _tie_to(parent: int) -> None:
    """On Linux the kernel kills us with our parent even while the engine, loading, lets no Python thread run."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(0)


def _redirect_output(log_file: str) -> int:
    """Send both outputs, which the engine writes to directly, to the log; the old standard output is returned."""
    announce = os.dup(1)
    log = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    return announce


def _watch(parent: int, log_file: str) -> None:
    """End when the leash is cut or the parent is gone; keep the log bounded."""
    while True:
        readable, _, _ = select.select([0], [], [], LOOK_SECONDS)
        if (readable and not os.read(0, 4096)) or os.getppid() != parent:
            os._exit(0)
        with contextlib.suppress(OSError):
            if os.stat(log_file).st_size > LOG_BYTES:
                shutil.copyfile(log_file, f"{log_file}.1")
                os.truncate(log_file, 0)


def _server(settings: dict[str, Any]) -> Any:
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.model_alias = {settings["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [settings["key"]]
    params.cors_origins = ""
    params.cors_credentials = False
    params.ui = False
    params.offline = True
    params.endpoint_slots = True
    params.verbosity = 2
    params.n_gpu_layers = 0
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["context"] * settings["slots"]
    params.cache_ram_mib = CACHE_MIB
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.n_threads_http = 4
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
