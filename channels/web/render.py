"""Markdown as safe HTML: no markup of the model's own gets through, no picture is fetched, links lead only to the web.

The unit is the top-level block, so that a growing answer sends again only what still changes.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from mdit_py_plugins.tasklists import tasklists_plugin

from bot.outbox.dialect import speak
from bot.outbox.partial import repaired

LONGEST_BLOCK_CHARS: Final = 60_000
"""A single block beyond this is shown as plain text: rendering must never hold up the event loop."""

_SAFE_LINK = re.compile(r"(?:https?://|mailto:)[^\s]+", re.IGNORECASE)
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,30}")
_DEFINES = re.compile(r"^ {0,3}\[[^\]\n]+\]:", re.MULTILINE)

Env = MutableMapping[str, Any]
Placed = tuple[int, str]


class _Html(RendererHTML):
    """The render rules that differ from the library's."""

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Env) -> str:
        token = tokens[idx]
        token.attrs = {key: value for key, value in token.attrs.items() if key in ("href", "title")}
        token.attrs.update({"target": "_blank", "rel": "noopener noreferrer nofollow"})
        return self.renderToken(tokens, idx, options, env)

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Env) -> str:
        token = tokens[idx]
        source = str(token.attrGet("src") or "")
        label = self.renderInlineAsText(token.children or [], options, env) or source
        return (
            f'<a class="picture" href="{escape(source)}" target="_blank" rel="noopener noreferrer nofollow">'
            f"{escape(label)}</a>"
        )

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Env) -> str:
        return f"<{_lowered(tokens[idx].tag)}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Env) -> str:
        return f"</{_lowered(tokens[idx].tag)}>"

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Env) -> str:
        return '<div class="table" tabindex="0"><table>'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Env) -> str:
        return "</table></div>"

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Env) -> str:
        return _cell("th", tokens[idx])

    def td_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Env) -> str:
        return _cell("td", tokens[idx])

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Env) -> str:
        language = _LANGUAGE.match(tokens[idx].info.strip())
        return code_block(tokens[idx].content, language[0] if language else "")

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Env) -> str:
        return code_block(tokens[idx].content, "")

    def formula_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Env) -> str:
        return _formula(tokens[idx])

    def formula_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Env) -> str:
        return f'<div class="formula" tabindex="0">{_formula(tokens[idx])}</div>'


def _lowered(tag: str) -> str:
    """The page has its own h1 and h2: headings of an answer begin at h3."""
    return f"h{min(6, int(tag[1]) + 2)}"


def _cell(tag: str, token: Token) -> str:
    """The library writes the alignment as a style, which the page's content policy forbids: a class instead."""
    side = str(token.attrGet("style") or "").rpartition(":")[2]
    return f'<{tag} class="{side}">' if side in ("left", "right", "center") else f"<{tag}>"


def code_block(code: str, language: str) -> str:
    """Code with its language and a copy button; the page gives the button its label."""
    name = escape(language)
    kind = f' class="language-{name}"' if name else ""
    return (
        f'<div class="code"><div class="code-top"><span class="code-name">{name}</span>'
        '<button type="button" class="copy" data-copy="code"></button></div>'
        f'<pre dir="ltr" tabindex="0"><code{kind}>{escape(code, quote=False)}</code></pre></div>'
    )


def _formula(token: Token) -> str:
    from channels.web.formula import mathml  # a library comes with it, which most answers do not need

    drawn = mathml(token.content, display=bool(token.meta["display"]))
    if drawn is None:
        return f'<code class="math">{escape(str(token.meta["source"]))}</code>'
    return drawn + escape(str(token.meta["behind"]))


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False, "breaks": True, "xhtmlOut": False}, renderer_cls=_Html)
    md.enable(["table", "strikethrough"])
    md.use(tasklists_plugin)
    speak(md)
    md.validateLink = lambda url: bool(_SAFE_LINK.fullmatch(url.strip()))  # type: ignore[method-assign]
    return md


def _placed(source: str, env: Env) -> list[Placed]:
    """Each top-level block of ``source``: the line it begins at, and its HTML."""
    md = _markdown()
    if len(source) > LONGEST_BLOCK_CHARS:
        return [(0, f'<p class="plain">{escape(source, quote=False)}</p>')]
    out: list[Placed] = []
    group: list[Token] = []
    for token in md.parse(source, env):
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            line = group[0].map[0] if group[0].map else 0
            out.append((line, md.renderer.render(group, md.options, env).rstrip("\n")))
            group = []
    return out


def blocks(markdown: str) -> tuple[str, ...]:
    """The HTML of a finished answer, block by block."""
    grown = Growing()
    return grown.update(markdown, final=True)


class Growing:
    """The HTML of an answer while it grows. Closed blocks are kept; only the last two are rendered again.

    Two, because a line that is still being written may join the block before it (``2`` becomes ``2.``, a list item). A
    text that is not the last one with more behind it begins anew: where a block ends depends on what follows it.
    """

    def __init__(self) -> None:
        self._restart()

    def _restart(self) -> None:
        self._closed: list[str] = []
        self._source = self._last = ""
        self._env: Env = {}

    def update(self, markdown: str, *, final: bool) -> tuple[str, ...]:
        """The blocks of ``markdown``; an unfinished text is shown as it will look, without stray markers at its end."""
        markdown = markdown.replace("\r\n", "\n").replace("\r", "\n")
        if not markdown.startswith(self._last) or (final and _DEFINES.search(markdown)):
            self._restart()
        self._last = markdown
        if final and _DEFINES.search(markdown) and len(markdown) <= LONGEST_BLOCK_CHARS:
            return tuple(html for _, html in _placed(markdown, {}))
        tail = markdown[len(self._source) :]
        while len(tail) > LONGEST_BLOCK_CHARS // 2 and self._close(tail, keep=2):
            tail = markdown[len(self._source) :]
        placed = _placed(tail if final else repaired(tail), self._env)
        shown = (*self._closed, *(html for _, html in placed))
        if len(placed) > 2:
            self._seal(tail, placed, keep=2)
        return shown

    def _close(self, tail: str, *, keep: int) -> bool:
        """Close what can be closed near the beginning of a long tail; False when it is one block."""
        cut = tail.rfind("\n\n", 0, LONGEST_BLOCK_CHARS // 2)
        placed = _placed(tail[: cut + 2], self._env) if cut > 0 else []
        if len(placed) <= keep:
            return False
        self._seal(tail, placed, keep=keep)
        return True

    def _seal(self, tail: str, placed: list[Placed], *, keep: int) -> None:
        line = placed[-keep][0]
        lines = tail.split("\n", line)
        self._source += "\n".join(lines[:line]) + "\n" if line else ""
        self._closed += [html for _, html in placed[:-keep]]
