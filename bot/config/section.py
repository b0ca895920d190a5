"""What every section of the configuration is made of: the frozen, strict model and the small types its fields share."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

NO_CREDENTIALS: Final = "must not hold a user name or a password: addresses end up in logs; use api_key"
_HOST_NAME: Final = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
OFF_WORDS: Final = ("off", "no", "none", "false", "never")


def is_off(value: Any) -> bool:
    """True for ``false`` and for the words that people write for it."""
    return value is False or (isinstance(value, str) and value.strip().lower() in OFF_WORDS)


class Section(BaseModel):
    """A section of ``config.yaml``: unknown keys are errors, nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, coerce_numbers_to_str=True)


def _http_url(value: str) -> str:
    value = value.strip()
    if not value:
        return value
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or re.search(r"\s", value):
        raise ValueError("must be an address that begins with http:// or https://")
    if holds_credentials(value):
        raise ValueError(NO_CREDENTIALS)
    return value


def holds_credentials(url: str) -> bool:
    """True for ``http://user:password@host``."""
    return "@" in url.split("://", 1)[-1].split("/", 1)[0]


def checked_host(value: str) -> str:
    """A host name or an IP address. Raises ``ValueError`` for anything more, and for nothing."""
    value = value.strip()
    try:
        ipaddress.ip_address(value)
    except ValueError:
        if not _HOST_NAME.fullmatch(value):
            raise ValueError("must be a host name or an IP address alone; the port has a key of its own") from None
    return value


def _as_words(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError('must be a list of words, such as ["python3", "check.py"]')
    return value


Host = Annotated[str, AfterValidator(checked_host)]
Url = Annotated[str, AfterValidator(_http_url)]
"""``http(s)://host…`` or nothing."""
Text = Annotated[str, Field(min_length=1)]
Command = Annotated[tuple[str, ...], Field(min_length=1), BeforeValidator(_as_words)]
"""A program and its arguments, run without a shell."""


def is_loopback(host: str) -> bool:
    """True for a host that only this machine can reach."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_near(url: str) -> bool:
    """True for an address on this machine or in its own network: loopback, private range, a bare or a home name."""
    host = (urlsplit(url).hostname or "").lower()
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bool(host) and (
            "." not in host or host.endswith((".local", ".lan", ".internal", ".home.arpa", ".localhost"))
        )
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_private)
