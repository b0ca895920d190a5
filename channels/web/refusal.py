"""What a visitor's request is turned away with: a status and a sentence."""

from __future__ import annotations

from bot.core.errors import BowerbirdError
from channels.web.words import phrase


class Refused(BowerbirdError):
    """A visitor's request that is not accepted. ``status`` is the HTTP status, ``word`` a key of ``words.WORDS``."""

    def __init__(self, status: int, word: str, **values: object) -> None:
        super().__init__(phrase(word, "en", **values))
        self.status, self.word, self.values = status, word, values

    def sentence(self, language: str) -> str:
        return phrase(self.word, language, **self.values)
