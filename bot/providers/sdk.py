"""How the vendors' own libraries are kept to transport: nothing from the environment, no proxies, no chatter in the log."""

from __future__ import annotations

import importlib.util
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS: Final = 10.0
WRITE_SECONDS: Final = 60.0
MAX_CONNECTIONS: Final = 64
_CHATTY: Final = ("httpx", "httpx2", "httpcore", "httpcore2")
_HIDING: Final = threading.Lock()


def install_hint(package: str) -> str:
    """Why ``package`` cannot be used: "" when it is installed (it is not imported), else what to do."""
    if importlib.util.find_spec(package) is not None:
        return ""
    return f"The library {package} is not installed: pip install 'bowerbird[{package}]'."


@contextmanager
def clean_environment(*prefixes: str) -> Iterator[None]:
    """Hide variables by their beginnings, and those of proxies, while a library is imported and its client built.

    The libraries read keys, addresses, headers, log levels and tracing switches from them. Nothing in the block may
    wait: the environment belongs to the whole process, and only one thread at a time may hide parts of it.
    """
    with _HIDING:
        names = [name for name in os.environ if name.startswith(prefixes) or name.lower().endswith("_proxy")]
        hidden = {name: os.environ.pop(name) for name in names}
        try:
            yield
        finally:
            os.environ.update(hidden)


def hush(library: str) -> None:
    """Keep a vendor's library and its transport from logging requests, which hold addresses and prompts."""
    for name in (library, *_CHATTY):
        logging.getLogger(name).setLevel(logging.WARNING)


def http2_client(read_seconds: float) -> httpx2.AsyncClient:
    """The transport under the anthropic and openai libraries."""
    import httpx2

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(connect=CONNECT_SECONDS, read=read_seconds, write=WRITE_SECONDS, pool=CONNECT_SECONDS),
        limits=httpx2.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=8),
        trust_env=False,
        follow_redirects=False,
    )
