"""How a small model is spoken to: the profile, and conversations in the few plain turns that it understands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from bot.core.model import CallBlock, ImageBlock, Message, ResultBlock, TextBlock
from bot.core.tool import ToolSpec

PROFILE: Final = """\
You are Bowerbird, a friendly assistant: a small demo model that runs on this machine.
- English message: answer in English. 中文消息：用中文回答。
- Be short and kind. 回答简短、友善。
- If you do not know, say so. 不知道就说不知道。
"""
"""The system prompt for this model, about 70 tokens. Of ten wordings it was among the two that kept to the person's
language (31 of 32 messages) and used tool results rightly; longer ones, and those that end in Chinese, did worse."""

DESCRIPTION_CHARS: Final = 120
_SENTENCE_END: Final = re.compile(r"(?<=[.。!！])\s|\n")
_EXAMPLE: Final = re.compile(r",? *(?:\(|such as\b|for example\b|e\.g\.|like\b|例如|比如|如：).*", re.IGNORECASE)
"""Examples are left out: asked for something else, the model calls the tool with the example."""


@dataclass(slots=True)
class Turn:
    """One side's turn. ``facts`` are the results of the tools asked for since these words were said."""

    role: str
    words: list[str] = field(default_factory=list)
    facts: list[ResultBlock] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Facts before words: asked after them, the model uses them; the other way round it repeats the question."""
        facts = "\n".join(f"{fact.name}: {_outcome(fact)}" for fact in self.facts)
        return "\n\n".join(part for part in (facts, "\n\n".join(self.words)) if part)

    @property
    def told(self) -> str:
        """The facts alone, for a person to read."""
        return "\n".join(map(_outcome, self.facts))


def turns_of(messages: Iterable[Message]) -> list[Turn]:
    """The conversation with each tool's result told as a fact in front of the question that led to it.

    The calls themselves are left out: shown how calls look, the model writes them into its answers.
    """
    turns: list[Turn] = []
    for message in messages:
        words = [block.text for block in message.content if isinstance(block, TextBlock) and block.text]
        if message.role == "assistant":
            if words or not any(isinstance(block, CallBlock) for block in message.content):
                turns.append(Turn("assistant", words))
            continue
        if not turns or turns[-1].role != "user":
            turns.append(Turn("user"))
        turn = turns[-1]
        turn.words += words
        for block in message.content:
            if isinstance(block, ResultBlock):
                turn.facts.append(block)
            elif isinstance(block, ImageBlock):
                turn.words.append("(An image, which this model cannot see.)")
    return turns


def still_open(turn: Turn, tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """The tools not called for this turn yet; one that failed may be tried a second time."""
    tried = [fact.name for fact in turn.facts]
    failed = {fact.name for fact in turn.facts if fact.error}
    return tuple(
        tool for tool in tools if tool.name not in tried or (tool.name in failed and tried.count(tool.name) == 1)
    )


def offer(tools: Sequence[ToolSpec]) -> str:
    """The line before the person's words when tools may be called. Behind them it ends up inside the arguments."""
    told = " ".join(f"Tool {tool.name}: {_brief(tool.description)}" for tool in tools)
    return f"{told} Call it with the user's own words if the user asks for that; else reply."


def chat_turns(system: str, turns: Sequence[Turn], offered: Sequence[ToolSpec]) -> list[dict[str, str]]:
    """``messages`` for the engine. What varies from call to call comes last, so that the cached prefix is long."""
    messages = [{"role": "system", "content": system}] if system.strip() else []
    messages += [{"role": turn.role, "content": turn.text} for turn in turns]
    if offered:
        messages.insert(-1, {"role": "system", "content": offer(offered)})
    return messages


def _outcome(fact: ResultBlock) -> str:
    return f"failed: {fact.text}" if fact.error else fact.text


def _brief(description: str) -> str:
    sentence = _SENTENCE_END.split(description.strip(), maxsplit=1)[0].rstrip(".。 ")
    return f"{_EXAMPLE.sub('', sentence)[:DESCRIPTION_CHARS]}."
