"""What of a conversation can be said again to a vendor: the one place that makes a history fit for the wire."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterable, Sequence
from typing import Final

from bot.core.model import Block, CallBlock, Message, ResultBlock, TextBlock, ThinkingBlock

log = logging.getLogger(__name__)

_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")  # Anthropic's alphabet, OpenAI's length
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_NAME_CHARS: Final = 64


def replayable(messages: Sequence[Message], vendor: str) -> tuple[Message, ...]:
    """The messages without what the vendor would refuse.

    Neighbours of one role are joined; blank texts and empty messages are gone; results stand first in a user message,
    in the order of their calls, and only behind those calls. Reasoning stays whole or goes whole: it stays where
    ``vendor`` wrote it and the tool loop that it belongs to is still running, because a vendor may bind a block to
    everything before it, and what stands before it is rebuilt with each new message of the person.
    """
    joined = _joined(messages)
    running = turn_start(joined)
    kept: list[Message] = []
    asked: list[str] = []
    for place, message in enumerate(joined):
        if message.role == "assistant":
            blocks = _assistant_blocks(message.content, vendor if place > running else None)
            asked = [block.call.id for block in blocks if isinstance(block, CallBlock)]
        else:
            blocks = _user_blocks(message.content, asked)
            asked = []
        if blocks:
            kept.append(Message(message.role, blocks))
    return _joined(kept)


def turn_start(messages: Sequence[Message]) -> int:
    """Where the person last spoke outside a tool loop; -1 when nowhere."""
    places = (place for place in range(len(messages) - 1, -1, -1) if _opens_turn(messages[place]))
    return next(places, -1)


def _opens_turn(message: Message) -> bool:
    return message.role == "user" and not any(isinstance(block, ResultBlock) for block in message.content)


def wire_id(call_id: str) -> str:
    """The id as every vendor takes it; the same id always becomes the same."""
    if _ID.fullmatch(call_id):
        return call_id
    return f"call_{hashlib.sha256(call_id.encode('utf-8', 'replace')).hexdigest()[:24]}"


def wire_name(name: str) -> str:
    """A tool's name as every vendor takes it; models also call tools that do not exist, by names nobody accepts."""
    return _NOT_IN_NAMES.sub("_", name)[:_NAME_CHARS] or "unnamed"


def _joined(messages: Iterable[Message]) -> tuple[Message, ...]:
    joined: list[Message] = []
    for message in messages:
        if joined and joined[-1].role == message.role:
            joined[-1] = Message(message.role, joined[-1].content + message.content)
        else:
            joined.append(message)
    return tuple(joined)


def _assistant_blocks(content: Sequence[Block], vendor: str | None) -> tuple[Block, ...]:
    kept = (block for block in content if not isinstance(block, ThinkingBlock) or block.vendor == vendor)
    return tuple(block for block in kept if not _is_blank(block))


def _user_blocks(content: Sequence[Block], asked: Sequence[str]) -> tuple[Block, ...]:
    results = {block.call_id: block for block in content if isinstance(block, ResultBlock)}
    orphans = results.keys() - set(asked)
    if orphans:
        log.warning("left out %d tool results whose call is not in the history", len(orphans))
    others = (block for block in content if not isinstance(block, ResultBlock) and not _is_blank(block))
    return (*(results[call_id] for call_id in asked if call_id in results), *others)


def _is_blank(block: Block) -> bool:
    return isinstance(block, TextBlock) and not block.text.strip()
