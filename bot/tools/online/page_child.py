"""The process in which a page of unknown origin is read: it has what ``bot.attachments.child`` leaves such a process, gets
a line of JSON and the page on its standard input, and says what it read on its standard output."""

from __future__ import annotations

import json
import sys

from bot.attachments.child import confine
from bot.attachments.ends import Ends
from bot.tools.online.charset import text_of
from bot.tools.online.feed import read_feed
from bot.tools.online.html import read_html
from bot.tools.online.read import Read, packed, visible

_MARKUP = ("<!doctype", "<html", "<head", "<body", "<!--", "<div", "<p>", "<p ", "<h1", "<table")


def read(body: bytes, url: str, media_type: str, charset: str, chars: int) -> Read:
    text = text_of(body, charset)
    if text is None:
        return Read("binary")
    if not text.strip():
        return Read("blank")
    beginning = text.lstrip("\ufeff \t\r\n")[:200].lower()
    if not beginning.startswith(("<!doctype html", "<html")) and (feed := read_feed(text, url)) is not None:
        return feed
    if "html" in media_type or (media_type in ("", "application/octet-stream") and beginning.startswith(_MARKUP)):
        return read_html(text, url, chars)
    ends = Ends(chars)
    ends.add(visible(text).strip())
    return Read("", ends.text, is_cut=ends.is_cut)


def main() -> None:
    confine()
    head, _, body = sys.stdin.buffer.read().partition(b"\n")
    asked = json.loads(head)
    try:
        found = read(body, asked["url"], asked["media_type"], asked["charset"], asked["chars"])
    except (MemoryError, RecursionError):
        found = Read("broken")
    except Exception:  # noqa: BLE001 - the libraries raise what they like at a damaged page
        found = Read("broken")
    sys.stdout.buffer.write(packed(found))


if __name__ == "__main__":
    main()
