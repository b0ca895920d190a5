"""The Markdown that models write, beyond CommonMark: formulas, bare links and Slack's, and emphasis beside Chinese
punctuation."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token

from bot.core.text import CJK
from bot.outbox.marks import LONGEST_BLOCK_LINES, flanking, formula_end, opening

_URL = re.compile(r"(?i:https?)://[^\s<>\"'`|\\^{}\u3000-\u303f\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]+")
_LABELLED = re.compile(r"<((?:https?://|mailto:)[^\s<>|]+)\|((?=[^<>|\n]{1,200}>)[^<>|\n]*\S[^<>|\n]*)>", re.IGNORECASE)
_TAIL = ".,;:!?*_~"
_PUNCTUATION = (".", ",", ";", ":", "。", "，", "；")


def speak(md: MarkdownIt) -> None:
    """Teach ``md`` the dialect."""
    formulas(md)
    md.inline.ruler.at("emphasis", _emphasis)
    md.inline.ruler.before("autolink", "labelled", _labelled)
    md.core.ruler.push("bare_links", _bare_links)


def formulas(md: MarkdownIt) -> None:
    """Teach ``md`` formulas alone. A token's ``content`` is TeX; its ``meta`` has the whole ``source``, whether it is a
    ``display``, and the punctuation ``behind`` it."""
    md.inline.ruler.before("escape", "formula", _inline_formula)
    md.block.ruler.before("fence", "formula", _block_formula, {"alt": ["paragraph", "blockquote", "list"]})


def _inline_formula(state: StateInline, silent: bool) -> bool:
    pair = opening(state.src, state.pos)
    end = formula_end(state.src, state.pos, *pair, state.posMax) if pair else -1
    if pair is None or end < 0:
        return False
    opener, closer = pair
    if not silent:
        source = state.src[state.pos : end + len(closer)]
        token = state.push("formula_inline", "math", 0)
        token.content = _inside(source, opener, closer)
        token.meta = {"display": opener not in ("$", "\\("), "source": source, "behind": ""}
    state.pos = end + len(closer)
    return True


def _inside(source: str, opener: str, closer: str) -> str:
    """Without its delimiters; an environment is its own."""
    return source if closer.startswith("\\end") else source[len(opener) : len(source) - len(closer)].strip()


def _block_formula(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    pair = opening(first, 0)
    if pair is None or pair[0] in ("$", "\\(") or state.sCount[start] - state.blkIndent >= 4:
        return False
    opener, closer = pair
    line, body = start, first[len(opener) :]
    while closer not in body:
        line += 1
        if line >= min(end, start + LONGEST_BLOCK_LINES) or state.isEmpty(line):
            return False
        body += "\n" + state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    content, _, rest = body.partition(closer)
    behind = rest.strip()
    if (behind and behind not in _PUNCTUATION) or not content.strip():
        return False
    if not silent:
        token = state.push("formula_block", "math", 0)
        token.block, token.map = True, [start, line + 1]
        token.content = _inside(opener + content + closer, opener, closer)
        token.meta = {"display": True, "source": opener + body, "behind": behind}
    state.line = line + 1
    return True


def _emphasis(state: StateInline, silent: bool) -> bool:
    """As CommonMark has it, except that a Chinese, Japanese or Korean neighbour counts as a word boundary.

    Otherwise ``**注意：**请`` would show its asterisks: the closing run stands between punctuation and a letter.
    """
    marker = state.src[state.pos]
    if silent or marker not in "*_":
        return False
    scanned = state.scanDelims(state.pos, marker == "*")
    opens, closes = scanned.can_open, scanned.can_close
    if marker == "*":
        before = state.src[state.pos - 1] if state.pos else " "
        after = state.src[state.pos + scanned.length : state.pos + scanned.length + 1] or " "
        if CJK.match(before) or CJK.match(after):
            may_open, may_close = flanking(before, after)
            opens, closes = opens or may_open, closes or may_close
    for _ in range(scanned.length):
        token = state.push("text", "", 0)
        token.content = marker
        state.delimiters.append(
            Delimiter(
                marker=ord(marker),
                length=scanned.length,
                token=len(state.tokens) - 1,
                end=-1,
                open=opens,
                close=closes,
            )
        )
    state.pos += scanned.length
    return True


def _labelled(state: StateInline, silent: bool) -> bool:
    """``<https://x.example|x>``: a link as Slack writes it, and models who know Slack. Its label is plain text."""
    found = _LABELLED.match(state.src, state.pos, state.posMax) if state.src[state.pos] == "<" else None
    href = state.md.normalizeLink(found[1]) if found else ""
    if not found or not state.md.validateLink(href):
        return False
    if not silent:
        state.push("link_open", "a", 1).attrs = {"href": href}
        state.push("text", "", 0).content = found[2].strip()
        state.push("link_close", "a", -1)
    state.pos = found.end()
    return True


def _bare_links(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline" and token.children and "://" in token.content:
            token.children = _linked(state.md, token.children)


def _linked(md: MarkdownIt, tokens: list[Token]) -> list[Token]:
    out: list[Token] = []
    inside = 0
    for token in tokens:
        inside += (token.type == "link_open") - (token.type == "link_close")
        if token.type == "text" and not inside and "://" in token.content:
            out += _split(md, token)
        else:
            out.append(token)
    return out


def _split(md: MarkdownIt, token: Token) -> list[Token]:
    out: list[Token] = []
    at = 0
    for match in _URL.finditer(token.content):
        url = trimmed(match[0])
        href = md.normalizeLink(url)
        if len(url) < 9 or not md.validateLink(href):
            continue
        out.append(_text(token, token.content[at : match.start()]))
        out.append(Token("link_open", "a", 1, attrs={"href": href}, level=token.level))
        out.append(_text(token, url))
        out.append(Token("link_close", "a", -1, level=token.level))
        at = match.start() + len(url)
    out.append(_text(token, token.content[at:]))
    return [one for one in out if one.type != "text" or one.content]


def trimmed(url: str) -> str:
    """Without what belongs to the sentence: closing punctuation, and a bracket that was not opened inside the address."""
    while url and (url[-1] in _TAIL or _closes_outside(url)):
        url = url[:-1]
    return url


def _closes_outside(url: str) -> bool:
    return any(url[-1] == closer and url.count(closer) > url.count(opener) for opener, closer in ("()", "[]"))


def _text(like: Token, content: str) -> Token:
    return Token("text", "", 0, content=content, level=like.level)
