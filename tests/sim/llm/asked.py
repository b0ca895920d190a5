"""What a request asks, in words all three vendors share, so that one matcher serves them all."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """`tool_result`: the request ends in tool results. `turn` and `step` count as described in `script.When`."""

    vendor: str
    endpoint: str
    model: str
    nth: int
    user_text: str = ""
    system_text: str = ""
    body_text: str = ""
    tool_result: bool = False
    turn: int = 0
    step: int = 1


def plain_text(content: Any) -> str:
    """The text of a message content given as a string or as a list of blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = (block for block in content if isinstance(block, Mapping) and block.get("type") == "text")
    return "\n".join(str(block.get("text", "")) for block in blocks)


def _is_result(message: Mapping[str, Any]) -> bool:
    if message.get("role") == "tool":
        return True
    content = message.get("content")
    return isinstance(content, list) and any(
        isinstance(block, Mapping) and block.get("type") == "tool_result" for block in content
    )


def read(vendor: str, endpoint: str, nth: int, body: Mapping[str, Any]) -> Asked:
    """Read a request body of any vendor; wrong shapes read as empty, for the rules to refuse."""
    listed = body.get("messages")
    messages = [m for m in listed if isinstance(m, Mapping)] if isinstance(listed, list) else []
    user_text, turn, step, system = "", 0, 1, [plain_text(body.get("system"))]
    for message in messages:
        role, said = message.get("role"), plain_text(message.get("content"))
        if role in ("system", "developer"):
            system.append(said)
        elif role == "assistant":
            step += 1
        elif role == "user" and (said or not _is_result(message)):
            user_text, turn, step = said, turn + 1, 1
    talk = [m for m in messages if m.get("role") not in ("system", "developer")]
    return Asked(
        vendor=vendor,
        endpoint=endpoint,
        model=str(body.get("model", "")),
        nth=nth,
        user_text=user_text,
        system_text="\n".join(part for part in system if part),
        body_text=json.dumps(body, ensure_ascii=False),
        tool_result=bool(talk) and _is_result(talk[-1]),
        turn=turn,
        step=step,
    )
