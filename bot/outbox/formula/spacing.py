"""Pieces of a line and the space between them: what multiplies, what relates, what belongs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bot.outbox.formula.commands import SOFT
from bot.outbox.formula.tree import Kind

BitKind = Kind | Literal["operand", "fraction", "space", "group"]


@dataclass(frozen=True, slots=True)
class Bit:
    """A piece of a line. ``bare``: it ends with a script of ordinary letters, which another letter would join. ``numeric``:
    a fraction of numbers. ``ordinary``: nothing in it needs parentheses. ``before`` and ``after``: space in the source."""

    text: str
    kind: BitKind
    bare: bool = False
    numeric: bool = False
    before: bool = False
    after: bool = False


_FACTORS: Final = frozenset(("letter", "number", "operand", "close", "group", "function", "fraction", "word"))
_LOUD: Final = frozenset("×÷·⋅∗⋆∘∙∪∩∖∧∨⊕⊖⊗⊘⊙⊎⊔⊓⋊⋉⨯")
"""Operators with space around them wherever they stand."""


def joined(bits: Sequence[Bit], *, tight: bool, nested: bool, beside: bool = False) -> str:
    """``tight``: no space that is not needed, as in scripts. ``nested``: space around plus and minus as in the source."""
    pieces: list[str] = []
    depth = 1 if nested else 0
    gap = ""
    last: Bit | None = None
    for number, bit in enumerate(bits):
        if bit.kind == "space":
            gap = max(gap, bit.text, key=len)
            continue
        depth -= bit.kind == "close" and depth > nested
        before, after = _gaps(last, bit, tight=tight, inner=depth > 0)
        text = bit.text
        if bit.kind == "fraction" and (_multiplied(last, bits[number + 1 :], beside=beside)):
            mixed = bit.numeric and last is not None and last.kind == "number"
            text, before = (text, " ") if mixed else (f"({text})", before)
        if last is None or last.text.endswith(" ") or text.startswith(" "):
            gap = before = ""
        pieces += (max(gap, before, key=len), text)
        gap, last = after, bit
        depth += bit.kind == "open"
    return "".join(pieces)


def _multiplied(last: Bit | None, behind: Sequence[Bit], *, beside: bool) -> bool:
    """Whether a fraction stands next to something that it would draw into itself."""
    if last is not None and (last.kind in _FACTORS - {"word"} or last.text in ("/", "÷")):
        return True
    following = next((bit for bit in behind if bit.kind != "space"), None)
    if following is None or (behind[0].kind == "space" and len(behind[0].text) > 1):
        return following is None and beside
    if following.kind == "word" and following.text.startswith(" "):
        return False
    return following.kind in _FACTORS - {"close"} | {"open", "big"}


def _gaps(last: Bit | None, bit: Bit, *, tight: bool, inner: bool) -> tuple[str, str]:
    """The space before ``bit`` and, as far as that does not depend on what follows, behind it."""
    kind = bit.kind
    if kind == "relation":
        return ("", "") if tight else (" ", " ")
    if kind == "binary":
        unary = last is None or last.kind in ("relation", "binary", "open", "comma", "big", "function")
        if unary and bit.text in SOFT:
            return _before_operand(last, bit, tight=tight), ""
        if tight or bit.text == "/" or (inner and bit.text not in _LOUD):
            wide = not tight and (bit.before or (bit.after and bit.text not in SOFT))
            return (" ", " ") if wide else ("", "")
        return " ", " "
    if kind == "comma":
        before = " " if bit.text == ":" and bit.before and not tight else ""
        wide = bit.after or (bit.text in ",;" and not inner)
        return before, " " if wide and not tight else ""
    if kind in ("close", "postfix"):
        return "", ""
    if kind == "fence":
        return (" " if bit.before and bit.after and not tight else "",) * 2
    return _before_operand(last, bit, tight=tight), ""


def _before_operand(last: Bit | None, bit: Bit, *, tight: bool) -> str:
    if last is None:
        return ""
    if last.kind == "function" or last.kind == "big":
        named = bit.kind not in ("open", "group", "fraction") if last.kind == "function" else not tight
        return " " if named else ""
    follows = last.kind in _FACTORS
    if bit.kind == "function":
        return " " if follows else ""
    if bit.kind == "big":
        return " " if follows and not tight else ""
    if last.bare and bit.text[:1].isalnum():
        return " "
    return " " if last.kind == bit.kind == "number" else ""
