"""How Slack shows a rich text block, and how it reads mrkdwn: models of its rules as far as they are documented."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from bot.outbox.styled.links import inserted
from bot.outbox.styled.spans import STYLES, Styled
from channels.slack.markup_mrkdwn import LOOKALIKES
from tests.outbox.styled.sight import INVISIBLE, Look, Page, Sight, look, sights

DEEPEST: Final = 9
STYLE_NAMES: Final = {"bold": "bold", "italic": "italic", "strike": "strikethrough", "underline": "underline"}
MARKERS: Final = {"*": "bold", "_": "italic", "~": "strikethrough"}
PLAIN: Final = {lookalike: char for char, lookalike in LOOKALIKES.items()}
TOKEN: Final = re.compile(
    r"```\n(?P<block>.*?)\n```|`(?P<code>[^`\n]+)`|<(?P<url>[^|>\n]+)(?:\|(?P<label>[^>\n]*))?>|(?P<char>&\w+;|[\s\S])",
    re.DOTALL,
)

Seen = tuple[str, Look]
"""A visible character."""


def barred(styled: Styled) -> Styled:
    """With bars where Slack has no spoiler."""
    ends = sorted(at for span in styled.spans if span.kind == "spoiler" for at in (span.start, span.end))
    return inserted(styled, [(at, "||") for at in ends])


def wanted(styled: Styled) -> list[Sight]:
    """Slack has no headings and no spoilers, and only items are indented."""
    return [_flat(sight) for sight in sights(barred(styled), headings=0, deepest=DEEPEST)]


def seen(blocks: Sequence[dict[str, Any]]) -> list[Sight]:
    page = Page()
    for block in blocks:
        assert block["type"] == "rich_text"
        assert block["elements"]
        for element in block["elements"]:
            _element(page, element)
            page.end()
    return [_flat(sight) for sight in page.seen()]


def _flat(sight: Sight) -> Sight:
    looks = tuple(replace(one, styles=one.styles - {"spoiler"}) for one in sight.looks)
    return replace(sight, looks=looks, depth=sight.depth if sight.marker else 0, outer=0, gap=0)


def _element(page: Page, element: dict[str, Any]) -> None:
    kind = element["type"]
    page.where = Sight("", quoted=kind == "rich_text_quote" or element.get("border") == 1)
    if kind == "rich_text_preformatted":
        assert set(element) <= {"type", "elements", "border", "language"}
        page.code("".join(one["text"] for one in element["elements"]), element.get("language", ""))
    elif kind == "rich_text_list":
        _list(page, element)
    else:
        assert kind in ("rich_text_section", "rich_text_quote")
        assert set(element) == {"type", "elements"}
        _section(page, element["elements"])


def _list(page: Page, element: dict[str, Any]) -> None:
    assert 0 <= element["indent"] < DEEPEST
    page.where = replace(page.where, depth=element["indent"] + 1)
    for number, item in enumerate(element["elements"], element.get("offset", 0) + 1):
        assert item["type"] == "rich_text_section"
        page.mark(f"{number}." if element["style"] == "ordered" else "•")
        _section(page, item["elements"])
        page.end()


def _section(page: Page, elements: Sequence[dict[str, Any]]) -> None:
    assert elements
    for one in elements:
        style = one.get("style", {})
        assert all(value is True for value in style.values())
        styles = {STYLE_NAMES[name] for name in style if name != "code"}
        text = one.get("text") or one["url"]
        assert one["type"] in ("text", "link")
        page.write(text, look(styles, one.get("url", ""), "code" in style))


def visible(styled: Styled) -> list[Seen]:
    """The characters that mrkdwn should show. A label has only the styles that all of it has."""
    page, found = barred(styled), list[Seen]()
    for at, char in enumerate(page.text):
        kinds = [span for span in page.spans if span.start <= at < span.end]
        styles = {span.kind for span in kinds if span.kind in STYLES} - {"spoiler", "underline"}
        styles |= {"bold" for span in kinds if span.kind == "heading"}
        link = next((span for span in kinds if span.kind == "text_link"), None)
        block = any(span.kind == "pre" for span in kinds)
        code = next(
            (span for span in kinds if span.kind == "code" and "`" not in page.text[span.start : span.end]), None
        )
        one = Look(frozenset({"pre"})) if block else look(styles, link.value if link else "", bool(code and not link))
        found.append((PLAIN.get(char, char), one))
    return [one for one in _labels(found) if not one[0].isspace() and not INVISIBLE.fullmatch(one[0])]


def _labels(found: Sequence[Seen]) -> Iterator[Seen]:
    for link, group in groupby(found, key=lambda one: one[1].link):
        label = list(group)
        common = frozenset.intersection(*(one.styles for _, one in label)) if link else None
        for char, one in label:
            yield char, one if common is None else replace(one, styles=common)


def read(text: str) -> list[Seen]:
    """What mrkdwn shows. A marker opens behind a border and before a character, and closes the other way round."""
    found: list[Seen] = []
    for line in _lines([(token, _look(token)) for token in TOKEN.finditer(text)]):
        found += [(PLAIN.get(char, char), one) for char, one in _styled(line)]
    return [one for one in found if not one[0].isspace() and not INVISIBLE.fullmatch(one[0])]


def _look(token: re.Match[str]) -> Look | None:
    if token["block"] is not None:
        return Look(frozenset({"pre"}))
    if token["url"]:
        return look(link=html.unescape(token["url"]))
    return look(code=True) if token["code"] else None


def _lines(tokens: Sequence[tuple[re.Match[str], Look | None]]) -> Iterator[list[Seen | tuple[str, None]]]:
    """Lines of characters that look as they do, or are still to be read; without the bars of quotations."""
    line: list[Any] = []
    for token, one in tokens:
        content = next(filter(None, (token["block"], token["code"], token["label"], token["url"], token["char"])), "")
        if not line and token["char"] == "&gt;":
            continue
        if content == "\n" and one is None:
            yield line
            line = []
        else:
            line += [(char, one) for char in html.unescape(content)]
    yield line


def _styled(line: Sequence[tuple[str, Look | None]]) -> Iterator[Seen]:
    at = 0
    while at < len(line):
        char, one = line[at]
        end = _closing(line, at) if one is None and char in MARKERS else -1
        if end > 0:
            inner = _styled(line[at + 1 : end])
            yield from ((c, x if x.code else replace(x, styles=x.styles | {MARKERS[char]})) for c, x in inner)
            at = end
        else:
            yield char, one or Look()
        at += 1


def _closing(line: Sequence[tuple[str, Look | None]], at: int) -> int:
    """Where what opens at ``at`` closes; -1 if nothing opens there."""
    if (at and not _borders(line[at - 1])) or at + 1 >= len(line) or _space(line[at + 1]):
        return -1
    for end in range(at + 2, len(line)):
        closes = line[end] == line[at] and not _space(line[end - 1])
        if closes and (end + 1 == len(line) or _borders(line[end + 1])):
            return end
    return -1


def _borders(one: tuple[str, Look | None]) -> bool:
    return one[1] is not None or not one[0].isalnum()


def _space(one: tuple[str, Look | None]) -> bool:
    return one[1] is None and (one[0].isspace() or bool(INVISIBLE.fullmatch(one[0])))


def same(one: Sequence[Seen], other: Sequence[Seen]) -> str:
    """Where the two differ; "" if they do not."""
    for number, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return (
                f"{number}: {left} {right} in {''.join(char for char, _ in one[max(0, number - 20) : number + 20])!r}"
            )
    return "" if len(one) == len(other) else f"{len(one)} and {len(other)} characters"
