"""What the configs of all providers have in common, and what keeps a provider from being used."""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from bot.core.model import Price


class ProviderConfig(BaseModel):
    """``silence_seconds`` is how long an open stream may say nothing, ``first_seconds`` how long until its first sign of
    life, ``alive_seconds`` how long signs of life alone are believed, ``whole_seconds`` how long an answer may take that is
    not streamed. ``transcribes``: providers of this kind also write speech down.

    The defaults suit a vendor's cloud; a model on one's own machine gets more time. Five minutes of nothing but signs of
    life: reasoning that a vendor keeps to itself takes minutes in which only those come, while a proxy whose model has
    died sends them for ever; and two thirds of a turn's 15 minutes are left for another model. Ten minutes for a whole
    answer is what the vendors' own libraries wait.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    transcribes: ClassVar[bool] = False

    silence_seconds: float = Field(default=90.0, gt=0)
    first_seconds: float = Field(default=180.0, gt=0)
    alive_seconds: float = Field(default=300.0, gt=0)
    whole_seconds: float = Field(default=600.0, gt=0)

    def missing(self, endpoint: str = "") -> str:
        """Why a provider with this config cannot be used, in a sentence without its name; "" when it can. Imports
        nothing.

        ``endpoint`` is the address that a model's entry names instead of the provider's own.
        """
        return ""

    def sees(self, model: str, endpoint: str = "") -> bool:
        """Whether a model of which its entry says nothing is taken to see pictures."""
        return False

    def price(self, model: str, endpoint: str = "") -> Price | None:
        """What a model costs of which its entry says nothing; None for not known."""
        return None

    def window(self, model: str, endpoint: str = "") -> int | None:
        """How many tokens a model reads of which its entry says nothing; None for not known."""
        return None

    def wrong(self) -> str:
        """What on this machine keeps a provider with this config from working, "path names a folder"; "" for nothing.
        Reads files and asks nobody."""
        return ""

    @property
    def read_seconds(self) -> float:
        """The HTTP read timeout: above the watchdog's limits, so that it is the watchdog who speaks."""
        return max(self.silence_seconds, self.first_seconds, self.alive_seconds, self.whole_seconds) + 15.0


def checked_url(url: str) -> str:
    """A base address without its trailing slash; ``ValueError`` when it is none."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must begin with http:// or https:// and name a host")
    return url.strip().rstrip("/")


def checked_key(key: SecretStr) -> SecretStr:
    """A key as it can stand in a header; ``ValueError`` on characters that no key has."""
    value = key.get_secret_value().strip()
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise ValueError("holds characters that no key has; copy it again")
    return SecretStr(value)
