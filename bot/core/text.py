"""What text must be before it is stored or sent on."""

from __future__ import annotations


def storable(text: str) -> str:
    """``text`` without NUL and with lone surrogates replaced, so that every store, vendor and platform takes it."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def clipped(text: str, chars: int) -> str:
    """At most ``chars`` characters on one line, with an ellipsis where something was left out."""
    line = " ".join(text.split())
    return line if len(line) <= chars else line[: max(0, chars - 1)].rstrip() + "…"
