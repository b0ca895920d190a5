"""Reasoning that a model writes into its answer between <think> tags, told apart from the answer while it streams."""

from __future__ import annotations

import re

from bot.core.model import ModelText, ModelThinking

_TAG = re.compile(r"<(/?)\s*think(?:ing)?\s*>", re.IGNORECASE)
_OPEN_END = re.compile(r"<(?:/?\s*(?:[a-z]*)\s*)?$", re.IGNORECASE)
_TAG_NAME = "thinking"


class ThinkFilter:
    """Text goes in as it arrives, cut anywhere; answer text and reasoning come out, tags never.

    A tag inside a code fence or inline code is text about the tag. A closing tag that nothing opened is
    dropped, and so is white space around tags while there is no answer text yet.
    """

    def __init__(self) -> None:
        self._held = ""
        self._inside = False
        self._blank: str | None = ""  # white space before the first answer text; None once there is some
        self._tagged = False
        self._fenced = False
        self._in_code = False
        self._ticks = ""

    def feed(self, text: str) -> list[ModelText | ModelThinking]:
        rest, self._held = self._held + text, ""
        if "<" not in rest:
            return self._piece(rest)
        pieces: list[ModelText | ModelThinking] = []
        start = 0
        while tag := _TAG.search(rest, start):
            pieces += self._piece(rest[start : tag.start()])
            if not self._inside and (self._fenced or self._in_code):
                pieces += self._piece(tag.group())
            else:
                self._inside, self._tagged = not tag.group(1), True
            start = tag.end()
        kept = _possible_tag(rest, start)
        self._held = rest[kept:]
        return pieces + self._piece(rest[start:kept])

    def end(self) -> list[ModelText | ModelThinking]:
        """What was held back because it could have become a tag."""
        held, self._held = self._held, ""
        return self._piece(held)

    def _piece(self, text: str) -> list[ModelText | ModelThinking]:
        if not text:
            return []
        if self._inside:
            return [ModelThinking(text)]
        if self._blank is not None:
            text = text.lstrip() if self._tagged else self._blank + text
            if not text.strip():
                self._blank = text
                return []
            self._blank = None
        self._note_code(text)
        return [ModelText(text)]

    def _note_code(self, text: str) -> None:
        """Keep track of fences (over the whole answer) and of inline code (on one line)."""
        seen = self._ticks + text
        self._fenced ^= seen.count("```") % 2 == 1
        self._ticks = "`" * ((len(seen) - len(seen.rstrip("`"))) % 3)
        _, newline, line = text.rpartition("\n")
        self._in_code = (not newline and self._in_code) ^ (line.count("`") % 2 == 1)


def _possible_tag(text: str, start: int) -> int:
    """Where a tag may be beginning at the end of ``text``; its length where none can be."""
    found = _OPEN_END.search(text, start)
    if found is None:
        return len(text)
    name = found.group().strip("</ \t\r\n").lower()
    return found.start() if _TAG_NAME.startswith(name) else len(text)
