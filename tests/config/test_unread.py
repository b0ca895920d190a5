"""What is written in the file and has no effect is said to have none; the list of it is neither too long nor too short."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from pydantic import BaseModel

import bot
from bot.config.doctor import check
from bot.config.packaged import packaged
from bot.config.sections import Settings
from bot.config.unread import UNREAD, unread_and_set

from .conftest import Load

ROOMS = Path(bot.__file__).parent
NO_READERS = {ROOMS / "cli" / "service.py"}
"""It only names the paths of the file in a systemd unit."""


@cache
def code() -> str:
    """Everything that could act on a setting: not the room that reads and checks the file."""
    files = [*ROOMS.rglob("*.py"), *(ROOMS.parent / "channels").rglob("*.py")]
    acting = (file for file in files if ROOMS / "config" not in file.parents and file not in NO_READERS)
    return "\n".join(file.read_text(encoding="utf-8") for file in acting)


def is_read(key: str) -> bool:
    """A setting is reached through the config, or through the section that holds it."""
    *rooms, last = key.split(".")
    holder = rooms[-1] if rooms else "config"
    return bool(re.search(rf"\b_?{holder}\.{last}\b", code()))


def every_setting() -> list[str]:
    """The sections that stand in ``Settings`` and the settings in its larger ones."""
    keys: list[str] = []
    for name, field in Settings.model_fields.items():
        inner = field.annotation
        if name in ("brain", "memory", "tools") and isinstance(inner, type) and issubclass(inner, BaseModel):
            keys += [f"{name}.{one}" for one in inner.model_fields if one != "llm"]
        else:
            keys.append(name)
    return [*keys, "brain.llm.default", "brain.llm.fallback", "brain.llm.routing"]


@pytest.mark.parametrize("key", UNREAD)
def test_a_setting_on_the_list_has_no_reader(key: str) -> None:
    assert not is_read(key)


@pytest.mark.parametrize(
    "key", sorted({*every_setting()} - {*UNREAD, "brain.llm.default", "brain.llm.fallback", "data_dir"})
)
def test_a_setting_that_is_not_on_the_list_has_a_reader(key: str) -> None:
    assert is_read(key)


def test_the_list_names_settings_that_there_are() -> None:
    assert {*UNREAD} <= {*every_setting()}


async def test_the_doctor_warns_of_what_is_relied_on_in_vain_and_names_the_rest(read: Load) -> None:
    findings = await check(read("team: {max_parallel: 2}"))
    told = [one for one in findings if "not built into this version" in one.line]
    assert [(one.level, one.line.split()[0], one.advice) for one in told if one.level == "warn"] == [
        ("warn", "team", "do not rely on it")
    ]
    (rest,) = [one.line for one in told if one.level == "ok"]
    assert all(key in rest for key in UNREAD if key != "team") and "team" not in rest


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("name: x", []),
        (packaged("config.yaml"), []),
        ("memory: {reranker: local, distill: {after_turn: true}}\nteam: {max_parallel: 3}", []),
        ("tools: {shell: {sandbox: bubblewrap, timeout: 61}}", ["tools.shell"]),
        ("brain: {llm: {default: {provider: local, model: auto}}}", []),
        ("brain: {money: {day_usd: 1}}", []),
        ("brain: {llm: {routing: {local_only: [private]}}}", []),
        ("hooks: [{event: Stop, command: [sh]}]", ["hooks"]),
        ("hooks: []\ntools: {mcp: {}, secrets: {}}", []),
        ("memory: {distill: off}\nteam: {mode: radical}", ["memory.distill", "team"]),
        (
            "tools: {shell: {network: true}, secrets: {a: b}, mcp: {x: {command: [sh]}}}",
            ["tools.shell", "tools.secrets", "tools.mcp"],
        ),
        ("schedule: {quiet_hours: '21:00-06:00'}\nskills: [.]", ["schedule"]),
    ],
)
def test_what_the_file_sets_in_vain_is_known(read: Load, text: str, keys: list[str]) -> None:
    assert unread_and_set(read(text)) == keys
