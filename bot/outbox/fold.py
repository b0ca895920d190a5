"""The view as a function of what the Brain emits: pure, total, and closed once the turn has ended."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, assert_never

from bot.core.events import (
    ApprovalAsked,
    ApprovalDecided,
    Enclosed,
    Notice,
    Offered,
    Resumed,
    TextDelta,
    ThinkingStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnEvent,
)
from bot.core.stop import StopReason
from bot.core.texts import say
from bot.core.view import ApprovalCard, Phase, ToolLine, View


def fold(view: View, event: TurnEvent, language: str) -> View:
    """The view after ``event``. Text is only concatenated: what is shown and what is stored are the same characters."""
    if view.final:
        return view
    match event:
        case TextDelta(text):
            return replace(view, text=view.text + text, phase=Phase.WRITING) if text else view
        case ThinkingStarted():
            return replace(view, phase=Phase.THINKING)
        case ToolStarted(call_id, name, summary):
            return replace(view, tools=_with_tool(view.tools, ToolLine(call_id, name, summary)))
        case ToolEnded(call_id, seconds, error):
            ended = (
                replace(line, seconds=seconds, error=error) if line.call_id == call_id else line for line in view.tools
            )
            return replace(view, tools=tuple(ended))
        case ApprovalAsked(card) | ApprovalDecided(card):
            cards = _with_card(view.cards, card)
            return replace(view, cards=cards, phase=_phase(cards, view.phase))
        case Notice(text):
            return replace(view, notices=(*view.notices, text)) if text and text not in view.notices else view
        case Offered(buttons):
            return replace(view, offers=buttons)
        case Enclosed(files):
            return replace(view, files=(*view.files, *files))
        case Resumed(text, tools, cards, files):
            files = view.files if files is None else files
            return replace(view, text=text, tools=tools, cards=cards, files=files, phase=_phase(cards, Phase.THINKING))
        case TurnEnded():
            return _ended(view, event, language)
        case _:
            assert_never(event)


def less_of(event: TurnEvent, work: Literal["all", "brief", "none"]) -> TurnEvent:
    """The event with as much of the tools at work as is to be shown: all, their names alone, or nothing. Cards are shown
    whatever is chosen."""
    match event:
        case ToolStarted(call_id, name) if work == "brief":
            return ToolStarted(call_id, name, "")
        case ToolStarted() | ToolEnded() if work == "none":
            return ThinkingStarted()
        case Resumed(tools=tools) if work != "all":
            kept = tuple(replace(line, summary="") for line in tools) if work == "brief" else ()
            return replace(event, tools=kept)
    return event


def _ended(view: View, event: TurnEnded, language: str) -> View:
    sentence = event.text or (say("end_stopped", language) if event.reason is StopReason.STOPPED else "")
    notices = (*view.notices, sentence) if sentence else view.notices
    return replace(view, notices=notices, calls=event.calls, stop=event.reason, phase=Phase.DONE)


def open_cards(cards: tuple[ApprovalCard, ...]) -> tuple[ApprovalCard, ...]:
    return tuple(card for card in cards if not card.decision)


def _phase(cards: tuple[ApprovalCard, ...], phase: Phase) -> Phase:
    """With an open card a turn waits; once the last is decided, the model is next."""
    if open_cards(cards):
        return Phase.WAITING
    return Phase.THINKING if phase is Phase.WAITING else phase


def _with_tool(tools: tuple[ToolLine, ...], line: ToolLine) -> tuple[ToolLine, ...]:
    if any(known.call_id == line.call_id for known in tools):
        return tuple(line if known.call_id == line.call_id else known for known in tools)
    return (*tools, line)


def _with_card(cards: tuple[ApprovalCard, ...], card: ApprovalCard) -> tuple[ApprovalCard, ...]:
    if any(known.id == card.id for known in cards):
        return tuple(card if known.id == card.id else known for known in cards)
    return (*cards, card)
