"""What the bot's calls do, by whatever name a platform knows them."""

from __future__ import annotations

import re
from typing import Final

_BY_PATH: Final = {
    **dict.fromkeys(("sendMessage", "messages", "chat.postMessage"), "send"),
    **dict.fromkeys(("editMessageText", "@original", "chat.update"), "edit"),
    **dict.fromkeys(("deleteMessage", "chat.delete"), "remove"),
    **dict.fromkeys(("answerCallbackQuery", "callback", "response_url"), "answer"),
    "setMyCommands": "commands",
    "sendChatAction": "typing",
}
"""By the end of the path; a call that is not here goes by that end itself."""
_OF_A_MESSAGE: Final = {"PATCH": "edit", "DELETE": "remove"}
_RESPONSE: Final = "/actions/"
_BUTTON: Final = re.compile(r"(?::|%3A)(once|stop)\b")


def deed(method: str, path: str, body: str) -> str:
    """``send``, ``edit``, ``remove``, ``answer`` (to a press), ``commands`` (the menu), ``typing``, or a call that only this
    platform has. What shows a message is named with what it shows: ``send-text``, ``edit-card``, ``edit-final``."""
    last = "response_url" if _RESPONSE in path else path.partition("?")[0].rpartition("/")[2]
    done = _OF_A_MESSAGE[method] if last.isdecimal() else _BY_PATH.get(last, last)
    return f"{done}-{_shown(body)}" if done in ("send", "edit") else done


def _shown(body: str) -> str:
    """By the buttons, which platforms write in many ways and whose payloads are ours."""
    pressed = _BUTTON.findall(body)
    return "card" if "once" in pressed else "text" if pressed else "final"
