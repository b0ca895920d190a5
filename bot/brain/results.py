"""The results of tools in a prompt: whole while there is room, then the older ones in short, then the newest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from bot.brain.handles import pointing, unpointed
from bot.brain.history import size_of
from bot.brain.shrink import LEAST_CHARS, shrunk
from bot.core.model import Block, Message, ResultBlock

_TOGETHER: Final = 4
"""So many older results are cut at once, so that what was sent before is not another with each step."""
_TRIES: Final = 4
_TIGHTER: Final = 0.8


def snipped(messages: Sequence[Message]) -> list[Message]:
    """With every result in ``LEAST_CHARS`` characters."""
    return [_with_results(message, _snip) for message in messages]


def fitted(messages: Sequence[Message], tokens: int, newest: int = 0) -> list[Message]:
    """The messages of a turn with their results as short as ``tokens`` demand, or as they can be: first the older ones,
    then those of the newest message that has any, all by the same share, but to no less than ``newest`` tokens."""
    holders = [index for index, message in enumerate(messages) if _has_results(message)]
    fitting = list(messages)
    size = sum(map(size_of, messages))
    for begin in range(0, max(0, len(holders) - 1), _TOGETHER):
        if size <= tokens:
            break
        for index in holders[begin : min(begin + _TOGETHER, len(holders) - 1)]:
            fitting[index] = _with_results(fitting[index], _snip)
            size += size_of(fitting[index]) - size_of(messages[index])
    if size > tokens and holders:
        last = messages[holders[-1]]
        wanted = max(newest, size_of(last) - (size - tokens))
        fitting[holders[-1]] = _cut(last, wanted) if wanted < size_of(last) else last
    return fitting


def _cut(message: Message, tokens: int) -> Message:
    share = tokens / size_of(message)
    for _ in range(_TRIES):
        cut = _with_results(message, _by(share))
        if size_of(cut) <= tokens or share <= 0:
            return cut
        share *= _TIGHTER
    return _with_results(message, _snip)


def _by(share: float) -> Callable[[str], str]:
    return lambda text: shrunk(text, max(LEAST_CHARS, int(len(text) * share)))


def _snip(text: str) -> str:
    return shrunk(text, LEAST_CHARS)


def _has_results(message: Message) -> bool:
    return any(isinstance(block, ResultBlock) for block in message.content)


def _with_results(message: Message, cut: Callable[[str], str]) -> Message:
    def changed(block: Block) -> Block:
        return _short(block, cut) if isinstance(block, ResultBlock) else block

    return Message(message.role, tuple(map(changed, message.content))) if _has_results(message) else message


def _short(block: ResultBlock, cut: Callable[[str], str]) -> ResultBlock:
    text = unpointed(block.text, block.handle)
    short = cut(text)
    return block if short == text else replace(block, text=pointing(short, block.handle))
