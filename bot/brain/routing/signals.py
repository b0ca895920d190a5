"""How much a message asks for, and how private it is, from what can be seen without asking anybody."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bot.brain.routing.catalogue import PRIVATE
from bot.brain.routing.intents import length_units
from bot.brain.routing.privacy import Privacy, privacy_of

Complexity = Literal["simple", "medium", "complex"]
"""``simple``: a sentence answers it. ``complex``: long, of several parts, or to be thought through. ``medium``: between."""
COMPLEXITIES: Final[tuple[Complexity, ...]] = ("simple", "medium", "complex")

READ_CHARS: Final = 20_000
SHORT_UNITS: Final = 14
LONG_CHARS: Final = 600
VERY_LONG_CHARS: Final = 2_000
COMPLEX_POINTS: Final = 4
MANY_ITEMS: Final = 3

_LIGHT: Final = frozenset({"small_talk", "reminder", "translate", "calculate"})
_HEAVY: Final = frozenset({"plan", "code", "long_document"})

_CODE: Final = re.compile(r"```|^\s{4,}\S.*[;:{}()]\s*$|[{};]\s*$|Traceback \(most recent", re.MULTILINE)
_ITEM: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)、])\s+\S", re.MULTILINE)
_QUESTION: Final = re.compile(r"[?？](?=\s|$|[^\w?？])|[?？](?=[\u4e00-\u9fff])")
_DEEP: Final = re.compile(
    r"\b(?:why|compare|comparison|analy[sz]e|analysis|prove|derive|evaluate|trade-?offs?|pros and cons|step by step|"
    r"in detail|detailed|thorough(?:ly)?|design|architecture|strategy|refactor|optimi[sz]e|implications?|critique)\b"
    r"|为什么|比较|对比|分析|证明|推导|评估|利弊|优缺点|一步一步|详细|深入|设计|架构|策略|重构|优化|论证",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(
    r"\b(?:and then|after that|also|in addition|finally|as well as|make sure|at least|at most)\b"
    r"|然后|接着|另外|此外|最后|同时|并且|至少|最多|要求",
    re.IGNORECASE,
)

_POSSESSIVE: Final = re.compile(r"\b(?:my|mine|our|i'm|i've)\b|我", re.IGNORECASE)
_SKILL: Final = re.compile(r"\s*/skill\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Signals:
    """``unsure`` names what another look may see otherwise: ``complexity``, ``privacy``."""

    complexity: Complexity
    privacy: Privacy
    unsure: frozenset[str] = frozenset()


def signals_of(
    text: str, intent: str = "", files: Sequence[str] = (), *, pictures: bool = False, private: bool = False
) -> Signals:
    """``files`` are the names of those that came along; ``private``: it may concern nobody else, whatever its intent."""
    said = text if len(text) <= READ_CHARS else f"{text[: READ_CHARS // 2]}\n{text[-READ_CHARS // 2 :]}"
    complexity, privacy = complexity_of(said, intent, files, pictures=pictures), privacy_of(said, files)
    if privacy == "public" and (private or intent in PRIVATE):
        privacy = "personal"
    unsure = {"complexity"} if complexity == "medium" else set()
    if privacy == "public" and _POSSESSIVE.search(said):
        unsure.add("privacy")
    return Signals(complexity, privacy, frozenset(unsure))


def complexity_of(text: str, intent: str = "", files: Sequence[str] = (), *, pictures: bool = False) -> Complexity:
    """By points for length, code, lists, questions, words that ask for thought, and what came along."""
    points = 1 if length_units(text) > SHORT_UNITS else 0
    points += (len(text) > LONG_CHARS) + 2 * (len(text) > VERY_LONG_CHARS)
    points += 2 * bool(_CODE.search(text)) + 2 * (len(_ITEM.findall(text)) >= MANY_ITEMS)
    points += min(3, len({found.lower() for found in _DEEP.findall(text)})) + (len(_QUESTION.findall(text)) > 1)
    points += min(2, len(_PARTS.findall(text))) + min(3, 2 * len(files)) + pictures + bool(_SKILL.match(text))
    points += 2 * (intent in _HEAVY) - (intent in _LIGHT)
    return "complex" if points >= COMPLEX_POINTS else "medium" if points > 1 else "simple"
