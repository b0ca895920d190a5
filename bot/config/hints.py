"""What a person most likely meant: the nearest known word, the section where a key belongs."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from pydantic import BaseModel

from bot.config.problems import Place, dotted

_LISTED: Final = 12


def plain(word: str) -> str:
    """``word`` without what people mix up: case, hyphens, underscores."""
    return word.lower().replace("-", "").replace("_", "")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that ``word`` was most likely meant to be; case, hyphens and underscores do not count."""
    spelled = {plain(candidate): candidate for candidate in known}
    close = difflib.get_close_matches(plain(word), spelled, n=1, cutoff=0.6)
    return spelled[close[0]] if close else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean "streaming"?``, or nothing when no known word is close."""
    close = nearest(word, known)
    return f'; did you mean "{close}"?' if close else ""


def one_of(words: Sequence[str]) -> str:
    return f"must be one of: {', '.join(words)}" if len(words) > 1 else f"must be {words[0]}"


class Places:
    """Knows the keys of all sections. ``roots`` maps the place of a section to the model that reads it, and is asked at
    the first unknown key."""

    def __init__(self, roots: Callable[[], Mapping[Place, type[BaseModel]]]) -> None:
        self._roots = roots

    @cached_property
    def _places(self) -> Sequence[Place]:
        places: list[Place] = []
        for place, cls in self._roots().items():
            places += [place[:length] for length in range(1, len(place) + 1)]
            places.extend(_below(place, cls))
        return list(dict.fromkeys(places))

    def unknown(self, section: Place, key: str, known: Iterable[str]) -> str:
        """A sentence about the unknown ``key`` in ``section``, whose own keys are ``known``."""
        inside = self._called(key, section)
        if len(inside) == 1:
            return f"unknown key; did you mean {dotted(inside[0])}?"
        known = sorted({*known, *(str(place[-1]) for place in self._places if place[:-1] == section)})
        if hint := did_you_mean(key, known):
            return f"unknown key{hint}"
        anywhere = self._called(key, ())
        if len(anywhere) == 1:
            return f"unknown key; did you mean {dotted(anywhere[0])}?"
        return f"unknown key; known here: {', '.join(known)}" if len(known) <= _LISTED else "unknown key"

    def _called(self, key: str, within: Place) -> list[Place]:
        deeper = [place for place in self._places if len(place) > len(within) + 1 and place[: len(within)] == within]
        return [place for place in deeper if plain(str(place[-1])) == plain(key)]


def _below(place: Place, cls: type[BaseModel]) -> Iterator[Place]:
    for name, field in cls.model_fields.items():
        here = (*place, field.alias or name)
        yield here
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _below(here, field.annotation)
