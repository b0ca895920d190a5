"""What stands around the answer where a channel cannot show it by itself: status line, cards, notices, buttons."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from bot.core.text import clipped
from bot.core.texts import say
from bot.core.view import ApprovalCard, Button, Phase, ToolLine, View
from bot.outbox.fold import open_cards

_VERBS: Final[tuple[tuple[str, Literal["plain", "primary", "danger"]], ...]] = (
    ("once", "primary"),
    ("chat", "plain"),
    ("always", "plain"),
    ("deny", "danger"),
)
_MARKS = re.compile(r"([\\`*_\[<>~|#$&])")
"""Not the closing bracket: escaped on both sides, ``[x]`` would be a formula."""
_SUMMARY_CHARS = 80
_TOOLS_NAMED = 3
_ARGUMENT_CHARS = 8000
"""Longer arguments are cut in the middle, and say so; what is shown fits a few messages of any platform."""


def footer(view: View, elapsed: Mapping[str, float], language: str, *, live: bool) -> str:
    """Markdown for below the text: cards, notices and, while the turn is ``live``, its status line.

    ``elapsed`` has the seconds that running tools have taken so far, by call id.
    """
    waiting = open_cards(view.cards)
    blocks = [_card(card, _number(card, waiting), language) for card in view.cards]
    blocks += view.notices
    if live and (status := _status(view, elapsed, language)):
        blocks.append(f"*{status}*")
    return "\n\n".join(blocks)


def buttons(view: View, now: float, language: str, label_chars: int, *, stop: bool) -> tuple[Button, ...]:
    """The verbs of every card that can still be decided at ``now`` (Unix time), then Stop. A final view has only
    what it offers."""
    if view.final:
        return view.offers
    found: list[Button] = []
    waiting = open_cards(view.cards)
    for card in waiting:
        if now < card.expires_at:
            for verb, style in _VERBS:
                label = _number(card, waiting) + say(f"button_{verb}", language)
                found.append(Button(clipped(label, label_chars), f"b:{card.id}:{verb}", style))
    if stop:
        found.append(Button(clipped(say("button_stop", language), label_chars), f"b:{view.turn}:stop"))
    return tuple(found)


def _number(card: ApprovalCard, waiting: tuple[ApprovalCard, ...]) -> str:
    """Tells the buttons of several open cards apart."""
    return f"{waiting.index(card) + 1}. " if len(waiting) > 1 and card in waiting else ""


def _card(card: ApprovalCard, number: str, language: str) -> str:
    if card.decision:
        by = f" ({literal(card.decided_by)})" if card.decided_by else ""
        return f"**{literal(card.tool)}** · {say(f'decision_{card.decision}', language)}{by}"
    blocks = [f"**{literal(number + say('card_asks', language, tool=card.tool))}**"]
    blocks += [literal(card.reason)] if card.reason else []
    blocks += [_fenced(_shortened(card.arguments, language))] if card.arguments.strip() not in ("", "{}") else []
    return "\n\n".join(blocks)


def _status(view: View, elapsed: Mapping[str, float], language: str) -> str:
    asked = {card.call_id for card in open_cards(view.cards)}
    running = [line for line in view.tools if line.seconds is None and line.call_id not in asked]
    words = []
    if running:
        words.append(_running(running))
        seconds = max((elapsed.get(line.call_id, 0.0) for line in running), default=0.0)
        words += [say("status_seconds", language, seconds=int(seconds))] if seconds >= 1 else []
    elif view.phase is Phase.THINKING and view.tools and view.tools[-1].error:
        words.append(say("status_failed", language, tool=literal(view.tools[-1].name)))
    if open_cards(view.cards):
        words.append(say("status_waiting", language))
    elif view.phase is Phase.THINKING and not running:
        words.append(say("status_thinking", language))
    return " · ".join(words)


def _running(lines: list[ToolLine]) -> str:
    """One line, however many tools: a single one with what it is about, several by name."""
    if len(lines) == 1:
        summary = clipped(lines[0].summary, _SUMMARY_CHARS)
        return literal(f"{lines[0].name}: {summary}" if summary else lines[0].name)
    names = ", ".join(literal(line.name) for line in lines[:_TOOLS_NAMED])
    return names if len(lines) <= _TOOLS_NAMED else f"{names} +{len(lines) - _TOOLS_NAMED}"


def literal(text: str) -> str:
    """``text`` on one line, so that no character of it is taken for Markdown."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}json\n{text}\n{fence}"


def _shortened(text: str, language: str) -> str:
    left_out = len(text) - _ARGUMENT_CHARS
    if left_out <= 0:
        return text
    half = _ARGUMENT_CHARS // 2
    return f"{text[:half]}\n{say('card_left_out', language, count=left_out)}\n{text[-half:]}"
