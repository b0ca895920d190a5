"""The kinds of things that messages ask for: the built-in slots (``intents.json`` with ``examples.jsonl``), and what an
owner adds to them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final

THRESHOLD: Final = 0.22
"""The least share of a slot that says nothing else: below it two of three would be wrong."""

PRIVATE: Final = frozenset({"personal_info", "local_data"})
"""Slots of what concerns nobody else."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One intent. ``keywords`` are whole words or phrases, in Chinese they may stand anywhere; ``patterns`` are regular
    expressions for what no list of words can say. ``threshold`` is the least share, from 0 to 1; 0: the usual one.
    ``firm`` are those of the keywords that an owner wrote: they count for more than what was gathered for everybody."""

    name: str
    description: str
    examples: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    threshold: float = 0.0
    firm: tuple[str, ...] = ()

    @property
    def least(self) -> float:
        return self.threshold or THRESHOLD

    @property
    def texts(self) -> tuple[str, ...]:
        """What a message is compared with: the examples, where there are none the description."""
        return self.examples or ((self.description,) if self.description else ())


@cache
def built_in() -> tuple[Slot, ...]:
    here = files(__package__)
    found = json.loads(here.joinpath("intents.json").read_text(encoding="utf-8"))
    examples: dict[str, list[str]] = {name: [] for name in found}
    for line in here.joinpath("examples.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        examples[one["intent"]].append(one["text"])
    return tuple(
        Slot(name, one["description"], tuple(examples[name]), tuple(one["keywords"]), tuple(one["patterns"]))
        for name, one in found.items()
    )


def with_own(own: Iterable[Slot]) -> tuple[Slot, ...]:
    """The built-in slots and the owner's. To a built-in one of the same name the owner's examples and keywords are added;
    a description or threshold of the owner's takes the place of its own."""
    slots = {slot.name: slot for slot in built_in()}
    for one in own:
        known = slots.get(one.name)
        slots[one.name] = replace(one, firm=one.keywords) if known is None else _joined(known, one)
    return tuple(slots.values())


def _joined(known: Slot, own: Slot) -> Slot:
    return replace(
        known,
        description=own.description or known.description,
        examples=tuple(dict.fromkeys((*known.examples, *own.examples))),
        keywords=tuple(dict.fromkeys((*known.keywords, *own.keywords))),
        threshold=own.threshold or known.threshold,
        firm=own.keywords,
    )
