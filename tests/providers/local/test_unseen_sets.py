"""Sets written by somebody who had not seen the code: the ten questions, and which of three tools a message needs.

The scores are those of the first run (2026-11-30); nothing has been tuned on these sets. What the model gets wrong it
answers itself, without a tool; a tool where none is needed would be worse, and that is held to zero.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.net.http import Transport
from bot.providers.local.keeper import Phase
from bot.providers.local.provider import Config, LocalProvider, build
from bot.time.clock import SystemClock
from bot.tools.registry import find_tools
from tests.providers.local.asking import ask, prompted

pytestmark = [pytest.mark.model, pytest.mark.prove, pytest.mark.timeout(900)]
log = logging.getLogger(__name__)

QUESTIONS_OF_10 = 9
TOOLS_OF_60 = 41
DATA = Path(__file__).parents[2] / "data"
TOOLS = tuple(tool.spec for tool in find_tools().values())


def entries(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load((DATA / name).read_text(encoding="utf-8")))


@pytest.fixture
async def provider(qwen: Path, tmp_path: Path) -> AsyncIterator[LocalProvider]:
    http = Transport()
    provider = build("local", Config(path=qwen), SystemClock(), tmp_path, http)
    assert (await provider.prepare()).phase is Phase.READY
    yield provider
    await provider.aclose()
    await http.aclose()


def faults(entry: dict[str, Any], text: str) -> list[str]:
    found = [f"none of {words}" for words in entry["contains_any"] if not any(w.lower() in text.lower() for w in words)]
    script = {"latin": r"[A-Za-z]", "cjk": r"[\u4e00-\u9fff]"}.get(entry.get("contains_script") or "")
    if script and not re.search(script, text):
        found.append(f"no {entry['contains_script']} in it")
    if not entry["min_chars"] <= len(text.strip()) <= entry["max_chars"]:
        found.append(f"{len(text.strip())} characters")
    return found


async def test_the_ten_questions(provider: LocalProvider) -> None:
    missed = {}
    for entry in entries("questions.yaml"):
        heard = await ask(provider, prompted(entry["text"], tools=TOOLS, max_tokens=200))
        log.info("%s -> %s", entry["id"], heard.text)
        if wrong := faults(entry, heard.text):
            missed[entry["id"]] = (wrong, heard.text)
    assert 10 - len(missed) >= QUESTIONS_OF_10, missed


async def test_the_tool_a_message_needs(provider: LocalProvider) -> None:
    missed = {}
    needless = []
    for entry in entries("tool_choice.yaml"):
        heard = await ask(provider, prompted(entry["text"], tools=TOOLS, max_tokens=100))
        called = heard.calls[0].name if heard.calls else "none"
        arguments = str(dict(heard.calls[0].arguments)) if heard.calls else ""
        lacking = [w for w in entry.get("argument_contains") or [] if w.lower() not in arguments.lower()]
        log.info("%s -> %s %s", entry["id"], called, arguments)
        if called != entry["tool"] or lacking:
            missed[entry["id"]] = (entry["text"], called, arguments)
        if entry["tool"] == "none" and called != "none":
            needless.append((entry["text"], called, arguments))
    log.info("%d of 60; missed: %s", 60 - len(missed), missed)
    assert 60 - len(missed) >= TOOLS_OF_60, missed
    assert needless == []
