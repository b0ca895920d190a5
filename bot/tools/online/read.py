"""What a page is once it is read: plain text, and its links apart."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Final, Literal
from urllib.parse import urljoin

Trouble = Literal["", "blank", "binary", "broken"]
MOST_LINKS: Final = 60
LABEL_CHARS: Final = 100
MOST_LINK_CHARS: Final = 1_000
_UNSEEN: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""What a page can say to a model without anybody seeing it, or show in another order than it is written."""


@dataclass(frozen=True, slots=True)
class Link:
    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Read:
    """``by`` is who wrote it, where and when, as far as the page says. ``is_whole``: no main text stood out, so this is
    everything on the page. ``is_cut``: its middle is left out."""

    trouble: Trouble
    text: str = ""
    title: str = ""
    by: str = ""
    links: tuple[Link, ...] = ()
    is_whole: bool = False
    is_cut: bool = False


def packed(read: Read) -> bytes:
    return json.dumps(asdict(read)).encode()


def unpacked(data: bytes) -> Read:
    """Raises ``ValueError`` for what ``packed`` did not make."""
    try:
        values = json.loads(data)
        links = tuple(Link(str(one["label"]), str(one["url"])) for one in values.pop("links"))
        return Read(**values, links=links)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("not what was read") from error


def visible(text: str) -> str:
    return _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def on_one_line(text: str, chars: int) -> str:
    line = " ".join(visible(text).split())
    return line if len(line) <= chars else f"{line[: chars - 1]}…"


def absolute(url: str, base: str) -> str:
    """ "" where it leads to no other page."""
    try:
        whole = urljoin(base, url.strip()).partition("#")[0]
    except ValueError:
        return ""
    is_page = whole.startswith(("http://", "https://")) and len(whole) <= MOST_LINK_CHARS
    return whole if is_page and whole != base.partition("#")[0] and not re.search(r"[\s<>\"\x00-\x1f]", whole) else ""


class Links:
    """Each address once, numbered from 1 in the order in which they come."""

    def __init__(self, base: str) -> None:
        self._base, self._found = base, dict[str, Link]()

    def number(self, label: str, url: str) -> int:
        """0 where it is no link that is kept."""
        whole = absolute(url, self._base)
        if not whole or (whole not in self._found and len(self._found) >= MOST_LINKS):
            return 0
        self._found.setdefault(whole, Link(on_one_line(label, LABEL_CHARS), whole))
        return list(self._found).index(whole) + 1

    @property
    def all(self) -> tuple[Link, ...]:
        return tuple(self._found.values())
