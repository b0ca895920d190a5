"""Requests for Chinese, put so that a model of this size understands them.

Measured with Qwen2.5-Coder-0.5B on seven short sentences: asked in English in four wordings it gave one to three of them
back as they were, asked in Chinese none.
"""

from __future__ import annotations

import re
from typing import Final

_QUOTES: Final = "\"'“”‘’「」 \t\n"
_CHINESE: Final = r"(?:simplified |traditional |mandarin )?(?:chinese|mandarin)\b"
_POLITE: Final = r"^\W*(?:please |can you |could you |would you |now )*"
_BEHIND: Final = re.compile(
    rf"{_POLITE}translate\b[^:：\"'“‘\n]{{0,60}}\b(?:in)?to {_CHINESE}[^:：\n]{{0,20}}[:：]\s*(?P<said>\S.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_BETWEEN: Final = re.compile(
    rf"{_POLITE}(?:translate|how (?:do|does|would|can|to) ?(?:you|one|i|we)? say|what(?:['’]s| is)) "
    rf"(?:(?:this|the)(?: following)? (?:sentence|phrase|word|text)s?:? )?"
    rf"[\"'“‘](?P<said>.+)[\"'”’],? (?:in|to|into) {_CHINESE}[\s?.!]*\Z",
    re.IGNORECASE | re.DOTALL,
)


def as_asked_in_chinese(words: str) -> str:
    """The request in Chinese where it is one for a translation into it; else ``words``."""
    found = _BEHIND.match(words) or _BETWEEN.match(words)
    said = found["said"].strip(_QUOTES) if found else ""
    return f"把下面这句话翻译成中文：{said}" if said else words
