"""The ``telegram:`` section. Reading it imports no vendor library."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from bot.inbox.access import NumericAccess

NONE = SecretStr("")
_TOKEN = re.compile(r"[!-.0-~]+")
"""Anything that can stand in an address: a server of one's own may give out other tokens than Telegram's."""
_SECRET = re.compile(r"[A-Za-z0-9_-]{0,256}")


def _server(value: str) -> str:
    parts = urlsplit(value.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must begin with http:// or https:// and name a host")
    if re.search(r"/bot\d+", value):
        raise ValueError("must be the address of the server alone; the token has a key of its own")
    return value.strip().rstrip("/")


def _token(value: SecretStr) -> SecretStr:
    token = value.get_secret_value().strip()
    if token and not _TOKEN.fullmatch(token):
        raise ValueError("holds characters that no token has; copy it again from @BotFather")
    return SecretStr(token)


def _secret(value: SecretStr) -> SecretStr:
    if not _SECRET.fullmatch(value.get_secret_value()):
        raise ValueError("is at most 256 letters, digits, _ and -, as Telegram takes it")
    return value


_HALF_DEAF = (
    "its privacy mode is on: in groups it hears only what is meant for it, in spite of trigger: always, unless it is an"
    " administrator there. Send /setprivacy to @BotFather, then add it to its groups again"
)


class Webhook(BaseModel):
    """Telegram calls ``url``, which leads to ``host`` and ``port`` here. Without a ``secret`` one is made of the token."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str = ""
    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8443
    secret: Annotated[SecretStr, AfterValidator(_secret)] = NONE


class Config(BaseModel):
    """``calls_per_second`` is over all chats: 30 as Telegram publishes it; more only for bots that pay for broadcasts or
    have a Bot API server of their own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    token: Annotated[SecretStr, AfterValidator(_token)] = NONE
    api_base: Annotated[str, AfterValidator(_server)] = "https://api.telegram.org"
    transport: Literal["polling", "webhook"] = "polling"
    webhook: Webhook = Webhook()
    streaming: Literal["edit", "draft", "off"] = "edit"
    calls_per_second: Annotated[int, Field(gt=0, le=100_000)] = 30
    access: NumericAccess = NumericAccess()

    @model_validator(mode="after")
    def _a_webhook_has_an_address(self) -> Self:
        if self.transport == "webhook" and not self.webhook.url:
            raise ValueError("transport: webhook needs webhook: {url: …}, the address that Telegram calls")
        return self

    def missing(self) -> str:
        """What keeps the channel off, in a sentence; "" when nothing does."""
        if not self.token.get_secret_value():
            return "It has no token."
        if find_spec("telegram") is None:
            return "The library python-telegram-bot is not installed: pip install 'bowerbird[telegram]'."
        return ""

    def unheard(self, reads_all: bool) -> str:
        """What the bot is to answer and does not hear, in a sentence; "" when nothing. ``reads_all``: as Telegram says."""
        return _HALF_DEAF if self.access.trigger == "always" and self.access.groups and not reads_all else ""
