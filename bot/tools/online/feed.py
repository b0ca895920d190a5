"""News feeds as text: RSS, Atom and JSON Feed, also damaged ones. Runs in the child process only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bot.attachments.ends import Ends
from bot.attachments.pages import read_page
from bot.tools.online.read import Read, absolute, on_one_line

MOST_ENTRIES: Final = 50
SUMMARY_CHARS: Final = 400
_DECLARATION: Final = re.compile(r"\A\s*<\?xml[^>]*\?>")
_ROOT: Final = re.compile(r"<(?:[a-z]+:)?(rss|rdf|feed)[\s>]", re.IGNORECASE)
_JSON_FEED: Final = "jsonfeed.org/version/"


@dataclass(frozen=True, slots=True)
class Entry:
    title: str
    url: str
    when: str
    summary: str


def read_feed(text: str, url: str) -> Read | None:
    """None where it is no feed."""
    found = _json_feed(text) if text.lstrip()[:1] == "{" else _xml_feed(text)
    if found is None:
        return None
    title, entries = found
    shown = "\n".join(_shown(number, entry, url) for number, entry in enumerate(entries[:MOST_ENTRIES], 1))
    left = len(entries) - MOST_ENTRIES
    note = f"\n[{left} older entries are left out.]" if left > 0 else ""
    return Read("" if shown else "blank", shown + note, on_one_line(title, 300))


def _shown(number: int, entry: Entry, base: str) -> str:
    when = f" ({on_one_line(entry.when, 40)})" if entry.when else ""
    lines = [f"{number}. {on_one_line(entry.title, 300) or 'Without a title'}{when}"]
    if where := absolute(entry.url, base):
        lines.append(f"   {where}")
    if summary := _plain(entry.summary):
        lines.append(f"   {summary}")
    return "\n".join(lines)


def _plain(html: str) -> str:
    ends = Ends(4 * SUMMARY_CHARS)
    read_page(html, ends)
    return on_one_line(ends.text, SUMMARY_CHARS)


def _json_feed(text: str) -> tuple[str, list[Entry]] | None:
    if _JSON_FEED not in text[:2000]:
        return None
    try:
        feed = json.loads(text)
        items = [item for item in feed["items"] if isinstance(item, Mapping)]
    except (ValueError, KeyError, TypeError):
        return None
    return str(feed.get("title", "")), [
        Entry(
            _string(item, "title"),
            _string(item, "url", "external_url"),
            _string(item, "date_published", "date_modified"),
            _string(item, "summary", "content_text", "content_html"),
        )
        for item in items
    ]


def _string(item: Mapping[str, Any], *keys: str) -> str:
    return next((value for key in keys if isinstance(value := item.get(key), str) and value.strip()), "")


def _xml_feed(text: str) -> tuple[str, list[Entry]] | None:
    from lxml import etree

    if not _ROOT.search(text[:4000]):
        return None
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True, remove_comments=True)
    root = etree.fromstring(_DECLARATION.sub("", text), parser)
    if root is None or _name(root) not in ("rss", "rdf", "feed"):
        return None
    channel = next((one for one in root if _name(one) == "channel"), root)
    entries = [_entry(one) for one in root.iter() if _name(one) in ("item", "entry")]
    return _first(channel, "title"), entries


def _entry(element: Any) -> Entry:
    return Entry(
        _first(element, "title"),
        _link(element),
        _first(element, "pubdate", "published", "updated", "date"),
        _first(element, "description", "summary", "content", "encoded"),
    )


def _first(element: Any, *names: str) -> str:
    for name in names:
        for child in element:
            if _name(child) == name and (text := "".join(child.itertext()).strip()):
                return text
    return ""


def _link(element: Any) -> str:
    """Atom's is an attribute, and the alternate one; RSS's is text, or an identifier that is one."""
    children: Iterable[Any] = [child for child in element if _name(child) == "link"]
    for child in children:
        if child.get("href") and child.get("rel", "alternate") == "alternate":
            return str(child.get("href"))
    text = next((child.text.strip() for child in children if child.text and child.text.strip()), "")
    guid = next((child for child in element if _name(child) == "guid"), None)
    if not text and guid is not None and guid.get("isPermaLink", "true") != "false":
        return (guid.text or "").strip()
    return text


def _name(element: Any) -> str:
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""
