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


class Webhook(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str = ""
    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8443
    secret: SecretStr = NONE


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
