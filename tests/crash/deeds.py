"""What the bot's calls do, by whatever name a platform knows them."""

from __future__ import annotations

from typing import Final

_BY_PATH: Final = {
    "sendMessage": "send",
    "messages": "send",
    "editMessageText": "edit",
    "@original": "edit",
    "deleteMessage": "remove",
    "answerCallbackQuery": "answer",
    "callback": "answer",
    "setMyCommands": "commands",
    "sendChatAction": "typing",
}
"""By the end of the path; a call that is not here goes by that end itself."""
_OF_A_MESSAGE: Final = {"PATCH": "edit", "DELETE": "remove"}


def deed(method: str, path: str, body: str) -> str:
    """``send``, ``edit``, ``remove``, ``answer`` (to a press), ``commands`` (the menu), ``typing``, or a call that only this
    platform has. What shows a message is named with what it shows: ``send-text``, ``edit-card``, ``edit-final``."""
    last = path.rpartition("/")[2]
    done = _OF_A_MESSAGE[method] if last.isdecimal() else _BY_PATH.get(last, last)
    return f"{done}-{_shown(body)}" if done in ("send", "edit") else done


def _shown(body: str) -> str:
    """By the buttons, which platforms write in many ways and whose payloads are ours."""
    return "card" if ":once" in body else "text" if ":stop" in body else "final"
