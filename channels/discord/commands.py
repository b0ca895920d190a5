"""Discord's own menu of commands."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from bot.core.ports import Notes
from bot.core.texts import say
from bot.inbox.commands import MENU
from channels.discord.rest import Rest

NOTE: Final = "commands"
LANGUAGES: Final = {"zh-CN": "zh", "zh-TW": "zh"}
DESCRIPTION_CHARS: Final = 100


def menu() -> list[dict[str, Any]]:
    """Every command with one free text behind it, as it would be typed."""
    option = {"type": 3, "name": "text", "description": "…", "required": False}
    return [
        {
            "name": name,
            "type": 1,
            "description": say(f"menu_{name}", "en")[:DESCRIPTION_CHARS],
            "description_localizations": {
                locale: say(f"menu_{name}", language)[:DESCRIPTION_CHARS] for locale, language in LANGUAGES.items()
            },
            "options": [option],
            "contexts": [0, 1],
            "integration_types": [0],
        }
        for name in MENU
    ]


async def offer(notes: Notes, rest: Rest, application: int) -> None:
    """Tell the menu where it is another than the last that was told: such writes are few at Discord."""
    commands = menu()
    digest = f"{application} {hashlib.sha256(json.dumps(commands).encode()).hexdigest()}"
    if await notes.read(NOTE) != digest:
        await rest.call("PUT", f"/applications/{application}/commands", commands, bucket="commands")
        await notes.write(NOTE, digest)
