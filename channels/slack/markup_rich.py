"""Leaves of styled text as the elements of a rich text block (docs.slack.dev, rich text block)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from bot.outbox.styled.leaves import Item, Leaf, Run

Element = dict[str, Any]

DEEPEST_INDENT: Final = 8
UNSEEN: Final = "\u200b"
"""Stands for nothing where Slack wants something."""
_STYLES: Final = {"bold": "bold", "italic": "italic", "strikethrough": "strike", "underline": "underline"}


def elements(leaves: Sequence[Leaf]) -> list[Element]:
    """Sections, lists, quotations and code, in the order in which they are shown one below the other."""
    builder = _Builder()
    for leaf in leaves:
        builder.add(leaf)
    return builder.found


class _Builder:
    """``_open`` is the section, quotation or item that a further line may join; ``_quote`` the quotation it is part of."""

    def __init__(self) -> None:
        self.found: list[Element] = []
        self._open: list[Element] | None = None
        self._quote = 0
        self._next = 0

    def add(self, leaf: Leaf) -> None:
        if leaf.code:
            self._code(leaf)
        elif leaf.items:
            for item in leaf.items[:-1]:
                self._item(item, leaf)
                _say(self._opened, Run(UNSEEN))
            self._item(leaf.items[-1], leaf)
            self._write(leaf)
        else:
            self._line(leaf)

    @property
    def _opened(self) -> list[Element]:
        assert self._open is not None
        return self._open

    @property
    def _kind(self) -> str:
        return str(self.found[-1]["type"]) if self.found else ""

    def _code(self, leaf: Leaf) -> None:
        self._close(leaf.gap)
        block: Element = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": leaf.text}]}
        if leaf.language.isascii() and leaf.language:
            block["language"] = leaf.language
        if leaf.quote:
            block["border"] = 1
        self.found.append(block)
        self._open = None

    def _line(self, leaf: Leaf) -> None:
        """A line of its own, or one more of what is open."""
        joins = "rich_text_list" if leaf.depth else "rich_text_quote" if leaf.quote else "rich_text_section"
        if self._open is not None and self._kind == joins and self._quote == leaf.quote:
            _say(self._open, Run("\n" * leaf.gap))
        else:
            self._close(leaf.gap)
            kind = "rich_text_quote" if leaf.quote else "rich_text_section"
            self._open = []
            self.found.append({"type": kind, "elements": self._open})
            if len(self.found) > 1 and leaf.gap > 1 and not leaf.quote:
                _say(self._open, Run("\n" * (leaf.gap - 1)))
        self._quote = leaf.quote
        self._write(leaf)

    def _close(self, gap: int) -> None:
        """A section shows the blank line below it; everything else has room around it."""
        if self._open is not None and self._kind == "rich_text_section" and gap > 1:
            _say(self._open, Run("\n" * gap))

    def _item(self, item: Item, leaf: Leaf) -> None:
        number = int(item.value[:-1]) if item.value[:-1].isdigit() else 0
        shape: Element = {"style": "ordered" if number else "bullet", "indent": min(item.level - 1, DEEPEST_INDENT)}
        if leaf.quote:
            shape["border"] = 1
        last = self.found[-1] if self._kind == "rich_text_list" else {}
        same = {key: last[key] for key in ("style", "indent", "border") if key in last} == shape
        if not same or self._quote != leaf.quote or (number and number != self._next):
            self._close(leaf.gap)
            if number > 1:
                shape["offset"] = number - 1
            self.found.append({"type": "rich_text_list", "elements": [], **shape})
        self._next, self._quote = number + 1, leaf.quote
        self._open = []
        self.found[-1]["elements"].append({"type": "rich_text_section", "elements": self._open})
        if item.value and not number:
            _say(self._open, Run(item.value + " "))

    def _write(self, leaf: Leaf) -> None:
        for run in leaf.runs:
            _say(self._opened, run, bold=leaf.heading > 0)
        if not self._opened:
            _say(self._opened, Run(UNSEEN))


def _say(found: list[Element], run: Run, *, bold: bool = False) -> None:
    style = {name: True for kind, name in _STYLES.items() if kind in run.styles or (bold and kind == "bold")}
    if run.code:
        style["code"] = True
    if run.link:
        made: Element = {"type": "link", "url": run.link}
        if run.text != run.link:
            made["text"] = run.text
    else:
        made = {"type": "text", "text": run.text}
    if style:
        made["style"] = style
    if found and not run.link and found[-1]["type"] == "text" and found[-1].get("style", {}) == style:
        found[-1]["text"] += run.text
    elif run.text:
        found.append(made)
