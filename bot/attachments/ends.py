"""A long text as it comes: its head and its tail are kept, and what lies between is only counted."""

from __future__ import annotations

from collections import deque


class Ends:
    """Never holds much more than ``chars`` characters, three quarters of them for the head."""

    def __init__(self, chars: int) -> None:
        self.tail_chars = chars // 4
        self._room = chars - self.tail_chars
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._in_tail = self._left_out = 0
        self._skipped = ""

    @property
    def wants_head(self) -> bool:
        return self._room > 0

    @property
    def is_cut(self) -> bool:
        return self._left_out > 0 or bool(self._skipped)

    def add(self, text: str) -> None:
        if self._room > 0:
            self._head.append(text[: self._room])
            text, self._room = text[self._room :], self._room - len(text)
        if text:
            self._tail.append(text)
            self._in_tail += len(text)
        while self._in_tail > self.tail_chars:
            spare = self._in_tail - self.tail_chars
            oldest = self._tail.popleft()
            if len(oldest) > spare:
                self._tail.appendleft(oldest[spare:])
            self._left_out += min(spare, len(oldest))
            self._in_tail -= min(spare, len(oldest))

    def skip(self, note: str) -> None:
        """Something is left out here that nobody has looked at; ``note`` says what."""
        self._room, self._skipped = 0, note

    @property
    def text(self) -> str:
        """What is kept, with a note of what is not."""
        gap = f"\n[… {self._left_out} characters left out …]\n" if self._left_out else ""
        return f"{''.join(self._head)}{self._skipped or gap}{''.join(self._tail)}"
