"""The name of a thread: the first words of the question it is opened from, as they read."""

from __future__ import annotations

import re
from typing import Final

from bot.core.inbound import UserMessage
from bot.outbox.graphemes import aligned, length
from bot.outbox.styled.renderer import StyledRenderer, joined
from bot.outbox.styled.spans import Styled

NAME_UNITS: Final = 100
"""As long as Discord takes a channel's name (discord.com/developers/docs/resources/channel)."""
READ_CHARS: Final = 400
_PING: Final = re.compile(r"(?<!\w)@(?=\S)")
_EMOJI: Final = re.compile(r"(?<!\w):\w+:(?!\w)")


def title(message: UserMessage, otherwise: str) -> str:
    """1 to 100 characters on one line, whole words where there are any, without markup, pings and what was hidden as a
    spoiler. What came without words is called by its first file's name, or ``otherwise``."""
    renderer = StyledRenderer(lambda styled: styled, joined)
    files = (file.name for file in message.files)
    for words in (_plain(renderer.render(message.text[:READ_CHARS])), *files, otherwise):
        if name := _clipped(_EMOJI.sub(" ", _PING.sub("", words))):
            return name
    return "…"


def _plain(styled: Styled) -> str:
    text = styled.text
    for span in sorted(styled.spans, key=lambda span: -span.start):
        if span.kind == "spoiler":
            text = f"{text[: span.start]} … {text[span.end :]}"
    return "" if not any(char.isalnum() for char in text) else text


def _clipped(text: str) -> str:
    line = " ".join(text.split())
    if length(line, "utf16") <= NAME_UNITS:
        return line
    end = 0
    while length(line[: end + 1], "utf16") < NAME_UNITS:
        end += 1
    whole = line.rfind(" ", NAME_UNITS // 2, end + 1)
    return line[: whole if whole > 0 else aligned(line, end, 0)].rstrip(" ,.;:-–—，。；：、") + "…"
