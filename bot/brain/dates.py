"""The days that a message asks for, worked out for a model that cannot reckon with dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bot.brain.fencing import fenced
from bot.time.dates import Found, dates_in
from bot.time.festivals import UNTOLD

READ_CHARS: Final = 2000
MOST_FOUND: Final = 4
_ASKS: Final = re.compile(
    r"\b(?:what|which|(?:tell|give) me)(?:'s|’s| is| was| will be)? "
    r"(?:(?:the|current|exact|(?:today|tomorrow|yesterday)['’]s) ){0,2}(?:dates?|days?|weekdays?|months?)\b"
    r"|\b(?:what|which) year (?:is it|is this|was it|will it be|are we)\b|\bhow many (?:days|weeks|months)\b"
    r"|几号|几月|日期|(?:星期|周|礼拜)几|哪一?天|(?:现在|今年|明年|去年|后年|前年)是?哪一?年|多少[天周]|几[天周](?!前)|什么日子",
    re.IGNORECASE,
)
"""Questions whose answer is a day."""
_ASKS_OF_IT: Final = re.compile(
    r"\bwhen(?:'s|’s| is| was| will| does)\b|\bhow (?:long|soon)\b|\b(?:is|was|will|does)\b.{1,40}\b(?:on a|be a|a) \w*(?:day|weekend)\b"
    r"|什么时候|何时|多久|是不?是?(?:周末|工作日|星期|周|礼拜)",
    re.IGNORECASE,
)
"""Questions whose answer is a day where the message names one."""
_OTHER_WORK: Final = re.compile(
    r"\b(?:translat|summari[sz]|rewrit|proofread|program|function|script|code|format|poem|story|joke|python)"
    "|翻译|总结|概括|改写|程序|代码|函数|格式|脚本|首诗|故事|笑话",
    re.IGNORECASE,
)
"""What a message is about that speaks of days by the way."""
_CJK: Final = re.compile(r"[\u4e00-\u9fff]")
_WEEKDAYS_ZH: Final = "一二三四五六日"


def dates_block(now: float, zone: str, text: str) -> str:
    """What stands before a message that asks for a day, in the message's language: today where it asks for no other day.
    "" for any other message, though it speaks of days: such a model takes what it is told for what it is asked."""
    today = datetime.fromtimestamp(now, UTC).astimezone(ZoneInfo(zone)).date()
    text = text[:READ_CHARS]
    found = dates_in(text, today)[:MOST_FOUND]
    untold = [match.group() for match in UNTOLD.finditer(text)][:MOST_FOUND]
    asks = _ASKS.search(text) or ((found or untold) and _ASKS_OF_IT.search(text))
    if not asks or _OTHER_WORK.search(text):
        return ""
    chinese = bool(_CJK.search(text))
    lines = [*(_lines_zh if chinese else _lines)(today, found)]
    if not untold and all(one.first == one.last == today for one in found):
        lines = lines[:1]
    lines += [f"{name}：日期不知道。" if chinese else f"{name}: the date is not known." for name in untold]
    return fenced("dates", "\n".join(dict.fromkeys(lines)))


def _lines(today: date, found: tuple[Found, ...]) -> Iterator[str]:
    yield f"Today is {_day(today)}."
    yield f"Tomorrow is {_day(today + timedelta(days=1))}."
    yield f"Yesterday was {_day(today - timedelta(days=1))}."
    for one in found:
        away = (one.first - today).days
        if one.first != one.last:
            yield f"{_name(one.words)} is from {_day(one.first)} to {_day(one.last)}."
        elif abs(away) > 1:
            yield f"{_name(one.words)} {'is' if away > 0 else 'was'} {_day(one.first)}."
            yield (
                f"{away} days are left until {_day(one.first)}."
                if away > 0
                else f"{-away} days have passed since then."
            )


def _lines_zh(today: date, found: tuple[Found, ...]) -> Iterator[str]:
    yield f"今天是{_day_zh(today)}。"
    yield f"明天是{_day_zh(today + timedelta(days=1))}。"
    yield f"昨天是{_day_zh(today - timedelta(days=1))}。"
    for one in found:
        away = (one.first - today).days
        if one.first != one.last:
            yield f"{one.words}是{_day_zh(one.first)}到{_day_zh(one.last)}。"
        elif abs(away) > 1:
            yield f"{one.words}是{_day_zh(one.first)}。"
            yield f"离{one.words}还有{away}天。" if away > 0 else f"离{one.words}已经过了{-away}天。"


def _name(words: str) -> str:
    return words[:1].upper() + words[1:]


def _day(day: date) -> str:
    return f"{day:%A}, {day.day} {day:%B} {day.year}"


def _day_zh(day: date) -> str:
    return f"{day.year}年{day.month}月{day.day}日，星期{_WEEKDAYS_ZH[day.weekday()]}"
