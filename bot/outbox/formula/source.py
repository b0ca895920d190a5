"""The source of a formula in pieces: what pylatexenc makes of TeX's braces, commands and environments."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pylatexenc.latex2text import get_default_latex_context_db  # type: ignore[import-untyped]
from pylatexenc.latexwalker import (  # type: ignore[import-untyped]
    LatexCharsNode,
    LatexEnvironmentNode,
    LatexGroupNode,
    LatexMacroNode,
    LatexMathNode,
    LatexWalker,
    LatexWalkerParseError,
)
from pylatexenc.macrospec import LatexContextDb, std_environment, std_macro  # type: ignore[import-untyped]

from bot.outbox.formula.commands import ARGUMENTS, COLUMNED, SINGLE, SYMBOLS, TABLES
from bot.outbox.formula.tree import Unreadable

LONGEST_CHARS: Final = 2000
DEEPEST: Final = 24

_PERCENT = re.compile(r"(?<!\\)((?:\\\\)*)%")
_LINE_HEIGHT = re.compile(r"\\\\\*?[ \t]*(?:\[\s*-?[\d.]+\s*(?:pt|em|ex|mm|cm|in)\s*\])?")
_GROUPED = re.compile(r"(?<=\d)\{([,.])\}(?=\d)")
"""A comma within a number."""
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\begin\s*\{")
_CHARS = re.compile(r"\s+|\d+(?:[.,]\d+)*|.", re.DOTALL)
_WORDS = re.compile(r"(?<=[A-Za-z]{3})[ \n]+(?=[A-Za-z]{2})|(?<=[A-Za-z]{2})[ \n]+(?=[A-Za-z]{3})")
_NO_BREAK: Final = "\u00a0"


@dataclass(frozen=True, slots=True)
class Char:
    """One character, a whole number, or white space."""

    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """``raw`` is the source of its last argument. An optional argument that is not there is None."""

    name: str
    arguments: tuple[Group | None, ...] = ()
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """What stands between braces; ``math``: between dollars."""

    pieces: tuple[Piece, ...]
    math: bool = False


@dataclass(frozen=True, slots=True)
class Environment:
    """``columns`` is what it says about them."""

    name: str
    columns: str
    pieces: tuple[Piece, ...]


Piece = Char | Command | Group | Environment


def pieces(source: str) -> tuple[Piece, ...]:
    """Raises ``Unreadable`` for what is no TeX, too long, or nested too deeply."""
    if len(source) > LONGEST_CHARS or _depth(source) > DEEPEST or len(_ENVIRONMENT.findall(source)) > DEEPEST:
        raise Unreadable
    source = _GROUPED.sub(r"\1", source)
    source = _LINE_HEIGHT.sub(r"\\\\", _PERCENT.sub(r"\1\\%", source))
    try:
        nodes, _, _ = LatexWalker(source, latex_context=_language(), tolerant_parsing=False).get_latex_nodes()
    except LatexWalkerParseError as error:
        raise Unreadable from error
    return tuple(_Pieces(nodes).all())


def symbol(name: str) -> str:
    """The character that a command without arguments stands for; "" where it stands for none."""
    if name in SYMBOLS:
        return SYMBOLS[name]
    spec = _signs().get_macro_spec(name)
    sign = getattr(spec, "simplify_repl", None)
    return sign if isinstance(sign, str) and len(sign) == 1 and sign.isprintable() and not sign.isascii() else ""


@cache
def _language() -> Any:
    """The commands that take arguments; every other one takes none, and nothing but these means anything."""
    known = LatexContextDb()
    commands = {**dict.fromkeys(SINGLE, "{"), **ARGUMENTS}
    columned = (name + star for name in COLUMNED for star in ("", "*"))
    known.add_context_category(
        "formulas",
        macros=[std_macro(name, arguments) for name, arguments in commands.items()],
        environments=[std_environment(name, "[{" if name == "array" else "{") for name in columned],
        specials=[],
    )
    known.set_unknown_macro_spec(std_macro("", ""))
    known.set_unknown_environment_spec(std_environment("", ""))
    return known


@cache
def _signs() -> Any:
    return get_default_latex_context_db()


def _depth(source: str) -> int:
    depth = deepest = 0
    for found in _BRACES.finditer(source):
        depth += (found[0] == "{") - (found[0] == "}")
        deepest = max(deepest, depth)
    return deepest


class _Pieces:
    """Nodes of the library as pieces. A command that stands where an argument is expected has not got its own yet: they
    are the nodes that follow."""

    def __init__(self, nodes: Iterable[Any], depth: int = 0) -> None:
        self._left = deque(nodes)
        self._depth = depth
        if depth > 4 * DEEPEST:
            raise Unreadable

    def all(self) -> Iterator[Piece]:
        while self._left:
            yield from self._piece(self._left.popleft())

    def _piece(self, node: Any) -> Iterator[Piece]:
        if isinstance(node, LatexCharsNode):
            chars = _WORDS.sub(_NO_BREAK, node.chars)
            yield from (Char(found[0]) for found in _CHARS.finditer(chars))
        elif isinstance(node, LatexGroupNode):
            yield self._group(node)
        elif isinstance(node, LatexMacroNode):
            yield self._command(node, 0)
            if node.macro_post_space:
                yield Char(" ")
        elif isinstance(node, LatexEnvironmentNode):
            yield self._environment(node)
        elif isinstance(node, LatexMathNode):
            yield self._group(node, math=True)
        else:
            raise Unreadable

    def _group(self, node: Any, *, math: bool = False) -> Group:
        return Group(tuple(_Pieces(node.nodelist, self._depth + 1).all()), math)

    def _command(self, node: Any, depth: int) -> Command:
        if depth > DEEPEST:
            raise Unreadable
        name = str(node.macroname)
        wanted = "{" if name in SINGLE else ARGUMENTS.get(name, "")
        nodes = list(node.nodeargd.argnlist) if node.nodeargd and node.nodeargd.argnlist else []
        arguments: list[Group | None] = []
        raw = ""
        for number, kind in enumerate(wanted):
            argument = nodes[number] if number < len(nodes) else None
            if argument is None and kind == "{" and number >= len(nodes):
                argument = self._next()
            raw = _verbatim(argument)
            arguments.append(None if argument is None else self._argument(argument, depth))
        return Command(name, tuple(arguments), raw)

    def _argument(self, node: Any, depth: int) -> Group:
        if isinstance(node, LatexGroupNode):
            return self._group(node)
        if isinstance(node, LatexMacroNode):
            return Group((self._command(node, depth + 1),))
        return Group(tuple(_Pieces([node], self._depth + 1).all()))

    def _next(self) -> Any:
        """The node that is the next argument; of characters only the first one that is no space."""
        while self._left:
            node = self._left.popleft()
            if not isinstance(node, LatexCharsNode):
                return node
            if chars := node.chars.lstrip():
                if chars[1:]:
                    self._left.appendleft(LatexCharsNode(chars=chars[1:], parsing_state=node.parsing_state))
                return LatexCharsNode(chars=chars[0], parsing_state=node.parsing_state)
        raise Unreadable

    def _environment(self, node: Any) -> Environment:
        name = str(node.environmentname).rstrip("*")
        if name not in TABLES:
            raise Unreadable
        given = node.nodeargd.argnlist if node.nodeargd and node.nodeargd.argnlist else []
        columns = _verbatim(given[-1]) if given else ""
        return Environment(name, columns, tuple(_Pieces(node.nodelist, self._depth + 1).all()))


def _verbatim(node: Any) -> str:
    """The source of an argument, without its braces."""
    if node is None:
        return ""
    source = str(node.latex_verbatim()) if node.pos is not None else ""
    return source[1:-1] if isinstance(node, LatexGroupNode) else source
