"""Writes a formula as a line of plain text, as one would type it: raised and lowered letters where Unicode has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.outbox.formula.commands import ACCENTS, INTEGRALS, LIMITS, SOFT
from bot.outbox.formula.letters import lowered, marked, raised, styled
from bot.outbox.formula.spacing import Bit, BitKind, joined
from bot.outbox.formula.tree import (
    Accent,
    Fenced,
    Fraction,
    Framed,
    Node,
    Root,
    Row,
    Scripted,
    Space,
    Stacked,
    Symbol,
    Table,
)

STRIKE: Final = "\u0336"
_QUIET_ALPHABETS: Final = frozenset(("", "upright", "SANS-SERIF", "MONOSPACE"))
_ROOTS: Final = {"2": "√", "3": "∛", "4": "∜"}


def plain(row: Row, *, beside: bool = False) -> str:
    """One line. ``beside``: something that multiplies it stands behind."""
    return joined(_bits(row), tight=False, nested=False, beside=beside).strip()


def _line(row: Row, *, tight: bool) -> str:
    return joined(_bits(row), tight=tight, nested=True).strip()


def _bits(row: Row) -> list[Bit]:
    out: list[Bit] = []
    items = list(_flat(row.items))
    integrates = any(_is_integral(item) for item in items)
    for number, item in enumerate(items):
        following = items[number + 1] if number + 1 < len(items) else None
        if integrates and _is_differential(item, following) and out and out[-1].kind in ("operand", "letter", "close"):
            out.append(Bit(" ", "space"))
        bit = _bit(item, following)
        if bit.kind == "postfix" and out and out[-1].kind not in ("space", "relation", "binary", "comma"):
            out[-1] = replace(out[-1], text=out[-1].text + bit.text)
        elif bit.text:
            out.append(bit)
    return out


def _flat(items: Sequence[Node]) -> Sequence[Node]:
    """Braces that only group stand for what is in them."""
    out: list[Node] = []
    for item in items:
        if isinstance(item, Row):
            out += _flat(item.items)
        else:
            out.append(item)
    return out


def _is_integral(node: Node) -> bool:
    base = node.base if isinstance(node, Scripted) else node
    return isinstance(base, Symbol) and base.text in INTEGRALS


def _is_differential(node: Node, following: Node | None) -> bool:
    if not isinstance(node, Symbol) or node.text != "d":
        return False
    base = following.base if isinstance(following, Scripted) else following
    return isinstance(base, Accent) or (isinstance(base, Symbol) and base.kind == "letter")


def _bit(node: Node, following: Node | None) -> Bit:
    match node:
        case Symbol():
            return _symbol(node)
        case Space(em=em):
            return Bit(" " * (2 if em >= 1 else 1 if em > 0 else 0), "space")
        case Scripted():
            return _scripted(node)
        case Fraction():
            return _fraction(node)
        case Root():
            return _root(node, following)
        case Accent():
            return _accent(node)
        case Stacked():
            return _stacked(node)
        case Fenced(opening=opening, body=body, closing=closing):
            return Bit(f"{opening}{_line(body, tight=False)}{closing}", "group" if opening + closing else "operand")
        case Table():
            return Bit(_table(node), "group")
        case Framed(name=name, body=body):
            text = _line(body, tight=False)
            return Bit(marked(text, STRIKE) if name == "cancel" else text, "operand")
        case Row():
            return Bit(_line(node, tight=False), "operand")


def _symbol(node: Symbol) -> Bit:
    text = node.text
    if node.alphabet not in _QUIET_ALPHABETS:
        text = "".join(styled(char, node.alphabet) for char in text)
    return Bit(text, node.kind, before=node.before, after=node.after)


_KEPT_KINDS: Final = frozenset(("function", "relation", "fence", "close"))
"""What these are they remain with scripts."""


def _scripted(node: Scripted) -> Bit:
    base = _base(node.base)
    big = base.kind == "big" or (base.kind == "function" and node.below is not None and base.text in LIMITS)
    above, over = _script(node.above, raised, "^") if node.above else ("", True)
    below, under = _script(node.below, lowered, "_") if node.below else ("", True)
    kind: BitKind = "big" if big else base.kind if base.kind in _KEPT_KINDS else "operand"
    if not under and over and above and not big:
        text, bare = base.text + above + below, not below.endswith(")")
    else:
        text = base.text + below + above
        bare = not (over and (above or under)) and not text.endswith(")")
    return Bit(text, kind, bare=bare, before=base.before, after=base.after)


def _base(node: Node) -> Bit:
    bits = _bits(node) if isinstance(node, Row) else [_bit(node, None)]
    if not bits:
        return Bit("", "operand")
    if len(bits) == 1 and bits[0].kind != "fraction" and not isinstance(node, Root):
        return bits[0]
    text = joined(bits, tight=False, nested=True)
    return Bit(text if _is_whole(bits) else f"({text})", "group")


def _script(row: Row, small: object, mark: str) -> tuple[str, bool]:
    """The script, and whether it is one in small letters."""
    bits = _bits(row)
    text = joined(bits, tight=True, nested=True).strip().replace("′′", "″")
    words = all(bit.kind in ("word", "function") for bit in bits) and len(text) > 1
    found = "" if words else (raised(text) if mark == "^" else lowered(text))
    if found:
        return found, True
    single = len(bits) == 1 and (bits[0].kind == "number" or len(text.rstrip("′")) == 1)
    one_word = text.isalnum() and (words or mark == "_")
    return (f"{mark}{text}" if single or one_word else f"{mark}({text})"), False


def _fraction(node: Fraction) -> Bit:
    top, bottom = _bits(node.top), _bits(node.bottom)
    above, below = (joined(bits, tight=False, nested=True).strip() for bits in (top, bottom))
    if not node.bar:
        return Bit(f"C({above}, {below})", "group")
    numeric = all(bit.kind == "number" for bit in (*top, *bottom))
    if not _is_words(top) and not _is_factor(top):
        above = f"({above})"
    if not _is_words(bottom) and not (_is_factor(bottom) and _is_single(bottom)):
        below = f"({below})"
    spoken = any(" " in text and _is_words(bits) for text, bits in ((above, top), (below, bottom)))
    return Bit(f"{above} / {below}" if spoken else f"{above}/{below}", "fraction", numeric=numeric)


def _is_words(bits: Sequence[Bit]) -> bool:
    return all(bit.kind == "word" for bit in bits)


def _is_factor(bits: Sequence[Bit]) -> bool:
    """Whether nothing in it binds less than a product does. A sign before all of it may stay."""
    depth = 0
    for number, bit in enumerate(bits):
        depth += bit.kind == "open"
        depth -= bit.kind == "close"
        signed = number == 0 and bit.text in SOFT
        if depth == 0 and not signed and bit.kind in ("binary", "relation", "comma", "fraction", "big", "space"):
            return False
        if (
            depth == 0
            and bit.kind in ("word", "function")
            and len(bits) > 1
            and (" " in bit.text or _applied(bits, number))
        ):
            return False
    return True


def _applied(bits: Sequence[Bit], number: int) -> bool:
    """Whether a function is applied without parentheses."""
    following = bits[number + 1] if number + 1 < len(bits) else None
    return bits[number].kind == "function" and following is not None and following.kind not in ("open", "group")


def _is_single(bits: Sequence[Bit]) -> bool:
    """Whether a slash before it takes all of it: one sign, a differential, a group, or a function of a group."""
    if len(bits) < 2 or _is_whole(bits):
        return True
    if len(bits) == 2 and bits[0].text in ("d", "∂", "Δ", "δ") and bits[1].kind in ("letter", "operand"):
        return True
    applied = bits[0].kind in ("letter", "operand", "word", "function") and _is_whole(bits[1:])
    return applied and not bits[0].text.endswith(("!", "%"))


def _is_whole(bits: Sequence[Bit]) -> bool:
    """Whether one pair of parentheses encloses all of it."""
    if len(bits) == 1:
        return bits[0].kind == "group"
    depth = 0
    for number, bit in enumerate(bits):
        depth += bit.kind == "open"
        depth -= bit.kind == "close"
        if depth <= 0:
            return bool(number) and number == len(bits) - 1 and bits[0].kind == "open"
    return False


def _root(node: Root, following: Node | None) -> Bit:
    bits = _bits(node.body)
    text = joined(bits, tight=False, nested=True).strip()
    degree = _line(node.degree, tight=True) if node.degree else "2"
    sign = _ROOTS.get(degree) or (raised(degree) or f"({degree})") + "√"
    simple = len(bits) == 1 and bits[0].kind in ("letter", "number", "operand") and not _has_script(text)
    beside = isinstance(following, (Symbol, Scripted, Accent)) and _bit(following, None).kind in (
        "letter",
        "operand",
        "number",
    )
    if not (simple and not beside) and not _is_whole(bits):
        text = f"({text})"
    return Bit(sign + text, "operand")


def _has_script(text: str) -> bool:
    """Whether something raised, or a script in ordinary letters, belongs to it."""
    return any(char in "^_/√∛∜" or (char != raised(char) and char in _RAISED_SIGNS) for char in text)


_RAISED_SIGNS: Final = frozenset(raised("0123456789+−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW∘′″⊤"))


def _accent(node: Accent) -> Bit:
    bits = _bits(node.body)
    text = joined(bits, tight=False, nested=True).strip()
    mark = ACCENTS[node.name]
    if mark:
        return Bit(marked(text, mark), "operand")
    return Bit(text if len(bits) == 1 or _is_whole(bits) else f"({text})", "group")


def _stacked(node: Stacked) -> Bit:
    base = _base(node.base)
    above = _line(node.above, tight=True) if node.above else ""
    if node.stretches and above:
        arrow = base.text
        text = f"←{above}─" if arrow == "←" else f"─{above}{arrow}"
        below, _ = _script(node.below, lowered, "_") if node.below and node.below.items else ("", True)
        return Bit(text + below, "relation")
    return _scripted(Scripted(node.base, node.below, node.above))


def _table(node: Table) -> str:
    """On one line: a comma between cells, a semicolon between rows."""
    between = " " if node.aligned else ", "
    rows = (between.join(filter(None, (_cell(cell) for cell in row))) for row in node.rows)
    closing = {"{": "}"}.get(node.opening, "") if not node.closing else node.closing
    return f"{node.opening}{'; '.join(rows)}{closing}"


def _cell(row: Row) -> str:
    return plain(row).removesuffix(",") if row.items else ""
