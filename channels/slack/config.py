"""The ``slack:`` section. Reading it imports no vendor library."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, SecretStr, model_validator

from bot.inbox.access import Access

NONE = SecretStr("")
_TOKEN = re.compile(r"[!-~]+")
_WRONG: Final = {
    "xoxp-": "is a person's token (xoxp-): the app needs its bot's, which begins with xoxb-",
    "https://hooks.slack.com": "is the address of a webhook, which can only send: a token begins with xoxb- or xapp-",
}


def _server(value: str) -> str:
    parts = urlsplit(value.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise ValueError("must begin with http:// or https:// and name a host")
    return value.strip().rstrip("/") + "/"


def _token(value: SecretStr) -> SecretStr:
    token = value.get_secret_value().strip()
    if token and not _TOKEN.fullmatch(token):
        raise ValueError("holds characters that no token has; copy it again from api.slack.com/apps")
    for beginning, wrong in _WRONG.items():
        if token.startswith(beginning):
            raise ValueError(wrong)
    return SecretStr(token)


class Config(BaseModel):
    """``bot_token`` calls the Web API, ``app_token`` (scope connections:write) opens the sockets on which events come."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bot_token: Annotated[SecretStr, AfterValidator(_token)] = NONE
    app_token: Annotated[SecretStr, AfterValidator(_token)] = NONE
    api_base: Annotated[str, AfterValidator(_server)] = "https://slack.com/api/"
    streaming: Literal["native", "edit", "off"] = "native"
    access: Access = Access()

    @model_validator(mode="after")
    def _both_tokens_in_their_places(self) -> Self:
        bot, app = self.bot_token.get_secret_value(), self.app_token.get_secret_value()
        if bot.startswith("xapp-") or app.startswith("xoxb-"):
            raise ValueError("bot_token and app_token are swapped: bot_token begins with xoxb-, app_token with xapp-")
        if bool(bot) != bool(app):
            raise ValueError(f"{'app_token' if bot else 'bot_token'} is missing: Slack needs both tokens")
        return self

    def missing(self) -> str:
        """What keeps the channel off, in a sentence; "" when nothing does."""
        if not self.bot_token.get_secret_value():
            return "It has no bot_token and no app_token."
        if find_spec("slack_bolt") is None:
            return "The library slack-bolt is not installed: pip install 'bowerbird[slack]'."
        return ""
