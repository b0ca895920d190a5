"""Tool calls that a local model writes as JSON text instead of using the call field: found, held back, never shown."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

_TAGS = ("<tool_call>", "<function_call>", "[TOOL_CALLS]")
_LONGEST = max(len(tag) for tag in _TAGS)
_FIRSTS = frozenset(tag[0] for tag in _TAGS)
_FENCES = ("```json", "```tool_call", "```")
_NAME_KEYS = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args")
_OTHER_KEYS = (*_ARGUMENT_KEYS, "type", "id")
_TAG = re.compile(r"<tool_call>|<function_call>|\[TOOL_CALLS\]")
_DRESS = re.compile(r"</?(?:tool_call|function_call)>|\[TOOL_CALLS\]|```(?:json|tool_call)?|[\s,;\[\]]")
_HEAD = re.compile(r'\{\s*(?:"(?P<key>\w*)(?P<shut>"?)\s*:?\s*(?:"(?P<value>[^"]*)(?P<end>"?)|(?P<other>[^"\s]))?)?')
_BROKEN = re.compile(r'"(?:name|tool|tool_name|function)"\s*:\s*"(?P<name>[^"]+)"')
_BROKEN_ARGUMENTS = re.compile(r'"(?:arguments|parameters|args)"\s*:\s*(?P<text>\{.*)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class SpokenCall:
    """``arguments`` is what stood there: an object, or the text of one that may be broken."""

    name: str
    arguments: Any


class SpokenCalls:
    """Holds text back from where it begins to look like a call of one of the offered tools, until the answer ends.

    A call may stand at the start of the answer (bare, in a list, in a fence) or behind a call tag anywhere in it.
    JSON that names no offered tool is an ordinary answer.
    """

    def __init__(self, tools: Collection[str]) -> None:
        self._tools = frozenset(tools)
        self._held = ""
        self._at_start = True
        self._holding = False

    def feed(self, text: str) -> str:
        """What of the text may be shown now."""
        if not self._tools:
            return text
        self._held += text
        if self._holding:
            return ""
        if self._at_start:
            if _may_be_call(self._held, self._tools):
                return ""
            self._at_start = False
        found = _TAG.search(self._held)
        self._holding = found is not None
        shown = found.start() if found else len(self._held) - _tag_beginning(self._held)
        text, self._held = self._held[:shown], self._held[shown:]
        return text

    def end(self) -> tuple[str, list[SpokenCall]]:
        """The calls that were spoken, and the text that was held back and turned out to be none."""
        held, self._held = self._held, ""
        calls, rest = _spoken(held, self._tools) if held.strip() else ([], held)
        return (rest if calls else held), calls


def _tag_beginning(text: str) -> int:
    """How many characters at the end of ``text`` may be the beginning of a call tag."""
    tail = text[1 - _LONGEST :]
    opened = max(tail.rfind(first) for first in _FIRSTS)
    if opened < 0:
        return 0
    return len(tail) - opened if any(tag.startswith(tail[opened:]) for tag in _TAGS) else 0


def _may_be_call(text: str, tools: Collection[str]) -> bool:
    """Whether an answer that begins like this can still turn out to be a call of one of the tools."""
    body = text.lstrip()
    for opening in (*_TAGS, *_FENCES):
        if body and opening.startswith(body):
            return True
        if body.startswith(opening):
            body = body[len(opening) :].lstrip()
            break
    body = body.removeprefix("[").lstrip()
    head = _HEAD.match(body)
    if head is None:
        return not body
    key, whole_key, value = head["key"], bool(head["shut"]), head["value"]
    if key is None:
        return head.end() == len(body)
    if not whole_key:
        return head.end() == len(body) and any(known.startswith(key) for known in (*_NAME_KEYS, *_OTHER_KEYS))
    if key not in (*_NAME_KEYS, *_OTHER_KEYS):
        return False
    if key in _NAME_KEYS and value is not None:
        return value in tools if head["end"] else any(name.startswith(value) for name in tools)
    return key in _OTHER_KEYS or head["other"] in (None, "{")


def _spoken(text: str, tools: Collection[str]) -> tuple[list[SpokenCall], str]:
    """All calls in a held text and what remains of it. No calls when any JSON in it is not a call."""
    calls: list[SpokenCall] = []
    at = _undressed(text, 0)
    while at < len(text) and text[at] == "{":
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(text, at)
        except (ValueError, RecursionError):
            broken = _broken_call(text[at:], tools)
            return ([*calls, broken], "") if broken else ([], text)
        call = _call_in(value, tools)
        if call is None:
            return [], text
        calls.append(call)
        at = _undressed(text, end)
    return calls, text[at:]


def _undressed(text: str, at: int) -> int:
    while match := _DRESS.match(text, at):
        at = match.end()
    return at


def _call_in(value: Mapping[str, Any], tools: Collection[str]) -> SpokenCall | None:
    """The call that an object is: it names an offered tool and has arguments."""
    inner = value.get("function")
    source = inner if isinstance(inner, dict) else value
    name = next((source[key] for key in _NAME_KEYS if isinstance(source.get(key), str)), "")
    key = next((key for key in _ARGUMENT_KEYS if key in source), None)
    return SpokenCall(name, source[key]) if name in tools and key is not None else None


def _broken_call(text: str, tools: Collection[str]) -> SpokenCall | None:
    """A call that stops in the middle or is malformed: its name, and its arguments as far as they go."""
    name = _BROKEN.search(text)
    if name is None or name["name"] not in tools:
        return None
    arguments = _BROKEN_ARGUMENTS.search(text)
    return SpokenCall(name["name"], arguments["text"] if arguments else "{")
