"""Values that YAML readers disagree about: what else each is taken for, and what to write instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

AS_TEXT: Final = "must be in quotes to stay as it is written: {trap}"


@dataclass(frozen=True, slots=True)
class Trap:
    """``said`` is what goes wrong. ``number``: how the number is written without it; "" where it is no number at all."""

    shape: re.Pattern[str]
    said: str
    number: str = ""


_TRAPS: Final = (
    Trap(
        re.compile(r"[+-]?0[\d_]*\d"),
        "some YAML readers take a number that begins with a zero for octal (010 for 8)",
        "must be written without the zero in front",
    ),
    Trap(
        re.compile(r"[+-]?\d[\d_]*_[\d_]*(\.[\d_]*)?|[+-]?\d+\.\d*_[\d_]*"),
        "some YAML readers take digits with underscores for a number, others for a text",
        "must be written without underscores",
    ),
    Trap(
        re.compile(r"\d+(?::[0-5]?\d)+"),
        "some YAML readers take a time of day for a number in base sixty (1:30 for 90)",
    ),
    Trap(re.compile("y|yes|on|n|no|off", re.IGNORECASE), "some YAML readers take this word for true or false"),
)


def trap_in(text: str) -> Trap | None:
    return next((trap for trap in _TRAPS if trap.shape.fullmatch(text)), None)


class Disputed(str):
    """A text that stands in the file without quotes and has a trap in it."""

    __slots__ = ()

    @property
    def said(self) -> str:
        """What else it is taken for, as part of a sentence."""
        trap = trap_in(self)
        return trap.said if trap else ""
