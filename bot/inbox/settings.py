"""What holds in one chat alone: its language, its time zone, when the bot answers there, and how much of its work it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from zoneinfo import available_timezones

from bot.core.address import Address
from bot.core.texts import say
from bot.store.settings import SettingRows

Work = Literal["all", "brief", "none"]

CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "language": ("en", "zh"),
    "trigger": ("mention", "always", "never"),
    "work": ("all", "brief", "none"),
}
TIMEZONE: Final = "timezone"
KEYS: Final = ("language", TIMEZONE, "trigger", "work")
AUTO: Final = "auto"
MODEL: Final = "model"
"""The model that was picked for the chat. Set by ``/model``, not by ``/settings``."""


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """ "" is as the configuration says. ``work``: tool lines with what they are about, with their names alone, or none."""

    language: str = ""
    timezone: str = ""
    trigger: str = ""
    work: Work = "all"
    model: str = ""


class Settings:
    """Kept in memory as well, so that a look at them costs nothing. A thread has those of its chat unless it has its own."""

    def __init__(self, rows: SettingRows) -> None:
        self._rows = rows
        self._known: dict[Address, ChatSettings] = {}

    async def load(self) -> None:
        """Before the first message. A value that means nothing any more is as if it were not set."""
        for address, values in (await self._rows.all()).items():
            for key, value in values.items():
                if key == MODEL or (key in KEYS and valid(key, value) == value):
                    self._change(address, key, value)

    def of(self, address: Address) -> ChatSettings:
        own = self._known.get(address)
        if own is None and address.thread:
            own = self._known.get(replace(address, thread=""))
        return own or ChatSettings()

    async def set(self, address: Address, key: str, value: str) -> None:
        """``value`` is valid, or "" for what the configuration says."""
        await self._rows.set(address, key, value)
        self._change(address, key, value)

    def _change(self, address: Address, key: str, value: str) -> None:
        fields: dict[str, Any] = {key: value or getattr(ChatSettings(), key)}
        self._known[address] = replace(self._known.get(address, ChatSettings()), **fields)


def valid(key: str, value: str) -> str:
    """``value`` as it is written, "" where it is none of the key's."""
    if key == TIMEZONE:
        return next((zone for zone in available_timezones() if zone.lower() == value.lower()), "")
    return value.lower() if value.lower() in CHOICES.get(key, ()) else ""


def table(settings: ChatSettings, language: str, zone: str) -> str:
    """What holds, and how to change it, as CommonMark."""
    lines = []
    for key in KEYS:
        value = getattr(settings, key)
        shown = f"`{value}`" if value else say("setting_default", language)
        choices = say("setting_zones", language, zone=zone) if key == TIMEZONE else " | ".join((*CHOICES[key], AUTO))
        lines.append(f"- {say(f'setting_{key}', language)} (`{key}`): {shown}. {choices}")
    return "\n".join((say("settings_head", language), "", *lines, "", say("settings_how", language)))
