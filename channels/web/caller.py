"""An OpenAI request in the house's own words: its history, its tools, its wishes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from bot.attachments.intake import MOST_FILES
from bot.core.inbound import CallerRequest
from bot.core.model import Block, CallBlock, Message, ResultBlock, TextBlock
from bot.core.text import storable
from bot.core.tool import ToolCall, ToolSpec
from channels.web.parts import Brought, Malformed, Part, Reader, earlier, newest

OWN_MODEL: Final = "bowerbird"
"""The name that leaves the choice to the route."""
MOST_MESSAGES: Final = 2000
MOST_TOOLS: Final = 128
MOST_ENDS: Final = 4
"""As OpenAI takes."""

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Asked:
    """``text`` is the last user message ("" when the history ends with tool results); ``files`` are the newest of the whole
    conversation, in their order. The answer ends where the first of ``ends`` would come."""

    text: str
    files: tuple[Brought, ...]
    caller: CallerRequest
    model: str
    stream: bool
    include_usage: bool
    ends: tuple[str, ...] = ()


def asked(body: Mapping[str, Any]) -> Asked:
    """Raises ``Malformed``. Sampling parameters have no meaning here and are accepted without effect."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Malformed("messages must be a list with at least one message.", "messages")
    if len(messages) > MOST_MESSAGES:
        raise Malformed(f"messages holds more than {MOST_MESSAGES} messages.", "messages")
    if body.get("n") not in (None, 1):
        raise Malformed("Only one answer can be asked for (n = 1).", "n")
    shape = body.get("response_format")
    if shape is not None and not (isinstance(shape, dict) and shape.get("type") == "text"):
        raise Malformed("Only answers in plain text can be asked for.", "response_format")
    conversation = _Conversation()
    for at, message in enumerate(messages):
        conversation.take(message, f"messages[{at}]")
    text, files, history = conversation.end()
    model = _text(body.get("model", ""), "model")
    caller = CallerRequest(
        history=history,
        system="\n\n".join(conversation.system),
        tools=_tools(body),
        model="" if model == OWN_MODEL else model,
        max_tokens=_max_tokens(body),
    )
    options = body.get("stream_options") or {}
    if not isinstance(options, dict):
        raise Malformed("stream_options must be an object.", "stream_options")
    return Asked(
        text,
        files,
        caller,
        model or OWN_MODEL,
        body.get("stream") is True,
        options.get("include_usage") is True,
        _ends(body),
    )


class _Conversation:
    """Takes OpenAI messages one by one and checks that every call has its result in the very next messages."""

    def __init__(self) -> None:
        self.system: list[str] = []
        self._reader = Reader()
        self._messages: list[Message | tuple[Part, ...]] = []
        self._open: dict[str, str] = {}
        self._results: list[Block] = []
        self._last = ""

    def take(self, message: object, param: str) -> None:
        if not isinstance(message, dict):
            raise Malformed(f"{param} must be an object.", param)
        role = message.get("role")
        if self._open and role != "tool":
            missing = ", ".join(self._open)
            raise Malformed(f"{param}: the tool calls before it have no results yet ({missing}).", param)
        if role != "tool":
            self._flush()
        match role:
            case "system" | "developer":
                self.system.append(self._plain(message.get("content"), param))
                return
            case "user":
                self._messages.append(self._reader.read(message.get("content"), param))
            case "assistant":
                self._assistant(message, param)
            case "tool":
                self._result(message, param)
            case _:
                raise Malformed(f"{param}.role must be system, developer, user, assistant or tool.", f"{param}.role")
        self._last = str(role)

    def end(self) -> tuple[str, tuple[Brought, ...], tuple[Message, ...]]:
        """The new message, the files, and the history before it."""
        if self._open:
            raise Malformed(f"These tool calls have no results: {', '.join(self._open)}.", "messages")
        self._flush()
        if self._last not in ("user", "tool"):
            raise Malformed("The last message must be from the user, or a tool's result.", "messages")
        text, files = "", tuple[Brought, ...]()
        last = self._messages.pop() if self._last == "user" else ()
        if not isinstance(last, Message) and self._last == "user":
            text, files = newest(last, "messages")
            if not text.strip() and not files:
                raise Malformed("The last message is empty.", "messages")
        old = [part for said in self._messages if not isinstance(said, Message) for part in said]
        room = MOST_FILES - len(files)
        kept = [part for part in old if isinstance(part, Brought)][-room:] if room else []
        return text, (*(replace(file, spoken=False) for file in kept), *files), self._history(kept)

    def _history(self, kept: Sequence[Brought]) -> tuple[Message, ...]:
        return tuple(
            said if isinstance(said, Message) else Message("user", earlier(said, kept)) for said in self._messages
        )

    def _flush(self) -> None:
        if self._results:
            self._messages.append(Message("user", tuple(self._results)))
            self._results = []

    def _assistant(self, message: Mapping[str, Any], param: str) -> None:
        text = self._plain(message.get("content"), param) if message.get("content") is not None else ""
        blocks: list[Block] = [TextBlock(text)] if text else []
        calls = message.get("tool_calls") or []
        if not isinstance(calls, list):
            raise Malformed(f"{param}.tool_calls must be a list.", f"{param}.tool_calls")
        for call in calls:
            made = _call(call, f"{param}.tool_calls")
            self._open[made.id] = made.name
            blocks.append(CallBlock(made))
        if blocks:
            self._messages.append(Message("assistant", tuple(blocks)))

    def _result(self, message: Mapping[str, Any], param: str) -> None:
        call_id = message.get("tool_call_id")
        if not isinstance(call_id, str) or call_id not in self._open:
            raise Malformed(f"{param}.tool_call_id matches no tool call before it.", f"{param}.tool_call_id")
        self._results.append(ResultBlock(call_id, self._open.pop(call_id), self._plain(message.get("content"), param)))

    def _plain(self, content: object, param: str) -> str:
        """Text content where files make no sense."""
        parts = self._reader.read(content if content is not None else "", param)
        if any(not isinstance(part, TextBlock) for part in parts):
            raise Malformed(f"{param}.content must be text.", f"{param}.content")
        return "\n".join(part.text for part in parts if isinstance(part, TextBlock))


def _call(call: object, param: str) -> ToolCall:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict) or not isinstance(call.get("id"), str):
        raise Malformed(f"{param} must hold calls with an id and a function.", param)
    name = _text(function.get("name"), param)
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except (ValueError, TypeError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        return ToolCall(call["id"], name, invalid="the arguments are not a JSON object")
    return ToolCall(call["id"], name, arguments)


def _tools(body: Mapping[str, Any]) -> tuple[ToolSpec, ...]:
    tools, choice = body.get("tools") or [], body.get("tool_choice")
    if not isinstance(tools, list) or len(tools) > MOST_TOOLS:
        raise Malformed(f"tools must be a list of at most {MOST_TOOLS} tools.", "tools")
    specs = [_tool(tool, f"tools[{at}]") for at, tool in enumerate(tools)]
    if choice == "none":
        return ()
    if choice == "required":
        raise Malformed("That a tool is called cannot be promised here; leave tool_choice out.", "tool_choice")
    if isinstance(choice, dict):
        function = choice.get("function")
        wanted = function.get("name") if isinstance(function, dict) else None
        specs = [spec for spec in specs if spec.name == wanted]
        if not specs:
            raise Malformed("tool_choice names a tool that is not among the tools.", "tool_choice")
    return tuple(specs)


def _tool(tool: object, param: str) -> ToolSpec:
    function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
    if not isinstance(function, dict):
        raise Malformed(f"{param} must be of type function.", param)
    name, parameters = function.get("name"), function.get("parameters")
    if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
        raise Malformed(f"{param}: a tool's name is 1 to 64 letters, digits, _ or -.", param)
    if parameters is not None and not isinstance(parameters, dict):
        raise Malformed(f"{param}: parameters must be a JSON Schema object.", param)
    description = _text(function.get("description") or "", param)
    return ToolSpec(name, description, parameters or {"type": "object", "properties": {}})


def _ends(body: Mapping[str, Any]) -> tuple[str, ...]:
    stop = body.get("stop") or ()
    ends = (stop,) if isinstance(stop, str) else stop
    if not isinstance(ends, list | tuple) or len(ends) > MOST_ENDS or not all(isinstance(one, str) for one in ends):
        raise Malformed(f"stop must be a text or a list of at most {MOST_ENDS} texts.", "stop")
    return tuple(one for one in ends if one)


def _max_tokens(body: Mapping[str, Any]) -> int | None:
    for key in ("max_completion_tokens", "max_tokens"):
        value = body.get(key)
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise Malformed(f"{key} must be a whole number above 0.", key)
        return value
    return None


def _text(value: object, param: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Malformed(f"{param} must be text.", param)
    return storable(value)
