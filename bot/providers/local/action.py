"""The action: the one JSON object in which the model says either a reply or one tool call, and how it is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from bot.core.model import ModelEvent, ModelStop, ModelText, ModelThinking
from bot.core.tool import ToolSpec
from bot.providers.calls import CallIds, called, conclude
from bot.providers.chat_stream import ChatStream
from bot.providers.local.bounds import bounded

REPLY_CHARS: Final = 2000
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_BEGINS_REPLY: Final = re.compile(r'\s*\{\s*"reply"\s*:\s*"')
_PLAIN: Final = re.compile(r'[^"\\]+')


def action_schema(tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """``{"tool": name, "arguments": {…}}`` for each tool, or ``{"reply": text}``."""
    calls = [
        _closed({"tool": {"const": tool.name}, "arguments": bounded({"type": "object", **tool.parameters})})
        for tool in tools
    ]
    return {"anyOf": [*calls, _closed({"reply": {"type": "string", "maxLength": REPLY_CHARS}})]}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class StringDecoder:
    """The inside of a JSON string, decoded as it arrives; an escape or a surrogate pair may be cut anywhere.

    A surrogate without its other half becomes U+FFFD. After the closing quote everything is ignored.
    """

    def __init__(self) -> None:
        self._rest = ""
        self.closed = False

    def feed(self, text: str) -> str:
        """What can be told of the string by now and was not told before."""
        self._rest += text
        said: list[str] = []
        while self._rest and not self.closed:
            if plain := _PLAIN.match(self._rest):
                said.append(plain.group())
                self._rest = self._rest[plain.end() :]
            elif self._rest[0] == '"':
                self.closed = True
            elif not (taken := self._escape(said)):
                break
            else:
                self._rest = self._rest[taken:]
        return "".join(said)

    def _escape(self, said: list[str]) -> int:
        """Decode the escape at the front; returns its length, 0 when it is not all there."""
        rest = self._rest
        if len(rest) < 2:
            return 0
        if rest[1] != "u":
            said.append(_ESCAPES.get(rest[1], rest[1]))
            return 2
        if len(rest) < 6:
            return 0
        unit = _unit(rest[2:6])
        if not 0xD800 <= unit <= 0xDBFF:
            said.append("\ufffd" if 0xDC00 <= unit <= 0xDFFF else chr(unit))
            return 6
        if len(rest) < 12 and "\\u".startswith(rest[6:8]):
            return 0
        low = _unit(rest[8:12]) if rest[6:8] == "\\u" else 0
        if not 0xDC00 <= low <= 0xDFFF:
            said.append("\ufffd")
            return 6
        said.append(chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)))
        return 12


def _unit(digits: str) -> int:
    try:
        return int(digits, 16)
    except ValueError:
        return 0xFFFD


class ActionDecoder:
    """An action out of pieces of its text: a reply's words at once, a call when it is whole.

    ``text`` is everything so far. Text that is no JSON object at all (an engine without grammars) is a reply as it is.
    """

    def __init__(self) -> None:
        self.text = ""
        self._reply: StringDecoder | None = None
        self._bare = False

    @property
    def is_call(self) -> bool:
        return self._reply is None and not self._bare and bool(self.text.strip())

    def feed(self, piece: str) -> str:
        """The words of the reply that this piece adds; "" while the action is a call or not known yet."""
        self.text += piece
        if self._bare:
            return piece
        if self._reply is not None:
            return self._reply.feed(piece)
        stripped = self.text.lstrip()
        if stripped and stripped[0] != "{":
            self._bare = True
            return stripped
        if begun := _BEGINS_REPLY.match(self.text):
            self._reply = StringDecoder()
            return self._reply.feed(self.text[begun.end() :])
        return ""

    def call(self) -> tuple[str, Any]:
        """Name and arguments of the call; both empty where it was cut off before they could be told."""
        try:
            action = json.loads(self.text)
        except ValueError:
            return "", None
        if not isinstance(action, dict):
            return "", None
        return str(action.get("tool") or ""), action.get("arguments")


class ActionStream:
    """One answer that is an action; a parser like ``ChatStream``, which reads the wire for it."""

    def __init__(self, chat: ChatStream, ids: CallIds) -> None:
        self._chat, self._ids = chat, ids
        self._action = ActionDecoder()

    @property
    def complete(self) -> bool:
        return self._chat.complete

    @property
    def closed(self) -> bool:
        return self._chat.closed

    def feed(self, payload: str) -> list[ModelEvent]:
        return self._acted(self._chat.feed(payload))

    def end(self) -> list[ModelEvent]:
        return self._acted(self._chat.end())

    def _acted(self, events: Iterable[ModelEvent]) -> list[ModelEvent]:
        acted: list[ModelEvent] = []
        for event in events:
            if isinstance(event, ModelText):
                words = self._action.feed(event.text)
                acted.append(ModelText(words) if words else ModelThinking(""))  # nothing to show, but alive
            elif isinstance(event, ModelStop) and self._action.is_call:
                name, arguments = self._action.call()
                acted += conclude([called(self._ids.take(None), name, arguments)], event.reason, event.raw)
            else:
                acted.append(event)
        return acted
