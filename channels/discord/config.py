"""The ``discord:`` section. Reading it imports no vendor library."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, SecretStr

from bot.inbox.access import NumericAccess

NONE = SecretStr("")
_TOKEN = re.compile(r"[!-~]+")


def _server(value: str) -> str:
    parts = urlsplit(value.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must begin with http:// or https:// and name a host")
    return value.strip().rstrip("/")


def _gateway(value: str) -> str:
    value = value.strip()
    if value and not value.startswith(("ws://", "wss://")):
        raise ValueError("must be an address that begins with wss:// (or ws://)")
    return value


def _token(value: SecretStr) -> SecretStr:
    token = value.get_secret_value().strip().removeprefix("Bot ").strip()
    if token and not _TOKEN.fullmatch(token):
        raise ValueError("holds characters that no token has; copy it again from the developer portal")
    return SecretStr(token)


class Config(BaseModel):
    """``gateway_url`` empty: as the API says. ``threads`` auto: a mention in a channel of a guild is answered in a thread
    that is opened from it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    token: Annotated[SecretStr, AfterValidator(_token)] = NONE
    api_base: Annotated[str, AfterValidator(_server)] = "https://discord.com/api/v10"
    gateway_url: Annotated[str, AfterValidator(_gateway)] = ""
    streaming: Literal["edit", "off"] = "edit"
    threads: Literal["off", "auto"] = "off"
    access: NumericAccess = NumericAccess()

    def missing(self) -> str:
        """What keeps the channel off, in a sentence; "" when nothing does."""
        if not self.token.get_secret_value():
            return "It has no token."
        if find_spec("discord") is None:
            return "The library discord.py is not installed: pip install 'bowerbird[discord]'."
        return ""
