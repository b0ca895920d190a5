"""How text from outside is set apart in a prompt."""

from __future__ import annotations


def fenced(tag: str, text: str) -> str:
    """``text`` between tags that it cannot close itself."""
    harmless = text.replace("</", "<\u200b/")
    return f"<{tag}>\n{harmless}\n</{tag}>"
