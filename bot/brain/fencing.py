"""How text from outside is set apart in a prompt."""

from __future__ import annotations

import re
from typing import Final

_UNFIT: Final = re.compile(r"[^\w .,:/@#+-]+")


def fenced(tag: str, text: str, **attributes: str) -> str:
    """``text`` between tags that it cannot close itself. ``attributes`` hold no signs that could end one."""
    harmless = text.replace("</", "<\u200b/")
    named = "".join(f' {key}="{_UNFIT.sub("_", value)}"' for key, value in attributes.items())
    return f"<{tag}{named}>\n{harmless}\n</{tag}>"
