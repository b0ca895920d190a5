"""What may still be spent today: in all, and by one person. Whatever calls a model looks here first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bot.core.model import ModelRef
from bot.core.ports import Clock
from bot.core.texts import say
from bot.store.usage import UsageRows

NOTICE_SHARE: Final = 0.9
FRESH_SECONDS: Final = 20.0
"""How long sums that were read from the store are good for, with what was spent since added: a person's spending on
another platform, and that of background work, comes in with the next reading."""


@dataclass(frozen=True, slots=True)
class MoneyLimits:
    """USD a day; 0 allows nothing that costs anything."""

    day: float = 5.0
    person_day: float = 2.0


@dataclass(frozen=True, slots=True)
class Allowance:
    """``models`` are those of a chain that may be asked. ``notice`` is for the person: the budget is nearly spent, or only
    models that cost nothing are left. ``refusal`` says that none may be asked, and until when; "" where one may."""

    models: tuple[ModelRef, ...]
    notice: str = ""
    refusal: str = ""


@dataclass(slots=True)
class _Sum:
    usd: float
    read_at: float
    day: float


class Purse:
    """``zone`` is where the day begins. A model whose price is not known is not counted, and is not asked either once a
    budget is spent."""

    def __init__(self, usage: UsageRows, limits: MoneyLimits, clock: Clock, zone: str) -> None:
        self._usage, self._clock, self._zone = usage, clock, ZoneInfo(zone)
        self.limits = limits
        self._sums: dict[str, _Sum] = {}
        self._told: dict[tuple[str, bool], float] = {}

    async def look(self, person: str, models: Sequence[ModelRef], language: str) -> Allowance:
        """What ``person`` (an identity) may be answered by. The same notice is given once a day."""
        if all(model.price is not None and model.price.is_free for model in models):
            return Allowance(tuple(models))
        share = max(await self._used("", self.limits.day), await self._used(person, self.limits.person_day))
        if share < NOTICE_SHARE:
            return Allowance(tuple(models))
        reset = self._reset_words(language)
        if share < 1.0:
            notice = say("money_notice", language, share=int(share * 100), reset=reset)
            return Allowance(tuple(models), self._once(person, notice, nearly=True))
        free = tuple(model for model in models if model.price is not None and model.price.is_free)
        if free:
            notice = say("money_free_only", language, model=str(free[0]), reset=reset)
            return Allowance(free, self._once(person, notice, nearly=False))
        return Allowance((), refusal=say("end_money", language, limit=say("money_reset", language, reset=reset)))

    def spent(self, person: str, usd: float) -> None:
        """Something was spent just now; its row may not be written yet."""
        for who in ("", person):
            if (known := self._sums.get(who)) is not None:
                known.usd += usd

    @property
    def is_spent(self) -> bool:
        """Whether the budget of the whole house is spent, as far as is known."""
        known = self._sums.get("")
        return known is not None and known.day == self._midnight() and known.usd >= self.limits.day

    async def today(self, person: str) -> tuple[float, float]:
        """USD that ``person`` has spent today, and that all have."""
        day = self._midnight()
        return await self._summed(person, day), await self._summed("", day)

    def _once(self, person: str, notice: str, *, nearly: bool) -> str:
        day = self._midnight()
        self._told = {key: told for key, told in self._told.items() if told == day}
        if (person, nearly) in self._told:
            return ""
        self._told[person, nearly] = day
        return notice

    async def _used(self, who: str, limit: float) -> float:
        """The share of ``limit`` that ``who`` ("" for all) has spent today."""
        return await self._summed(who, self._midnight()) / limit if limit > 0 else 1.0

    async def _summed(self, who: str, day: float) -> float:
        now, known = self._clock.monotonic(), self._sums.get(who)
        if known is None or known.day != day or now - known.read_at >= FRESH_SECONDS:
            totals = await self._usage.since(day, who)
            known = self._sums[who] = _Sum(sum(total.usd for total in totals), now, day)
            self._forget(now)
        return known.usd

    def _forget(self, now: float) -> None:
        for who in [who for who, known in self._sums.items() if now - known.read_at >= FRESH_SECONDS]:
            del self._sums[who]

    def _midnight(self) -> float:
        today = datetime.fromtimestamp(self._clock.now(), UTC).astimezone(self._zone)
        return today.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()

    def _reset_words(self, language: str) -> str:
        """When the next day begins."""
        today = datetime.fromtimestamp(self._clock.now(), UTC).astimezone(self._zone)
        tomorrow = (today + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        return say("money_at", language, time=f"{tomorrow:%Y-%m-%d %H:%M}", zone=str(self._zone))
