"""How Discord's client reads a message: a model of its rules, which are those of simple-markdown with changes.

At each character the rules are tried in order; of those that come first together, the one with the longest match wins.
``Client.OLD`` reads headings and lists as earlier clients did.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

SPACE: Final = "\\t\\n\\x0b\\x0c\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
"""What JavaScript's ``\\s`` matches."""
BULLET: Final = r"(?:[*-]|[0-9]+\.)"
DEEPEST_LIST: Final = 11

Match = re.Match[str]


class Client(enum.Enum):
    OLD = enum.auto()
    NEW = enum.auto()


@dataclass(frozen=True)
class Node:
    """``kind`` is that of the rule; ``text`` of a leaf; ``value`` a language, an address, a level or a first number."""

    kind: str
    text: str = ""
    value: str = ""
    children: tuple[Node, ...] = ()
    items: tuple[tuple[Node, ...], ...] = ()


@dataclass
class State:
    """What rules look at besides the text. ``before`` is what was matched last; only copies forget it."""

    inline: bool = True
    before: str | None = None
    in_quote: bool = False
    lists: int = 0
    headings: bool = True
    escapes: bool = True


@dataclass(frozen=True)
class Rule:
    """Rules of the same ``order`` compete by the length that ``weighs`` adds to; names decide a draw."""

    order: float
    name: str
    match: Callable[[str, State], Match | None]
    parse: Callable[[Match, State], list[Node]]
    weighs: float | None = None


def read(content: str, client: Client = Client.NEW) -> list[Node]:
    return Reader(client).read(content)


HEADING = {
    Client.NEW: re.compile(rf" *(#{{1,3}})[{SPACE}]+((?![{SPACE}]*#{{1,3}}[{SPACE}])[^\n]+?)#*[{SPACE}]*(?:\n|\Z)"),
    Client.OLD: re.compile(rf" *(#{{1,3}})[{SPACE}]+((?!#)[^\n]+?)#*[{SPACE}]*(?:\n|\Z)"),
}
SUBTEXT = re.compile(r" *-# +((?!-#)[^\n]+)(?:\n|\Z)")
CODE_BLOCK = re.compile(r"```(?:([a-z0-9_+\-.#]+?)\n)?\n*([^\n][\s\S]*?)\n*```", re.IGNORECASE | re.ASCII)
QUOTE = re.compile(r"( *>>> +([\s\S]*))|( *>(?!>>) +[^\n]*(\n *>(?!>>) +[^\n]*)*\n?)")
LIST = re.compile(rf"\n?( *)({BULLET}) [\s\S]+?(?:\n(?! )(?!\1{BULLET} )|\Z)")
ESCAPE = re.compile(rf"\\([^0-9A-Za-z{SPACE}])")
AUTOLINK = re.compile(r"<([^: >]+:/[^ >]+)>")
MAILTO = re.compile(rf"<([^{SPACE}<>@]+@[^{SPACE}<>@]+\.[^{SPACE}<>@]+)>")
TELEPHONE = re.compile(r"<((?:(?:tel|sms):\+?|\+)(?:[0-9]|\([0-9]+\))(?:[- ./]?(?:[0-9]|\([0-9]+\)))+)>")
URL = re.compile(rf"(?:https?|steam)://[^{SPACE}<]+[^<.,:;\"'\]{SPACE}]")
LINK = re.compile(
    r"\[((?:\[[^\]]*\]|[^\[\]]|\](?=[^\[]*\]))*)\]\("
    rf"[{SPACE}]*<?((?:\([^)]*\)|[^{SPACE}\\]|\\.)*?)>?(?:[{SPACE}]+['\"]([\s\S]*?)['\"])?[{SPACE}]*\)"
)
EM = re.compile(
    r"_((?:__|\\[\s\S]|[^\\_])+?)_(?![0-9A-Za-z_])"
    rf"|\*(?=[^{SPACE}])((?:\*\*|\\[\s\S]|[{SPACE}]+(?:\\[\s\S]|[^{SPACE}*\\]|\*\*)|[^{SPACE}*\\])+?)\*(?!\*)"
)
STRONG = re.compile(r"\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)")
UNDERLINE = re.compile(r"__((?:\\[\s\S]|[^\\])+?)__(?!_)")
STRIKE = re.compile(r"~~([\s\S]+?)~~(?!_)")
CODE = re.compile(r"(`+)([\s\S]*?[^`])\1(?!`)")
BREAK = re.compile(r" {2,}\n")
SPOILER = re.compile(r"\|\|([\s\S]+?)\|\|")
SPECIAL = re.compile(
    r"<@!?[0-9]+>|@everyone|@here|<@&[0-9]+>|<#[0-9]+>|<a?:\w+:[0-9]+>|<t:-?[0-9]+(?::[tTdDfFsSR])?>|</[^<>]+:[0-9]+>"
    r"|<id:[a-z-]+(?::[0-9]+)?>|<sound:[0-9]+:[0-9]+>|<@time:[^>]*>|:[\w+-]+(?:::skin-tone-[0-9])?:",
    re.ASCII,
)
SILENT = re.compile(rf"@silent(?![^{SPACE}])")
SHRUG = re.compile(r"¯\\_\(ツ\)_/¯")
TEXT = re.compile(
    rf"[\s\S]+?(?=[^0-9A-Za-z{SPACE}\xc0-\U0010ffff]|\n\n| {{2,}}\n|[0-9A-Za-z_]+:[^{SPACE}]|[0-9]+\.|\Z)"
)
INVITE = re.compile(r"discord\.(?:gg|gift|new)/|discord(?:app)?\.com/(?:invite|template|gifts|events)|dis\.gd/", re.I)
LABEL_RULES: Final = ("text", "strong", "em", "u", "s", "inlineCode", "spoiler", "br")
LABEL_KINDS: Final = {"text", "strong", "em", "u", "s", "code", "spoiler", "br", "list", "heading", "quote"}
PICTURE = re.compile("[\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001faff]")
"""Most of the characters that Discord shows as pictures."""
ALLOWED: Final = ("http", "https", "discord", "tel", "sms", "mailto")


class Reader:
    """``only``: the names of the rules, if not all."""

    def __init__(self, client: Client, only: Sequence[str] = ()) -> None:
        self._client = client
        rules = (rule for rule in self._rules() if not only or rule.name in only)
        self._all = sorted(rules, key=lambda rule: (rule.order, rule.weighs is None, rule.name))

    def read(self, content: str) -> list[Node]:
        return self._parse(re.sub(r"\r\n?", "\n", content).replace("\f", "").replace("\t", "    "), State())

    def _parse(self, source: str, state: State) -> list[Node]:
        found: list[Node] = []
        while source:
            rule, match = self._best(source, state)
            found += rule.parse(match, state)
            state.before = match[0]
            source = source[match.end() :]
        return found

    def _best(self, source: str, state: State) -> tuple[Rule, Match]:
        best: tuple[Rule, Match] | None = None
        quality = 0.0
        for rule in self._all:
            if best and rule.order > best[0].order:
                break
            if match := rule.match(source, state):
                weight = len(match[0]) + rule.weighs if rule.weighs is not None else 0.0
                if not best or weight > quality:
                    best, quality = (rule, match), weight
        assert best
        return best

    def _rules(self) -> Iterator[Rule]:
        yield Rule(0, "heading", self._match_heading, self._heading)
        yield Rule(0, "subtext", self._match_subtext, lambda match, state: self._inside("subtext", match[1], state))
        yield Rule(5, "codeBlock", lambda source, _: CODE_BLOCK.match(source), _code_block)
        yield Rule(7, "blockQuote", _match_quote, self._quote)
        yield Rule(8, "list", self._match_list, self._list)
        yield Rule(13, "escape", _match_escape, lambda match, _: [Node("text", match[1])])
        yield Rule(15, "autolink", _inline(AUTOLINK), _address)
        yield Rule(16, "mailto", _inline(MAILTO), _mailbox)
        yield Rule(16, "tel", _inline(TELEPHONE), lambda match, _: [Node("link", match[1], "tel:" + match[1])])
        yield Rule(17, "url", _match_url, _address)
        yield Rule(18, "link", _inline(LINK), self._link)
        yield Rule(22, "em", _inline(EM), lambda match, state: self._inside("em", match[2] or match[1], state), 0.2)
        yield Rule(22, "strong", _inline(STRONG), lambda match, state: self._inside("strong", match[1], state), 0.1)
        yield Rule(22, "u", _inline(UNDERLINE), lambda match, state: self._inside("u", match[1], state), 0.0)
        yield Rule(22, "s", _inline(STRIKE), lambda match, state: self._inside("s", match[1], state))
        yield Rule(24, "inlineCode", _inline(CODE), _code)
        yield Rule(25, "br", lambda source, _: BREAK.match(source), lambda match, _: [Node("br", "\n")])
        yield Rule(26, "emoticon", lambda source, _: SHRUG.match(source), lambda match, _: [Node("text", match[0])])
        yield Rule(26, "mention", lambda source, _: SPECIAL.match(source), lambda match, _: [Node("special", match[0])])
        yield Rule(26, "silent", _match_silent, lambda match, _: [Node("special", match[0])])
        yield Rule(26, "spoiler", lambda source, _: SPOILER.match(source), self._spoiler)
        yield Rule(26, "text", lambda source, _: TEXT.match(source), lambda match, _: [Node("text", match[0])])

    def _inside(self, kind: str, source: str, state: State, value: str = "") -> list[Node]:
        inline, state.inline = state.inline, True
        children = self._parse(source, state)
        state.inline = inline
        return [Node(kind, value=value, children=tuple(children))]

    def _spoiler(self, match: Match, state: State) -> list[Node]:
        return [Node("spoiler", children=tuple(self._parse(match[1], state)))]

    def _match_heading(self, source: str, state: State) -> Match | None:
        at_start = not state.before or state.before.endswith("\n")
        return HEADING[self._client].match(source) if state.headings and at_start and source[0] in " #" else None

    def _match_subtext(self, source: str, state: State) -> Match | None:
        at_start = not state.before or state.before.endswith("\n")
        return SUBTEXT.match(source) if at_start and source[0] == "-" else None

    def _heading(self, match: Match, state: State) -> list[Node]:
        return self._inside("heading", match[2].strip(), state, str(len(match[1])))

    def _quote(self, match: Match, state: State) -> list[Node]:
        many = re.match(" *>>> ?", match[0])
        source = match[0][many.end() :] if many else re.sub(r"^ *> ?", "", match[0], flags=re.MULTILINE)
        quoted, inline = state.in_quote, state.inline
        state.in_quote, state.inline = True, state.inline if many else True
        children = self._parse(source, state)
        state.in_quote, state.inline = quoted, inline
        return [Node("quote", children=tuple(children))]

    def _match_list(self, source: str, state: State) -> Match | None:
        before = state.before or ""
        if state.lists >= DEEPEST_LIST or source[0] not in "\n *-0123456789":
            return None
        if source[0] == "\n":
            return (
                LIST.match(source)
                if self._client is Client.NEW and before and not re.search(r"\n *\Z", before)
                else None
            )
        start = re.search(r"(?:\A|\n)( *)\Z", before)
        return LIST.match(source) if start and not (start[0] and not start[0].strip(" ")) else None

    def _list(self, match: Match, state: State) -> list[Node]:
        source = re.sub(r"\n{2,}\Z", "\n", match[0].removeprefix("\n"))
        first = re.match(rf"( *){BULLET} +", source)
        assert first
        indent = f" {{{len(first[1])},{len(first[1]) + 1}}}"
        item = rf"{indent}{BULLET} +[^\n]*(?:\n(?!{indent}{BULLET} )[^\n]*)*(?:\n|$)"
        if self._client is Client.OLD:
            item = rf"( *){BULLET} +[^\n]*(?:\n(?!\1{BULLET} )[^\n]*)*(?:\n|$)"
        texts = [one[0] for one in re.finditer(item, source, re.MULTILINE)]
        items: list[tuple[Node, ...]] = []
        loose = False
        for number, text in enumerate(texts):
            own = re.match(rf" *{BULLET} +", text) or first
            width = len(own[0] if self._client is Client.OLD else first[0])
            inner = re.sub(rf"\A *{BULLET} +", "", re.sub(rf"^ {{1,{width}}}", "", text, flags=re.MULTILINE))
            loose = "\n\n" in inner or (number == len(texts) - 1 and loose)
            inner = re.sub(r" *\n\Z", "\n\n" if loose else "", inner)
            within = replace(state, inline=not loose, lists=state.lists + 1, headings=False)
            items.append(tuple(_without_last_breaks(self._parse(inner, within))))
        start = match[2][:-1] if len(match[2]) > 1 else ""
        return [Node("list", value=str(max(1, int(start))) if start else "", items=tuple(items))]

    def _link(self, match: Match, state: State) -> list[Node]:
        """A link only if its label, read without escapes, is nothing but styled text."""
        label, url = match[1], re.sub(rf"\\([^0-9A-Za-z{SPACE}])", r"\1", match[2])
        raw = [Node("text", match[0])]
        if not label.strip() or not _leads(url) or INVITE.search(url) or PICTURE.search(label):
            return raw
        within = replace(state, escapes=False)
        if not set(_kinds(self._parse(label, replace(within)))) <= LABEL_KINDS:
            return raw
        return [Node("link", value=url, children=tuple(Reader(self._client, LABEL_RULES)._parse(label, within)))]


def _inline(pattern: re.Pattern[str]) -> Callable[[str, State], Match | None]:
    return lambda source, state: pattern.match(source) if state.inline else None


def _match_escape(source: str, state: State) -> Match | None:
    return ESCAPE.match(source) if state.inline and state.escapes else None


def _match_quote(source: str, state: State) -> Match | None:
    if state.in_quote or not re.search(r"\A\Z|\n *\Z", state.before or "") or source[0] not in " >":
        return None
    return QUOTE.match(source)


def _match_silent(source: str, state: State) -> Match | None:
    return SILENT.match(source) if not state.before else None


def _match_url(source: str, state: State) -> Match | None:
    """Without closing brackets that were not opened in it."""
    found = URL.match(source) if state.inline else None
    if not found:
        return None
    url = found[0]
    while url.endswith(")") and url.count("(") < url.count(")"):
        url = url[:-1]
    return re.match(re.escape(url), source)


def _address(match: Match, state: State) -> list[Node]:
    url = match[0].strip("<>")
    return [Node("link", url, url) if _leads(url) else Node("text", url)]


def _mailbox(match: Match, state: State) -> list[Node]:
    return [Node("link", match[1], "mailto:" + match[1].removeprefix("mailto:"))]


def _leads(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ALLOWED and (
            parts.scheme == "mailto" or ((parts.port or 1) > 0 and bool(parts.hostname))
        )
    except ValueError:
        return False


def _code_block(match: Match, state: State) -> list[Node]:
    return [Node("codeBlock", match[2], match[1] or "")]


def _code(match: Match, state: State) -> list[Node]:
    return [Node("code", re.sub(r"\A (?= *`)|(` *) \Z", r"\1", match[2]))]


def _without_last_breaks(nodes: list[Node]) -> list[Node]:
    return [
        replace(node, text=re.sub(rf"\n+[{SPACE}]*\Z", "", node.text)) if node.kind == "text" else node
        for node in nodes
    ]


def _kinds(nodes: list[Node] | tuple[Node, ...]) -> Iterator[str]:
    for node in nodes:
        yield node.kind
        for children in (node.children, *node.items):
            yield from _kinds(children)
