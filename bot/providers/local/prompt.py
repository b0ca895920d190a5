"""How a small model is spoken to: the profile, and conversations in the few plain turns that it understands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from bot.core.model import CallBlock, ImageBlock, Message, ResultBlock, TextBlock
from bot.core.texts import language_of, say
from bot.core.tool import ToolSpec
from bot.providers.local.gate import goes_without_saying
from bot.providers.local.translating import as_asked_in_chinese

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
_DATES: Final = "<dates>\n"
_CLOCK_SAYS: Final = re.compile(r"(?P<en>\w+day, .+, \d\d:\d\d) \((?P<zone>[^,;()]+), [^;()]+; (?P<zh>[^()]+)\)")
"""The words of the tool ``now``, for people of two languages at once."""
_NOTED: Final = re.compile(r"\ANoted in (\S+): ")
"""Those of ``note_write``, which the model reads out."""
_NOT_RUN: Final = {
    "denied": "end_approval_denied",
    "expired": "end_approval_expired",
    "interrupted": "end_tool_interrupted",
}
"""What a person is told of calls that were not run, or not to their end; what is written for models is not for them."""


@dataclass(slots=True)
class Turn:
    """One side's turn. ``facts`` are the results of the tools asked for since these words were said."""

    role: str
    words: list[str] = field(default_factory=list)
    facts: list[ResultBlock] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Facts before words: asked after them, the model uses them; the other way round it repeats the question."""
        facts = "\n".join(f"{fact.name}: {_outcome(fact, self.language)}" for fact in self.facts)
        words = map(as_asked_in_chinese, self.words) if self.role == "user" else self.words
        return "\n\n".join(part for part in (facts, "\n\n".join(words)) if part)

    @property
    def language(self) -> str:
        return language_of(self.said)

    @property
    def said(self) -> str:
        """The person's words, without the days that were reckoned for them."""
        return "\n".join(part for part in self.words if not part.startswith(_DATES))

    @property
    def known(self) -> str:
        """The facts as the model reads them."""
        return "\n".join(_outcome(fact, self.language) for fact in self.facts)

    @property
    def told(self) -> str:
        """The facts for a person to read."""
        return "\n".join(_for_person(_outcome(fact, self.language), self.language) for fact in self.facts)


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
    """The tools not called for this turn yet; one that ran and failed may be tried a second time, never one that was
    denied or whose effect is unknown."""
    tried = [fact.name for fact in turn.facts]
    not_run = {fact.name for fact in turn.facts if fact.outcome}
    failed = {fact.name for fact in turn.facts if fact.error} - not_run
    return tuple(
        tool for tool in tools if tool.name not in tried or (tool.name in failed and tried.count(tool.name) == 1)
    )


def settled(messages: Sequence[Message], turns: Sequence[Turn], tools: Sequence[ToolSpec]) -> str:
    """What the person is told where the model is not asked, "" where it is: a call was not run, which it would make again,
    or of which it would read them what is written for models; or they asked for nothing but what the clock says, of which
    it takes the hour for the day.
    """
    last = messages[-1].content[-1] if messages and messages[-1].content else None
    if not isinstance(last, ResultBlock):
        return ""
    turn = turns[-1]
    clock = last.text if not last.error and len(turn.facts) == 1 else ""
    asked = next((tool for tool in tools if tool.name == last.name), None)
    bare = asked is not None and _CLOCK_SAYS.fullmatch(clock) and goes_without_saying(turn.said, asked)
    return turn.told if bare or last.outcome in _NOT_RUN else ""


def offer(tools: Sequence[ToolSpec]) -> str:
    """The line before the person's words when tools may be called. Behind them it ends up inside the arguments."""
    told = " ".join(f"Tool {tool.name}: {_brief(tool.description)}" for tool in tools)
    return f"{told} Call it with the user's own words if the user asks for that; else reply."


def chat_turns(system: str, turns: Sequence[Turn], offered: Sequence[ToolSpec]) -> list[dict[str, str]]:
    """``messages`` for the engine. What varies from call to call comes last, so that the cached prefix is long."""
    messages = [{"role": "system", "content": system}] if system.strip() else []
    messages += [{"role": turn.role, "content": turn.text} for turn in turns]
    if offered:  # what was reckoned would end up inside the arguments
        words = [part for part in turns[-1].words if not part.startswith(_DATES)]
        messages[-1]["content"] = replace(turns[-1], words=words).text
        messages.insert(-1, {"role": "system", "content": offer(offered)})
    return messages


def _outcome(fact: ResultBlock, language: str) -> str:
    if fact.outcome:
        return say(_NOT_RUN[fact.outcome], language) if fact.outcome in _NOT_RUN else "failed"
    if not fact.error and language.startswith("zh"):
        return _NOTED.sub(r"已记入 \1：", fact.text)
    return f"failed: {fact.text}" if fact.error else fact.text


def _for_person(text: str, language: str) -> str:
    if not (clock := _CLOCK_SAYS.fullmatch(text)):
        return text
    if language.startswith("zh"):
        return f"现在是{clock['zh']}（{clock['zone']}）。"
    return f"It is {clock['en']} ({clock['zone']})."


def _brief(description: str) -> str:
    sentence = _SENTENCE_END.split(description.strip(), maxsplit=1)[0].rstrip(".。 ")
    return f"{_EXAMPLE.sub('', sentence)[:DESCRIPTION_CHARS]}."
