"""How many tokens a text probably has. An estimate by script, for budgets; the bill comes from the provider."""

from __future__ import annotations

from typing import Final

from bot.core.text import CJK

LATIN_CHARS_PER_TOKEN: Final = 3.6
CJK_TOKENS_PER_CHAR: Final = 0.75
MESSAGE_TOKENS: Final = 6
"""What role markers and separators add per message in common chat templates."""


def estimated_tokens(text: str) -> int:
    """Never below what is likely: rounded up."""
    cjk = len(CJK.findall(text))
    return int(cjk * CJK_TOKENS_PER_CHAR + (len(text) - cjk) / LATIN_CHARS_PER_TOKEN) + 1
