"""The list of commands behind Telegram's menu button, in every language of the house."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

from bot.core.ports import Notes
from bot.core.texts import say
from bot.inbox.commands import MENU

LANGUAGES: Final = ("en", "zh")
"""The first is for everybody whose language is not among them."""


async def offer(notes: Notes, bot: str, call: Callable[[dict[str, Any]], Awaitable[object]]) -> None:
    """Tell it where it is another than the last that ``bot`` was told. ``call`` takes the parameters of
    ``setMyCommands``."""
    for language in LANGUAGES:
        commands = [{"command": name, "description": say(f"menu_{name}", language)} for name in MENU]
        digest = hashlib.sha256(json.dumps(commands).encode()).hexdigest()
        if await notes.read(f"menu {language} {bot}") == digest:
            continue
        await call({"commands": commands} | ({} if language == LANGUAGES[0] else {"language_code": language}))
        await notes.write(f"menu {language} {bot}", digest)
