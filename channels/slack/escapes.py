"""Slack's own writing of text: mentions, links and entities in what people wrote, and what must be escaped in ours."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Final

_ANGLE = re.compile(r"<([@#!][^<>\n]+|[a-z][a-z0-9+.-]*:[^<>\n]+)>")
_PERSON = re.compile(r"<@([A-Z0-9]+)(?:\|[^<>\n]*)?>")
_EDGE: Final = " \t\n,:;.!?—–-"
"""What may stand between a mention and the words that are meant."""


def people_in(text: str) -> tuple[str, ...]:
    """The ids of everybody who is mentioned, each once."""
    return tuple(dict.fromkeys(_PERSON.findall(text)))


def without_me(text: str, me: str) -> tuple[str, bool, bool]:
    """The text without mentions of ``me`` at its edges; whether there was a mention anywhere; whether it began with one."""
    mention = re.compile(rf"<@{re.escape(me)}(?:\|[^<>\n]*)?>")
    if mention.search(text) is None:
        return text, False, False
    began, left = False, text.strip()
    while found := mention.match(left):
        began, left = True, left[found.end() :].lstrip(_EDGE)
    while (found := mention.search(left)) and (last := list(mention.finditer(left))[-1]).end() == len(left):
        left = left[: last.start()].rstrip()
    return left, True, began


def names_somebody(text: str) -> bool:
    """Whether it begins with a mention: it is said to that person."""
    return _PERSON.match(text.lstrip()) is not None


def readable(text: str, names: Mapping[str, str]) -> str:
    """What people see of ``text``. ``names`` are those of people, by id."""
    return html.unescape(_ANGLE.sub(lambda found: _shown(found[1], names), text))


def _shown(inside: str, names: Mapping[str, str]) -> str:
    """Still escaped: the label and the address are written so as well."""
    target, _, label = inside.partition("|")
    if target.startswith("@"):
        return "@" + html.escape(names.get(target[1:]) or label.lstrip("@") or target[1:], quote=False)
    if target.startswith("#"):
        return "#" + (label or target[1:])
    if target.startswith("!"):
        kind = target[1:].split("^")[0]
        return label or f"@{kind}"
    if target.startswith("mailto:"):
        address = target.removeprefix("mailto:")
        return address if label in ("", address) else f"{label} ({address})"
    if not label or target.removeprefix("https://").removeprefix("http://").rstrip("/") == label.rstrip("/"):
        return target
    return target if label == target else f"{label} ({target})"


def escaped(text: str) -> str:
    """Plain text for a field that Slack reads as mrkdwn: nothing in it is a mention, a link or an entity."""
    return html.escape(text, quote=False)
