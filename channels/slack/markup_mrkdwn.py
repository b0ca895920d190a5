"""Leaves of styled text as mrkdwn, Slack's own markup, which cannot be escaped but for three characters."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from bot.outbox.styled.leaves import Leaf, Run
from bot.outbox.styled.nesting import Atom, nested

GUARD: Final = "\u200b"
"""Makes a border between words that nobody sees; markers are read only at one (so do others: slackify-markdown)."""
MARKS: Final = {"bold": "*", "italic": "_", "strikethrough": "~"}
LOOKALIKES: Final[Mapping[str, str]] = {"*": "\u2217", "_": "\u02cd", "~": "\u223c", "`": "\u02cb"}
"""What stands for a character that would be read as a marker (so do others: jsx-slack)."""
INDENT: Final = "    "

_MARK = re.compile(r"`|(?<![^\W_])[*_~](?! )|(?<! )[*_~](?![^\W_])")
_PING = re.compile(r"@(?=channel|here|everyone)", re.IGNORECASE)
_EMOJI = re.compile(r":(?=[\w+'-]+:)")


def mrkdwn(leaves: Sequence[Leaf]) -> str:
    """Line for line what the rich text says, without its lists and headings being more than lines."""
    pieces: list[str] = []
    for number, leaf in enumerate(leaves):
        if number:
            quoted = leaf.quote and leaf.quote == leaves[number - 1].quote and not leaf.code
            pieces.append("\n" + ("&gt; \n" if quoted else "\n") * (leaf.gap - 1))
        pieces.append(_leaf(leaf))
    return "".join(pieces)


def _leaf(leaf: Leaf) -> str:
    if leaf.code:
        code = re.sub("``(?=`)", f"``{GUARD}", html.escape(leaf.text, quote=False))
        return f"```\n{code}\n```"
    bar = "&gt; " if leaf.quote else ""
    indent = INDENT * ((leaf.items[0].level - 1) if leaf.items else leaf.depth)
    markers = "".join(item.text.rstrip() + " " for item in leaf.items)
    text = _written(leaf)
    guard = GUARD if text.startswith("&gt;") and not markers else ""
    return f"{bar}{indent}{markers}{guard}{text}".rstrip()


def _written(leaf: Leaf) -> str:
    heading = frozenset({"bold"}) if leaf.heading else frozenset[str]()
    atoms = (Atom(atom.markup, atom.styles | heading) for atom in _atoms(leaf.runs))
    return nested(list(atoms), MARKS, _border)


def _atoms(runs: Sequence[Run]) -> Iterator[Atom]:
    for link, group in groupby(runs, key=lambda run: run.link):
        linked = list(group)
        if link:
            label = "".join(run.text for run in linked)
            url = link.replace("|", "%7C").replace("<", "%3C").replace(">", "%3E").replace("&", "&amp;")
            styles = frozenset.intersection(*(run.styles for run in linked))
            yield Atom(f"<{url}>" if label == link else f"<{url}|{_neutral(label)}>", styles)
            continue
        for run in linked:
            code = run.code and "`" not in run.text
            yield Atom(f"`{html.escape(run.text, quote=False)}`" if code else _neutral(run.text), run.styles)


def _neutral(text: str) -> str:
    """Plain text in which nothing is a marker, a mention or an entity."""
    text = _MARK.sub(lambda found: LOOKALIKES[found[0]], text)
    text = _EMOJI.sub(":" + GUARD, _PING.sub("@" + GUARD, text))
    return html.escape(text, quote=False)


def _border(before: str, closing: str, opening: str, after: str) -> str:
    """Markers are read as such only between words."""
    left = GUARD if not closing and before and not before.isspace() else ""
    right = GUARD if closing and (opening or (after and not after.isspace())) else ""
    return left + closing + right + opening
