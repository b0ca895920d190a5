"""The days that English and Chinese words mean, reckoned from today. Only what is certain: other words find nothing."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from bot.time.festivals import NAMED, UNTOLD, festival


@dataclass(frozen=True, slots=True)
class Found:
    """``words`` mean the days from ``first`` to ``last``, both included."""

    words: str
    first: date
    last: date
    at: int = 0


Days = tuple[date, date]
Reckon = Callable[[re.Match[str], date], date | Days | None]

_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NUMBERS: Final = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_DIGITS_ZH: Final = "零一二三四五六七八九"

_DAY: Final = r"(?P<day>mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_FULL_DAY: Final = r"(?P<day>monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_MONTH: Final = (
    r"(?P<month>january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
)
_COUNT: Final = rf"(?P<count>\d{{1,3}}|an?|{'|'.join(_NUMBERS)})"
_UNIT: Final = r"(?P<unit>day|week|fortnight|month|year)s?"
_BASE: Final = r"(?P<base>now|today|tomorrow|yesterday)"
_COUNT_ZH: Final = rf"(?<!\d)(?P<count>\d{{1,3}}|[{_DIGITS_ZH}两十]{{1,3}})"
_UNIT_ZH: Final = r"(?:个)?(?P<unit>天|周|星期|礼拜|月|年)"


def dates_in(text: str, today: date) -> tuple[Found, ...]:
    """What ``text`` says about days, in its order.

    Weeks begin on Monday. *Next Friday* and 下周五 lie in the week after this one; *last Friday* is the latest that is
    over, 上周五 lies in the week before; a weekday or a festival without more is the one to come, today included.
    """
    spans = [match.span() for match in UNTOLD.finditer(text)]
    found: list[Found] = []
    for pattern, reckon in _RULES:
        for match in pattern.finditer(text):
            if any(match.start() < end and start < match.end() for start, end in spans):
                continue
            days = _reckoned(reckon, match, today)
            if days is not None:
                spans.append(match.span())
                found.append(Found(match.group().strip(), *days, at=match.start()))
    return tuple(sorted(found, key=lambda one: one.at))


def _reckoned(reckon: Reckon, match: re.Match[str], today: date) -> Days | None:
    try:
        days = reckon(match, today)
    except (ValueError, OverflowError):
        return None  # the thirtieth of February, or beyond what a calendar holds
    return (days, days) if isinstance(days, date) else days


def _number(text: str) -> int:
    text = text.lower()
    if text.isdecimal():
        return int(text)
    if text in ("a", "an"):
        return 1
    if text in _NUMBERS:
        return _NUMBERS.index(text)
    text = text.replace("两", "二")
    if "十" in text:
        tens, _, ones = text.partition("十")
        return 10 * (_DIGITS_ZH.index(tens) if tens else 1) + (_DIGITS_ZH.index(ones) if ones else 0)
    return int("".join(str(_DIGITS_ZH.index(digit)) for digit in text))


def _moved(day: date, count: int, unit: str) -> date:
    """``count`` units on from ``day``; where a month is too short, its last day."""
    match unit.lower():
        case "day" | "天" | "日":
            return day + timedelta(days=count)
        case "week" | "周" | "星期" | "礼拜":
            return day + timedelta(weeks=count)
        case "fortnight":
            return day + timedelta(weeks=2 * count)
        case "year" | "年":
            return _moved(day, 12 * count, "month")
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _coming(day: date, weekday: int) -> date:
    return day + timedelta(days=(weekday - day.weekday()) % 7)


def _span(day: date, unit: str) -> Days:
    """The week, month or year around ``day``."""
    if unit.lower() in ("week", "周", "星期", "礼拜"):
        return _monday(day), _monday(day) + timedelta(days=6)
    if unit.lower() in ("month", "月"):
        return day.replace(day=1), day.replace(day=calendar.monthrange(day.year, day.month)[1])
    return date(day.year, 1, 1), date(day.year, 12, 31)


def _weekend(day: date) -> Days:
    return _monday(day) + timedelta(days=5), _monday(day) + timedelta(days=6)


_STEPS: Final = {"this": 0, "next": 1, "last": -1, "past": -1, "previous": -1, "coming": 0}
_STEPS_ZH: Final = {"": 0, "这": 0, "本": 0, "下": 1, "下下": 2, "上": -1, "上上": -2}
_BASES: Final = {"now": 0, "today": 0, "tomorrow": 1, "yesterday": -1}
_DAYS_ZH: Final = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_YEARS_ZH: Final = {"前": -2, "去": -1, "今": 0, "明": 1, "后": 2}


def _counted(match: re.Match[str], today: date) -> date:
    """N days from now, N weeks before tomorrow, a month ago."""
    groups = match.groupdict()
    base = today + timedelta(days=_BASES[(groups.get("base") or "now").lower()])
    way = (groups.get("way") or "").lower()
    back = way in ("ago", "before", "earlier") or way.endswith("前")
    count = _number(match["count"])
    return _moved(base, -count if back else count, match["unit"])


def _weekday(match: re.Match[str], today: date) -> date:
    """Next Monday, Monday next week, on Monday."""
    groups = match.groupdict()
    wanted = _WEEKDAYS.index(match["day"][:3].lower())
    step = (groups.get("step") or "").lower()
    if step in ("last", "past", "previous") and not groups.get("week"):
        return today - timedelta(days=(today.weekday() - wanted - 1) % 7 + 1)
    if step and step != "coming":
        return _monday(today) + timedelta(weeks=_STEPS[step], days=wanted)
    return _coming(today, wanted)


def _weekday_zh(match: re.Match[str], today: date) -> date | Days:
    step = match["step"] or ""
    wanted = "一二三四五六日天末".index(match["day"])
    monday = _monday(today) + timedelta(weeks=_STEPS_ZH[step])
    if wanted == 8:
        return _weekend(monday)
    wanted = min(wanted, 6)
    return monday + timedelta(days=wanted) if step else _coming(today, wanted)


def _period(match: re.Match[str], today: date) -> Days:
    step = _STEPS[match["step"].lower()]
    if match["unit"].lower() == "weekend":
        return _weekend(today + timedelta(weeks=step))
    return _span(
        _moved(today.replace(day=1) if match["unit"].lower() != "week" else today, step, match["unit"]), match["unit"]
    )


def _period_zh(match: re.Match[str], today: date) -> Days:
    unit = match["unit"]
    return _span(_moved(today.replace(day=1) if unit == "月" else today, _STEPS_ZH[match["step"]], unit), unit)


def _year_zh(match: re.Match[str], today: date) -> Days:
    return _span(_moved(today.replace(day=1), _YEARS_ZH[match["year"]], "year"), "year")


def _day_zh(match: re.Match[str], today: date) -> date:
    return today + timedelta(days=_DAYS_ZH[match["day"] or match["part"]])


def _festival(match: re.Match[str], today: date) -> date:
    step = (match["step"] or "").lower()
    year = match["year"]
    if year:
        return festival(match["name"], today.year + _YEARS_ZH[year])
    if step in ("last", "past", "previous"):
        past = festival(match["name"], today.year)
        return past if past < today else festival(match["name"], today.year - 1)
    day = festival(match["name"], today.year)
    return day if day >= today else festival(match["name"], today.year + 1)


def _absolute(match: re.Match[str], today: date) -> date:
    """A day of a month. Without a year it is the one to come."""
    groups = match.groupdict()
    named = match["month"].lower()[:3]
    month = _MONTHS.index(named) + 1 if named in _MONTHS else _number(match["month"])
    day = _number(groups["monthday"])
    year = groups.get("year")
    if year:
        return date(today.year + _YEARS_ZH[year[0]] if year[0] in _YEARS_ZH else int(year[:4]), month, day)
    this = date(today.year, month, day)
    return this if this >= today else date(today.year + 1, month, day)


def _monthday_zh(match: re.Match[str], today: date) -> date:
    step = match["step"]
    month = _moved(today.replace(day=1), _STEPS_ZH[step or ""], "month")
    day = month.replace(day=_number(match["monthday"]))
    return day if step or day >= today else _moved(month, 1, "month").replace(day=_number(match["monthday"]))


def _rules() -> Iterator[tuple[re.Pattern[str], Reckon]]:
    """The longer and more telling first: what one rule has taken no later one sees."""

    def rule(pattern: str, reckon: Reckon) -> tuple[re.Pattern[str], Reckon]:
        return re.compile(pattern, re.IGNORECASE), reckon

    def shifted(days: int) -> Reckon:
        return lambda match, today: today + timedelta(days=days)

    yield rule(r"\b(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<monthday>\d{1,2})\b", _absolute)
    yield rule(rf"\b{_MONTH} (?P<monthday>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year>\d{{4}})\b)?", _absolute)
    yield rule(rf"\b(?P<monthday>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH}\b(?:,? (?P<year>\d{{4}})\b)?", _absolute)
    yield rule(
        rf"(?P<year>\d{{4}}年|[去今明后前]年)?的?(?P<month>\d{{1,2}}|[{_DIGITS_ZH}十]{{1,3}})月(?P<monthday>\d{{1,2}}|[{_DIGITS_ZH}十]{{1,3}})[日号]",
        _absolute,
    )
    yield rule(
        rf"(?P<step>下下|上上|下|上|这|本)个?月的?(?P<monthday>\d{{1,2}}|[{_DIGITS_ZH}十]{{1,3}})[日号]", _monthday_zh
    )
    yield rule(r"\bthe day after tomorrow\b|\bday after tomorrow\b", shifted(2))
    yield rule(r"\bthe day before yesterday\b|\bday before yesterday\b", shifted(-2))
    yield rule(rf"\b{_COUNT} {_UNIT} (?P<way>from|after|before) {_BASE}\b", _counted)
    yield rule(rf"\bin {_COUNT} {_UNIT}\b", _counted)
    yield rule(rf"\b{_COUNT} {_UNIT} (?P<way>ago|earlier|later)\b", _counted)
    yield rule(rf"再过{_COUNT_ZH}{_UNIT_ZH}", _counted)
    yield rule(rf"{_COUNT_ZH}{_UNIT_ZH}(?P<way>[之以]?[后前])", _counted)
    yield rule(rf"\b{_FULL_DAY} (?P<step>next|last|this) (?P<week>week)\b", _weekday)
    yield rule(rf"\b(?P<step>next|last|this) (?P<week>week),?(?: on)? {_FULL_DAY}\b", _weekday)
    yield rule(rf"\b(?P<step>next|last|past|previous|this|coming) {_DAY}\b", _weekday)
    yield rule(r"(?P<step>下下|上上|下|上|这|本)?个?(?:周|星期|礼拜)(?P<day>[一二三四五六日天末])", _weekday_zh)
    yield rule(r"\b(?P<step>this|next|last|previous) (?P<unit>weekend|week|month|year)\b", _period)
    yield rule(
        r"(?:\b(?P<step>last|past|previous|this|next) )?(?P<year>[去今明后前](?=年))?(?:年的?)?"
        rf"(?<![a-z])(?P<name>{NAMED.pattern})(?![a-z])",
        _festival,
    )
    yield rule(r"(?P<step>下下|上上|下|上|这|本)个?(?P<unit>周|星期|礼拜|月)", _period_zh)
    yield rule(r"(?<![以之先])(?P<year>[去今明后前])年", _year_zh)
    yield rule(r"(?<![以之先聪])(?P<day>大前|大后|前|昨|今|明|后)[天日]|(?P<part>[昨今明])[早晚]", _day_zh)
    yield rule(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", shifted(0))
    yield rule(r"\btomorrow\b", shifted(1))
    yield rule(r"\byesterday\b|\blast night\b", shifted(-1))
    yield rule(rf"\b{_FULL_DAY}\b", _weekday)
    yield rule(r"(?P<step>)(?<![\d.])(?P<monthday>[1-3]?\d)[号](?![线楼门桌店台机床院馆码])", _monthday_zh)


_RULES: Final = tuple(_rules())
