"""How the API says no: a status, a JSON error code, and for a form that is wrong the tree of its errors."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

CODES: dict[int, tuple[int, str]] = {
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10013: (404, "Unknown User"),
    10014: (400, "Unknown Emoji"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    10063: (404, "Unknown application command"),
    20012: (403, "You are not authorized to perform this action on this application"),
    30010: (400, "Maximum number of reactions reached (20)"),
    30015: (400, "Maximum number of attachments in a message reached (10)"),
    30032: (400, "Maximum number of application commands reached (100)"),
    30034: (429, "Max number of daily application command creates has been reached (200)"),
    30046: (429, "Maximum number of edits to messages older than 1 hour reached. Try again later."),
    40005: (413, "Request entity too large"),
    40060: (400, "Interaction has already been acknowledged."),
    40067: (400, "A tag is required to create a forum post in this channel"),
    50001: (403, "Missing Access"),
    50003: (403, "Cannot execute action on a DM channel"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50008: (400, "Cannot send messages in a non-text channel"),
    50013: (403, "Missing Permissions"),
    50021: (403, "Cannot execute action on a system message"),
    50024: (400, "Cannot execute action on this channel type"),
    50027: (401, "Invalid Webhook Token"),
    50033: (400, "Invalid Recipient(s)"),
    50035: (400, "Invalid Form Body"),
    50034: (400, "A message provided was too old to bulk delete"),
    50041: (400, "Invalid API version provided"),
    50083: (400, "Thread is archived"),
    50109: (400, "The request body contains invalid JSON."),
    50146: (400, "Uploaded file not found."),
    160002: (403, "Cannot reply without permission to read message history"),
    160004: (400, "A thread has already been created for this message"),
    160005: (403, "Thread is locked"),
    160006: (400, "Maximum number of active threads reached"),
}
"""Code: HTTP status and message (discord-api-docs, opcodes-and-status-codes)."""


BLAMED = frozenset(
    {30010, 30015, 30032, 40005, 40060, 40067, 50005, 50006, 50008, 50021, 50024, 50034, 50035, 50109, 50146}
)
"""Refusals that a careful app never meets: to have caused one is a violation."""


class Refused(Exception):
    """An answer other than 2xx. ``body`` is the JSON of the answer, ``wait`` the seconds of a 429."""

    def __init__(self, status: int, body: Json, *, wait: float = 0.0) -> None:
        super().__init__(f"{status} {body.get('message', '')}")
        self.status, self.body, self.wait = status, body, wait

    def why(self) -> str:
        """The code and the message, of a form the first thing that is wrong with it."""
        node, path = self.body.get("errors"), list[str]()
        while isinstance(node, dict) and "_errors" not in node:
            step, node = next(iter(node.items()))
            path.append(step)
        if isinstance(node, dict):
            return f"{self.code} {'.'.join(path)}: {node['_errors'][0]['message']}"
        return f"{self.code} {self.body.get('message', '')}"

    @property
    def code(self) -> int:
        return int(self.body.get("code", 0))


def refused(code: int) -> Refused:
    """The refusal of a JSON error code in CODES."""
    status, message = CODES[code]
    return Refused(status, {"message": message, "code": code})


def plain(status: int, words: str) -> Refused:
    """A refusal by the HTTP status alone, as for a wrong token."""
    return Refused(status, {"message": f"{status}: {words}", "code": 0})


class FormErrors:
    """Collects what is wrong with a form, by the path of the field ("embeds.0.title")."""

    def __init__(self) -> None:
        self._tree: Json = {}

    def add(self, path: str, code: str, message: str) -> None:
        node = self._tree
        for step in path.split(".") if path else ():
            node = node.setdefault(step, {})
        node.setdefault("_errors", []).append({"code": code, "message": message})

    def too_long(self, path: str, value: Any, limit: int, *, least: int = 0) -> None:
        """A string (or list) must have ``least`` to ``limit`` characters (Unicode code points) or items."""
        if len(value) > limit:
            if least:
                self.add(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {limit} in length.")
            else:
                self.add(path, "BASE_TYPE_MAX_LENGTH", f"Must be {limit} or fewer in length.")
        elif len(value) < least:
            self.add(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {limit} in length.")

    def required(self, path: str) -> None:
        self.add(path, "BASE_TYPE_REQUIRED", "This field is required")

    def raise_any(self) -> None:
        if self._tree:
            raise Refused(400, {"message": "Invalid Form Body", "code": 50035, "errors": self._tree})


def invalid(path: str, code: str, message: str) -> Refused:
    """The refusal of a form with one error."""
    errors = FormErrors()
    errors.add(path, code, message)
    try:
        errors.raise_any()
    except Refused as refusal:
        return refusal
    raise AssertionError("an error was added")
