"""A formula as MathML that browsers set by themselves (the part of it called MathML Core), with its source beside it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import Final

from bot.outbox.formula.commands import INTEGRALS, LIMITS
from bot.outbox.formula.layout import inline
from bot.outbox.formula.letters import styled
from bot.outbox.formula.reader import FORMULAS_KEPT, read
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

_ACCENTS: Final = {
    "hat": "^",
    "widehat": "^",
    "bar": "¯",
    "overline": "¯",
    "vec": "→",
    "overrightarrow": "→",
    "overleftarrow": "←",
    "dot": "˙",
    "ddot": "¨",
    "dddot": "⃛",
    "tilde": "~",
    "widetilde": "~",
    "check": "ˇ",
    "breve": "˘",
    "acute": "´",
    "grave": "`",
    "overbrace": "⏞",
    "underline": "_",
    "underbrace": "⏟",
}
_UNDER: Final = frozenset({"underline", "underbrace"})
_LOOKS: Final = {"*": "∗", "·": "⋅"}
_STILL: Final = frozenset("()[]{}|‖⌊⌋⌈⌉⟨⟩")
"""These keep the size of the line unless ``\\left`` and ``\\right`` ask for more."""


@lru_cache(maxsize=FORMULAS_KEPT)
def mathml(source: str, *, display: bool) -> str | None:
    """A ``<math>`` element with every text escaped, or None where the source is better shown as it is."""
    row = read(source)
    if row is None or inline(source) is None:
        return None
    shape = ' display="block"' if display else ""
    return f'<math{shape} alttext="{escape(source)}">{_Writer(display).row(row)}</math>'


class _Writer:
    def __init__(self, display: bool) -> None:
        self._display = display

    def row(self, row: Row) -> str:
        return f"<mrow>{''.join(map(self.node, row.items))}</mrow>"

    def node(self, node: Node) -> str:
        match node:
            case Symbol():
                return _symbol(node) + (_space(0.17) if node.kind == "function" else "")
            case Space(em=em):
                return _space(em) if em else ""
            case Row():
                return self.row(node)
            case Scripted():
                return self._scripted(node)
            case Fraction(top=top, bottom=bottom, bar=bar):
                line = "" if bar else ' linethickness="0"'
                drawn = f"<mfrac{line}>{self.row(top)}{self.row(bottom)}</mfrac>"
                return drawn if bar else f"<mrow>{_fence('(')}{drawn}{_fence(')')}</mrow>"
            case Root(body=body, degree=degree):
                body_drawn = self.row(body)
                return f"<mroot>{body_drawn}{self.row(degree)}</mroot>" if degree else f"<msqrt>{body_drawn}</msqrt>"
            case Accent(name=name, body=body):
                return self._accent(name, body)
            case Stacked():
                return self._stacked(node)
            case Fenced(opening=opening, body=body, closing=closing):
                return f"<mrow>{_fence(opening)}{self.row(body)}{_fence(closing)}</mrow>"
            case Table():
                return self._table(node)
            case Framed(name=name, body=body):
                return self._framed(name, body)

    def _scripted(self, node: Scripted) -> str:
        base = node.base
        drawn = _symbol(base) if isinstance(base, Symbol) else self.node(base)
        below = self.row(node.below) if node.below else ""
        above = self.row(node.above) if node.above else ""
        function = isinstance(base, Symbol) and base.kind == "function"
        whole = _with_scripts(drawn, below, above, limits=self._has_limits(base))
        return whole + (_space(0.17) if function else "")

    def _has_limits(self, base: Node) -> bool:
        """Whether the scripts stand above and below rather than beside."""
        if isinstance(base, Accent):
            return base.name.endswith("brace")
        if not self._display or not isinstance(base, Symbol):
            return False
        return base.text in LIMITS or (base.kind == "big" and base.text not in INTEGRALS)

    def _accent(self, name: str, body: Row) -> str:
        tag, kind = ("munder", "accentunder") if name in _UNDER else ("mover", "accent")
        return f'<{tag} {kind}="true">{self.row(body)}<mo>{escape(_ACCENTS[name])}</mo></{tag}>'

    def _stacked(self, node: Stacked) -> str:
        base = self.row(node.base)
        if node.stretches and isinstance(arrow := node.base.items[0], Symbol):
            base = f'<mo stretchy="true">{arrow.text}</mo>'
        above = self._label(node.above, stretches=node.stretches)
        return _with_scripts(base, self._label(node.below, stretches=node.stretches), above, limits=True)

    def _label(self, row: Row | None, *, stretches: bool) -> str:
        if row is None or not row.items:
            return ""
        side = _space(0.4) if stretches else ""
        return f"<mrow>{side}{self.row(row)}{side}</mrow>" if stretches else self.row(row)

    def _framed(self, name: str, body: Row) -> str:
        return f'<mrow class="{"boxed" if name == "boxed" else "cancelled"}">{self.row(body)}</mrow>'

    def _table(self, table: Table) -> str:
        kind = "aligned" if table.aligned else "left" if "l" in table.sides else "plain"
        rows = "".join(self._cells(cells, ruled=at in table.rules) for at, cells in enumerate(table.rows))
        grid = f'<mtable class="{kind}">{rows}</mtable>'
        return f"<mrow>{_fence(table.opening)}{grid}{_fence(table.closing)}</mrow>"

    def _cells(self, cells: Sequence[Row], *, ruled: bool) -> str:
        shape = ' class="ruled"' if ruled else ""
        return f"<mtr{shape}>{''.join(f'<mtd>{self.row(cell)}</mtd>' for cell in cells)}</mtr>"


def _symbol(node: Symbol) -> str:
    text = _LOOKS.get(node.text, node.text)
    if node.alphabet and node.alphabet != "upright":
        text = "".join(styled(char, node.alphabet) for char in text)
    shown = escape(text)
    match node.kind:
        case "number":
            return f"<mn>{shown}</mn>"
        case "letter":
            upright = ' mathvariant="normal"' if node.alphabet == "upright" else ""
            return f"<mi{upright}>{shown}</mi>"
        case "function":
            return f"<mi>{shown}</mi>"
        case "word":
            return f"<mtext>{_kept_space(shown)}</mtext>"
        case "big":
            return f'<mo largeop="true">{shown}</mo>'
        case "postfix" if text not in ("!", "%"):
            return f"<mo>{shown}</mo>"
    still = ' stretchy="false"' if text in _STILL else ""
    return f"<mo{still}>{shown}</mo>"


def _kept_space(text: str) -> str:
    """MathML drops the space at both ends of a text."""
    inner = text.strip(" ")
    lead = len(text) - len(text.lstrip(" "))
    return "\u00a0" * min(lead, 1) + inner + "\u00a0" * min(len(text) - lead - len(inner), 1) if inner else "\u00a0"


def _fence(sign: str) -> str:
    return f'<mo stretchy="true" fence="true">{escape(sign)}</mo>' if sign else ""


def _space(em: float) -> str:
    return f'<mspace width="{em:g}em"></mspace>'


def _with_scripts(base: str, below: str, above: str, *, limits: bool) -> str:
    under, over = ("munder", "mover") if limits else ("msub", "msup")
    if below and above:
        both = "munderover" if limits else "msubsup"
        return f"<{both}>{base}{below}{above}</{both}>"
    if below:
        return f"<{under}>{base}{below}</{under}>"
    return f"<{over}>{base}{above}</{over}>" if above else base
