"""How commands are typed on Slack, which takes a slash for itself: ``/bowerbird new``, and in threads ``@bot new``."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from bot.core.address import Address
from bot.core.stop import StopReason
from bot.core.view import Part
from bot.inbox.commands import KNOWN

SLASH: Final = "/bowerbird"
_COMMAND = re.compile(rf"(?<![A-Za-z0-9_/.:])/({'|'.join(sorted(KNOWN))})(?![A-Za-z0-9_/])")


def typed(text: str, to: Address, me: str) -> str:
    """The bot's own sentences, with its commands as they are typed there; ``me`` is the bot's name. A paragraph that names
    ``/bowerbird`` itself speaks of another platform as well."""
    lead = f"@{me}" if to.thread and me else SLASH
    paragraphs = text.split("\n\n")
    return "\n\n".join(
        one if SLASH in one else _COMMAND.sub(lambda found: f"{lead} {found[1]}", one) for one in paragraphs
    )


def spelt(part: Part, to: Address, me: str) -> Part:
    """The part with its own sentences so: the answer to a command, and what stands below a model's."""
    if part.view.stop is StopReason.COMMAND:
        return replace(part, markdown=typed(part.markdown, to, me))
    markdown = part.markdown
    for notice in part.view.notices:
        markdown = markdown.replace(notice, typed(notice, to, me))
    return part if markdown == part.markdown else replace(part, markdown=markdown)
