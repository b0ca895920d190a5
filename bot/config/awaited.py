"""The documented sections of channels and providers whose module is not there, or cannot be imported because its
library is not installed: their keys are still checked, and ``doctor`` says what is missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, Field, SecretStr, model_validator

from bot.config.section import Host, Section, Url
from bot.inbox.access import Access, NumericAccess

NONE: Final = SecretStr("")
Port = Annotated[int, Field(ge=0, le=65535)]


def _no_token_inside(value: str) -> str:
    if re.search(r"/bot\d+", value):
        raise ValueError("must be the address of the server alone; the token has a key of its own")
    return value


def _websocket(value: str) -> str:
    if value and not value.startswith(("ws://", "wss://")):
        raise ValueError("must be an address that begins with wss:// (or ws://)")
    return value


class Webhook(Section):
    url: Url = ""
    host: Host = "127.0.0.1"
    port: Port = 8443
    secret: SecretStr = NONE


class Telegram(Section):
    token: SecretStr = NONE
    api_base: Annotated[Url, AfterValidator(_no_token_inside)] = "https://api.telegram.org"
    transport: Literal["polling", "webhook"] = "polling"
    webhook: Webhook = Webhook()
    streaming: Literal["edit", "draft", "off"] = "edit"
    access: NumericAccess = NumericAccess()

    @model_validator(mode="after")
    def _a_webhook_has_an_address(self) -> Telegram:
        if self.transport == "webhook" and not self.webhook.url:
            raise ValueError("transport: webhook needs webhook: {url: …}, the address that Telegram calls")
        return self

    def missing(self) -> str:
        return "" if self.token.get_secret_value() else "It has no token."


class Discord(Section):
    token: SecretStr = NONE
    api_base: Url = "https://discord.com/api/v10"
    gateway_url: Annotated[str, AfterValidator(_websocket)] = ""
    streaming: Literal["edit", "off"] = "edit"
    access: NumericAccess = NumericAccess()

    def missing(self) -> str:
        return "" if self.token.get_secret_value() else "It has no token."


class Slack(Section):
    bot_token: SecretStr = NONE
    app_token: SecretStr = NONE
    api_base: Url = "https://slack.com/api/"
    streaming: Literal["native", "edit", "off"] = "native"
    access: Access = Access()

    @model_validator(mode="after")
    def _both_tokens_or_none(self) -> Slack:
        bot, app = self.bot_token.get_secret_value(), self.app_token.get_secret_value()
        if bot.startswith("xapp-") or app.startswith("xoxb-"):
            raise ValueError("bot_token and app_token are swapped: bot_token begins with xoxb-, app_token with xapp-")
        if bool(bot) != bool(app):
            raise ValueError(f"{'app_token' if bot else 'bot_token'} is missing: Slack needs both tokens")
        return self

    def missing(self) -> str:
        return "" if self.bot_token.get_secret_value() else "It has no bot_token and no app_token."


class Web(Section):
    host: Host = "127.0.0.1"
    port: Port = 8717
    token: SecretStr = NONE
    on_disconnect: Literal["finish", "stop"] = "finish"


class Terminal(Section):
    pass


class Keyed(Section):
    api_key: SecretStr = NONE

    def missing(self, endpoint: str = "") -> str:
        return "" if self.api_key.get_secret_value() else "It has no api_key."


class Anthropic(Keyed):
    base_url: Url = "https://api.anthropic.com"


class OpenAi(Keyed):
    base_url: Url = "https://api.openai.com/v1"


class Ollama(Section):
    base_url: Url = "http://127.0.0.1:11434"


class Local(Section):
    pass


CHANNELS: Final[Mapping[str, type[BaseModel]]] = {
    "telegram": Telegram,
    "discord": Discord,
    "slack": Slack,
    "web": Web,
    "terminal": Terminal,
}
PROVIDERS: Final[Mapping[str, type[BaseModel]]] = {
    "anthropic": Anthropic,
    "openai": OpenAi,
    "ollama": Ollama,
    "local": Local,
}
