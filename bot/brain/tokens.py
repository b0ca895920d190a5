"""How many tokens a text probably has. An estimate by script, for budgets; the bill comes from the provider."""

from __future__ import annotations

from typing import Final

MESSAGE_TOKENS: Final = 6
"""What role markers and separators add per message in common chat templates."""

_PUNCTUATION: Final = 0.62
_PER_SIGN: Final = (
    (b"abcdefghijklmnopqrstuvwxyz", 0.18),
    (b" ", 0.37),
    (bytes(sign for sign in range(0x80) if not chr(sign).isalnum() and chr(sign) not in " \t\n\r"), _PUNCTUATION),
    (b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", 0.55),
    (b"0123456789", 1.15),
    (b"\t\n\r", 0.5),
)
_PER_LEAD: Final = (
    (0x80, 0xBF, 0.0),  # the other bytes of a character
    (0xE4, 0xE9, 0.68),  # Chinese characters
    (0xE3, 0xE3, 0.62),  # kana, Chinese punctuation
    (0xEE, 0xEF, 0.75),  # full-width forms
    (0xE2, 0xE2, 1.5),  # dashes, quotes, arrows, symbols
    (0xC0, 0xCC, 1.3),  # Latin letters with accents: they break the word they are in
    (0xD0, 0xD5, 0.36),  # Cyrillic, Armenian
    (0xCD, 0xCF, 0.9),  # Greek
    (0xD6, 0xDF, 0.48),  # Hebrew, Arabic
    (0xEA, 0xED, 0.68),  # Hangul
    (0xE0, 0xE1, 0.85),  # the scripts of India, Thai
    (0xF0, 0xFF, 2.2),  # emoji, rare characters
)
"""By the first byte of a character in UTF-8, which tells the script. All weights are fitted to what the tokenizer of Qwen2.5
makes of texts in fifteen languages, of code and of data (``tests/brain/samples.py``), a little above it. The large vendors'
are not far from that, and how far a model's own is gets measured from its bills (``Gauge``)."""
_WEIGHTS: Final = (*_PER_SIGN, *((bytes(range(first, last + 1)), weight) for first, last, weight in _PER_LEAD))
_INDENT: Final = 0.37
"""Two blanks in a row count as one: what a line begins with is few tokens."""


def estimated_tokens(text: str) -> int:
    """Seldom below what is likely: rounded up. One class of bytes after the other is taken away, the frequent ones first,
    which is a few calls into the interpreter however long the text is."""
    count = -text.count("  ") * _INDENT
    left = text.encode("utf-8", "surrogatepass")
    for signs, weight in _WEIGHTS:
        if not left:
            break
        rest = left.translate(None, signs)
        count += (len(left) - len(rest)) * weight
        left = rest
    return int(count) + 1
