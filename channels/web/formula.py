"""A formula in TeX as MathML that browsers set by themselves: the everyday part of TeX, and nothing else."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from typing import Final

from channels.web.symbols import (
    ACCENTS,
    ALIGNED,
    ALPHABETS,
    BIG,
    FUNCTIONS,
    INTEGRALS,
    LEFT,
    LETTERS,
    OPERATORS,
    SPACES,
    TABLES,
    UNDER,
    UNDERS,
    listed,
    styled,
)

LONGEST_CHARS: Final = 4000
DEEPEST: Final = 24

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\d+(?:[.,]\d+)*|[^\s]", re.DOTALL)
_RAW = re.compile(r"\s*\{([^{}]*)\}")
_IGNORED: Final = listed(
    "displaystyle textstyle scriptstyle limits nolimits nonumber notag big Big bigg Bigg bigl bigr Bigl Bigr biggl "
    "biggr bigm middle mathstrut allowbreak rm bf it"
)
_TEXT: Final = listed("text textrm textnormal mathrm textbf textit operatorname mbox textsf texttt")


class _Unreadable(Exception):
    """The formula uses something outside the everyday part."""


@lru_cache(maxsize=512)
def mathml(source: str, *, display: bool) -> str | None:
    """A ``<math>`` element with every text escaped, or None where the source is better shown as it is."""
    if len(source) > LONGEST_CHARS:
        return None
    try:
        body = _Reader(source, display).formula()
    except (_Unreadable, RecursionError):
        return None
    shape = ' display="block"' if display else ""
    return f"<math{shape}>{body}</math>"


class _Reader:
    def __init__(self, source: str, display: bool) -> None:
        self._source, self._display = source, display
        self._at, self._depth = 0, 0

    def formula(self) -> str:
        body = self._row(frozenset())
        if self._peek():
            raise _Unreadable
        return body

    def _peek(self) -> str:
        match = _TOKEN.search(self._source, self._at)
        return match[0] if match else ""

    def _take(self) -> str:
        match = _TOKEN.search(self._source, self._at)
        if not match:
            raise _Unreadable
        self._at = match.end()
        return match[0]

    def _row(self, ends: frozenset[str]) -> str:
        """Atoms with their scripts up to one of ``ends`` (not taken) or the end of the source."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise _Unreadable
        parts = []
        while (token := self._peek()) and token not in ends:
            if token in ("}", "&", "\\\\", "\\end", "\\right"):
                break
            parts.append(self._scripted())
        self._depth -= 1
        return f"<mrow>{''.join(parts)}</mrow>"

    def _scripted(self) -> str:
        while self._peek()[:1] == "\\" and self._peek()[1:] in _IGNORED:
            self._take()
        start = self._peek()
        name = start[1:] if start[:1] == "\\" else ""
        if start in ("", "}", "&", "\\\\", "\\end", "\\right"):
            return ""
        base = "<mrow></mrow>" if start in ("^", "_") else self._atom()
        while self._peek() in ("\\limits", "\\nolimits"):
            self._take()
        sub = sup = ""
        while (token := self._peek()) in ("^", "_", "'"):
            if token == "'":
                primes = self._primes()
                sup = f"<mrow>{sup}{primes}</mrow>" if sup else primes
                continue
            self._take()
            if (sup if token == "^" else sub) and token == "_":
                raise _Unreadable
            script = self._argument()
            sub, sup = (sub, f"<mrow>{sup}{script}</mrow>" if sup else script) if token == "^" else (script, sup)
        below = self._display and (name in UNDER or (name in BIG and name not in INTEGRALS))
        whole = _with_scripts(base, sub, sup, below or name in ("underbrace", "overbrace"))
        return f"{whole}{_space('0.17em')}" if name in FUNCTIONS else whole

    def _primes(self) -> str:
        count = 0
        while self._peek() == "'":
            self._take()
            count += 1
        return f"<mo>{'′' * count}</mo>"

    def _argument(self) -> str:
        if self._peek() == "{":
            return self._group()
        if self._peek() in ("", "}", "&", "^", "_"):
            raise _Unreadable
        if self._peek()[0].isdigit():
            self._at = self._source.index(self._peek(), self._at) + 1
            return f"<mn>{self._source[self._at - 1]}</mn>"
        return self._atom()

    def _group(self) -> str:
        self._take()
        body = self._row(frozenset({"}"}))
        if self._take() != "}":
            raise _Unreadable
        return body

    def _raw(self) -> str:
        match = _RAW.match(self._source, self._at)
        if not match:
            raise _Unreadable
        self._at = match.end()
        return match[1]

    def _atom(self) -> str:
        token = self._peek()
        if token == "{":
            return self._group()
        self._take()
        if token.startswith("\\"):
            return self._command(token[1:])
        if token[0].isdigit():
            return f"<mn>{escape(token)}</mn>"
        if token.isalpha():
            return f"<mi>{escape(token)}</mi>"
        if token in ("$", "#", "%"):
            raise _Unreadable
        return _operator({"-": "−", "*": "∗", "~": "\u00a0"}.get(token, token))

    def _command(self, name: str) -> str:
        if name in LETTERS:
            return f"<mi>{LETTERS[name]}</mi>"
        if name in OPERATORS:
            return _operator(OPERATORS[name])
        if name in BIG:
            return f'<mo largeop="true">{BIG[name]}</mo>'
        if name in FUNCTIONS:
            return f"<mi>{name}</mi>"
        if name in SPACES:
            return _space(SPACES[name])
        if name in ("{", "}", "|", "%", "$", "&", "#", "_"):
            return _operator("‖" if name == "|" else name)
        if name in _TEXT:
            return f"<mtext>{escape(self._raw())}</mtext>"
        if name in ALPHABETS:
            return f"<mi>{escape(styled(self._letters(), ALPHABETS[name]))}</mi>"
        return self._structure(name)

    def _letters(self) -> str:
        return self._raw() if self._peek() == "{" else self._take()

    def _structure(self, name: str) -> str:
        if name in ("frac", "dfrac", "tfrac", "cfrac"):
            return f"<mfrac>{self._argument()}{self._argument()}</mfrac>"
        if name in ("binom", "dbinom", "tbinom"):
            return f'<mrow><mo>(</mo><mfrac linethickness="0">{self._argument()}{self._argument()}</mfrac><mo>)</mo></mrow>'
        if name == "sqrt":
            return self._root()
        if name in ACCENTS:
            return f'<mover accent="true">{self._argument()}<mo>{ACCENTS[name]}</mo></mover>'
        if name in UNDERS:
            return f'<munder accentunder="true">{self._argument()}<mo>{UNDERS[name]}</mo></munder>'
        if name in ("overset", "stackrel"):
            above, base = self._argument(), self._argument()
            return f"<mover>{base}{above}</mover>"
        if name == "underset":
            below, base = self._argument(), self._argument()
            return f"<munder>{base}{below}</munder>"
        if name == "left":
            return self._fenced()
        if name == "begin":
            return self._table()
        if name in ("boxed", "fbox"):
            return f'<mrow class="boxed">{self._argument()}</mrow>'
        return self._remark(name)

    def _remark(self, name: str) -> str:
        if name == "pmod":
            return f"<mrow>{_space('0.5em')}<mo>(</mo><mi>mod</mi>{_space('0.3em')}{self._argument()}<mo>)</mo></mrow>"
        if name in ("mod", "bmod"):
            return f"<mrow>{_space('0.3em')}<mi>mod</mi>{_space('0.3em')}</mrow>"
        if name == "not":
            token = self._take()
            char = OPERATORS.get(token[1:], token)
            if len(char) != 1:
                raise _Unreadable
            return _operator(char + "\u0338")
        if name == "tag":
            return f"<mrow>{_space('2em')}<mtext>({escape(self._raw())})</mtext></mrow>"
        raise _Unreadable

    def _root(self) -> str:
        if self._peek() != "[":
            return f"<msqrt>{self._argument()}</msqrt>"
        self._take()
        index = self._row(frozenset({"]"}))
        if self._take() != "]":
            raise _Unreadable
        return f"<mroot>{self._argument()}{index}</mroot>"

    def _fenced(self) -> str:
        opening = self._fence()
        body = self._row(frozenset())
        if self._take() != "\\right":
            raise _Unreadable
        return f"<mrow>{opening}{body}{self._fence()}</mrow>"

    def _fence(self) -> str:
        token = self._take()
        if token == ".":
            return ""
        char = {"\\{": "{", "\\}": "}", "\\|": "‖"}.get(token) or OPERATORS.get(token[1:], token)
        if len(char) != 1:
            raise _Unreadable
        return f'<mo stretchy="true" fence="true">{escape(char)}</mo>'

    def _table(self) -> str:
        name = self._raw().rstrip("*")
        if name not in TABLES:
            raise _Unreadable
        if name in ("array", "alignat"):
            self._raw()
        rows = self._cells(name)
        if self._raw().rstrip("*") != name:
            raise _Unreadable
        opening, closing = (f'<mo stretchy="true">{escape(side)}</mo>' if side else "" for side in TABLES[name])
        kind = "aligned" if name in ALIGNED else "left" if name in LEFT else "plain"
        return f'<mrow>{opening}<mtable class="{kind}">{rows}</mtable>{closing}</mrow>'

    def _cells(self, name: str) -> str:
        rows, cells = [], []
        while True:
            if self._peek() == "\\hline":
                self._take()
                continue
            cells.append(f"<mtd>{self._row(frozenset())}</mtd>")
            token = self._take()
            if token in ("\\\\", "\\end"):
                rows.append(f"<mtr>{''.join(cells)}</mtr>")
                cells = []
            elif token != "&":
                raise _Unreadable
            if token == "\\end":
                return "".join(rows)


def _operator(char: str) -> str:
    """Fences keep the size of the line unless ``\\left`` and ``\\right`` ask for more."""
    fixed = ' stretchy="false"' if char in "()[]{}|‖⌊⌋⌈⌉⟨⟩" else ""
    return f"<mo{fixed}>{escape(char)}</mo>"


def _space(width: str) -> str:
    return f'<mspace width="{width}"></mspace>'


def _with_scripts(base: str, sub: str, sup: str, below: bool) -> str:
    under, over = ("munder", "mover") if below else ("msub", "msup")
    if sub and sup:
        return f"<munderover>{base}{sub}{sup}</munderover>" if below else f"<msubsup>{base}{sub}{sup}</msubsup>"
    if sub:
        return f"<{under}>{base}{sub}</{under}>"
    return f"<{over}>{base}{sup}</{over}>" if sup else base
