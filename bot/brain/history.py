"""Rows to messages: whole turns, every call with its result, the newest that fit the budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Final

from bot.brain.fencing import fenced
from bot.brain.files import fitting, in_prompt, shown
from bot.brain.handles import handle_of, pointing
from bot.brain.tokens import MESSAGE_TOKENS, estimated_tokens
from bot.core.inbound import Quote
from bot.core.model import Block, CallBlock, ImageBlock, Message, ResultBlock, TextBlock, ThinkingBlock
from bot.core.transcript import EndRow, GivenRow, OverheardRow, ResultRow, Row, StepRow, UserRow, as_revised

NO_PICTURES: Final[Mapping[str, bytes]] = MappingProxyType({})
NO_RESULT = "No result: the call was not finished."
CONTINUE = (
    "Your answer was cut off at the end of the text above. Go on from exactly that point: no apology, no recap,"
    " do not repeat anything, do not start anew."
)
Behind = Callable[[Sequence[Row]], str]
"""What stands behind the first words of a turn with these rows, in its own prompts and in those of later turns."""


def nothing_behind(rows: Sequence[Row]) -> str:
    """Implements ``Behind`` for models to which more than the words is only a distraction."""
    return ""


UNANSWERED = "<note>\nThis got no answer at the time. Come back to it only if the person does.\n</note>"


def user_text(text: str, quote: Quote | None) -> str:
    """What the person wrote, with what they quoted or forwarded set apart as coming from outside."""
    if quote is None or not quote.text:
        return text
    return f"{fenced('forwarded' if quote.forwarded else 'quoted', quote.text)}\n\n{text}".strip()


def turn_messages(rows: Sequence[Row], pictures: Mapping[str, bytes] = NO_PICTURES) -> list[Message]:
    """The messages of one turn. Every call gets a result, in the order of the calls; a missing one is said to be so. Of
    the pictures that came along those are shown whose JPEG is in ``pictures``, by its path."""
    messages: list[Message] = []
    calls: list[CallBlock] = []
    results: dict[str, ResultBlock] = {}
    context = ""

    def settle() -> None:
        if calls:
            blocks = [results.get(b.call.id) or ResultBlock(b.call.id, b.call.name, NO_RESULT, True) for b in calls]
            messages.append(Message("user", tuple(blocks)))
        calls.clear()
        results.clear()

    for row in as_revised(rows):
        match row.body:
            case GivenRow(messages=given):
                messages.extend(given)
            case OverheardRow(messages=said):
                context = fenced("overheard", "\n".join(f"{one.name}: {one.text}" for one in said)) + "\n\n"
            case UserRow(text=text, quote=quote, files=files):
                settle()
                parts = (context + user_text(text, quote), *(in_prompt(file, pictures) for file in files))
                words = TextBlock("\n\n".join(part for part in parts if part))
                messages.append(Message("user", (words, *shown(files, pictures))))
                context = ""
            case StepRow(content=content, because=because):
                settle()
                if because == "continuation" and messages:
                    messages.append(Message("user", (TextBlock(CONTINUE),)))
                kept = tuple(
                    block for block in content if not (isinstance(block, TextBlock) and not block.text.strip())
                )
                if kept:
                    messages.append(Message("assistant", kept))
                calls.extend(block for block in kept if isinstance(block, CallBlock))
            case ResultRow() as result:
                wrapped = fenced("outside", result.text, source=result.source) if result.source else result.text
                text = "\n\n".join((wrapped, fenced("notice", result.notice)) if result.notice else (wrapped,))
                handle = handle_of(row.id)
                text = pointing(text, handle) if result.whole else text
                block = ResultBlock(result.call_id, result.name, text, result.error, result.outcome, handle)
                results[result.call_id] = block
    settle()
    return [message for message in messages if message.content]


def by_turn(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows grouped by turn, in the order in which the turns began (a parked turn's rows lie between others')."""
    first: dict[str, int] = {}
    for row in rows:
        first.setdefault(row.turn, row.id)
    ordered = sorted(rows, key=lambda row: (first[row.turn], row.id))
    return [list(group) for _, group in groupby(ordered, key=lambda row: row.turn)]


def size_of(message: Message) -> int:
    """Estimated tokens of one message."""
    return MESSAGE_TOKENS + sum(_block_tokens(block) for block in message.content)


def _block_tokens(block: Block) -> int:
    match block:
        case TextBlock(text=text) | ResultBlock(text=text):
            return estimated_tokens(text)
        case ThinkingBlock(raw=raw):
            return estimated_tokens(raw)
        case CallBlock(call=call):
            return estimated_tokens(call.name + json.dumps(dict(call.arguments), ensure_ascii=False))
        case ImageBlock():
            return 1600
    raise TypeError(type(block).__name__)


def past_messages(turn: Sequence[Row], file_tokens: int, behind: Behind = nothing_behind) -> list[Message]:
    """A whole turn as it stands in the prompts of later ones, the same bytes each time. A question that got no answer stays,
    and is said to be one. Of files the text stays, up to ``file_tokens``, and of pictures a mention."""
    messages = with_behind(without_thinking(turn_messages(fitting(turn, file_tokens))), behind(turn))
    ended = any(isinstance(row.body, EndRow) for row in turn)
    if ended and messages and messages[-1].role == "user":
        messages[-1] = Message("user", (*messages[-1].content, TextBlock(UNANSWERED)))
    return messages


def with_behind(messages: list[Message], text: str) -> list[Message]:
    """Put ``text`` behind the first words of a turn; "" for nothing."""
    for index, message in enumerate(messages):
        if text and message.role == "user":
            changed = Message("user", (*message.content, TextBlock(text)))
            return [*messages[:index], changed, *messages[index + 1 :]]
    return messages


def without_thinking(messages: list[Message]) -> list[Message]:
    """Reasoning is of use only within its turn and behind the prefix it was written for; it is dropped whole."""
    stripped = [
        Message(message.role, tuple(block for block in message.content if not isinstance(block, ThinkingBlock)))
        for message in messages
    ]
    return [message for message in stripped if message.content]


def paired(messages: Sequence[Message]) -> bool:
    """Whether every call has its result in the very next user message, and every result its call just before."""
    waiting: list[str] = []
    for message in messages:
        calls = [block.call.id for block in message.content if isinstance(block, CallBlock)]
        results = [block.call_id for block in message.content if isinstance(block, ResultBlock)]
        if message.role == "assistant":
            if waiting or results:
                return False
            waiting = calls
        else:
            if calls or sorted(results) != sorted(waiting):
                return False
            waiting = []
    return not waiting


def mended(messages: Sequence[Message]) -> list[Message]:
    """The same messages with every call answered in the next user message and no result without its call, as every
    vendor demands."""
    whole: list[Message] = []
    waiting: dict[str, CallBlock] = {}
    for message in messages:
        kept: list[Block] = []
        if message.role == "assistant":
            if waiting:
                whole.append(Message("user", _answers(waiting, ())))
            waiting = {}
            for block in message.content:
                if isinstance(block, CallBlock) and block.call.id not in waiting:
                    waiting[block.call.id] = block
                    kept.append(block)
                elif not isinstance(block, CallBlock | ResultBlock):
                    kept.append(block)
        else:
            kept += _answers(waiting, message.content)
            kept += [block for block in message.content if not isinstance(block, CallBlock | ResultBlock)]
            waiting = {}
        if kept:
            whole.append(Message(message.role, tuple(kept)))
    return [*whole, Message("user", _answers(waiting, ()))] if waiting else whole


def _answers(calls: Mapping[str, CallBlock], content: Sequence[Block]) -> tuple[Block, ...]:
    """One result for each call: the first in ``content``, or that there is none."""
    found: dict[str, ResultBlock] = {}
    for block in content:
        if isinstance(block, ResultBlock):
            found.setdefault(block.call_id, block)
    return tuple(found.get(id_) or ResultBlock(id_, call.call.name, NO_RESULT, True) for id_, call in calls.items())
