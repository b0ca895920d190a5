"""Words by their stems, so that ``booking`` finds ``book``; and the pieces that words are made of, so that ``ChatOCR`` is found."""

from __future__ import annotations

import re
from typing import Final

from bot.memory.nearness import is_cjk, words

LEAST_STEM: Final = 3
_ENDINGS: Final = (
    ("ization", "ize"),
    ("ational", "ate"),
    ("fulness", "ful"),
    ("iveness", "ive"),
    ("ations", "ate"),
    ("ation", "ate"),
    ("ments", ""),
    ("ingly", ""),
    ("sses", "ss"),
    ("ment", ""),
    ("edly", ""),
    ("ings", ""),
    ("ies", "y"),
    ("ing", ""),
    ("ers", ""),
    ("ors", ""),
    ("er", ""),
    ("ed", ""),
    ("es", ""),
    ("ly", ""),
    ("s", ""),
)
"""The first that a word ends in is replaced. Both sides are cut alike, so that a wrong stem costs little, in other languages
as well; Chinese, Japanese and Korean have none."""
_PARTS: Final = re.compile(r"[-_.']")
_PIECES: Final = (3, 4, 5)


def stem(word: str) -> str:
    """Of a word in lower case."""
    if is_cjk(word):
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= LEAST_STEM:
            word = word[: -len(ending)] + instead
            break
    if word.endswith("e") and len(word) > LEAST_STEM + 1:
        word = word[:-1]
    if len(word) > LEAST_STEM and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > LEAST_STEM else word


def stems(text: str) -> list[str]:
    """Of each part of each word, but for single letters; of Chinese what ``words`` makes of it."""
    parts = (part for word in words(text) for part in _PARTS.split(word))
    return [stem(part) for part in parts if len(part) > 1 or is_cjk(part)]


def pieces(text: str) -> list[str]:
    """Runs of three to five letters of the stems, their ends marked."""
    found: list[str] = []
    for word in stems(text):
        marked = f"<{word}>"
        found += [marked[at : at + size] for size in _PIECES for at in range(len(marked) - size + 1)]
    return found
