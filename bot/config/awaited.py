"""The documented sections of channels and providers whose module is not there, or cannot be imported because its
library is not installed: their keys are still checked, and ``doctor`` says what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, SecretStr

from bot.config.section import Section, Url
from bot.inbox.access import Access, NumericAccess

NONE: Final = SecretStr("")
Port = Annotated[int, Field(ge=0, le=65535)]


class Webhook(Section):
    url: Url = ""
    host: str = "127.0.0.1"
    port: Port = 8443
    secret: SecretStr = NONE


class Telegram(Section):
    token: SecretStr = NONE
    api_base: Url = "https://api.telegram.org"
    transport: Literal["polling", "webhook"] = "polling"
    webhook: Webhook = Webhook()
    streaming: Literal["edit", "draft", "off"] = "edit"
    access: NumericAccess = NumericAccess()

    def missing(self) -> str:
        return "" if self.token.get_secret_value() else "It has no token."


class Discord(Section):
    token: SecretStr = NONE
    api_base: Url = "https://discord.com/api/v10"
    gateway_url: str = ""
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

    def missing(self) -> str:
        secrets = {"bot_token": self.bot_token, "app_token": self.app_token}
        absent = [name for name, secret in secrets.items() if not secret.get_secret_value()]
        return f"It has no {' and no '.join(absent)}." if absent else ""


class Web(Section):
    host: str = "127.0.0.1"
    port: Port = 8717
    token: SecretStr = NONE
    on_disconnect: Literal["finish", "stop"] = "finish"


class Terminal(Section):
    pass


class Keyed(Section):
    api_key: SecretStr = NONE

    def missing(self) -> str:
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
