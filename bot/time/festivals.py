"""Days with a name that the calendar itself tells, and names whose days only an almanac does."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

_FIXED: Final[dict[str, tuple[int, int]]] = {
    r"christmas eve|平安夜|圣诞前夜": (12, 24),
    r"boxing day": (12, 26),
    r"christmas(?: day)?|xmas|圣诞节?": (12, 25),
    r"new year'?s eve|跨年夜": (12, 31),
    r"new year(?:'?s(?: day)?)?|元旦节?": (1, 1),
    r"valentine'?s(?: day)?|情人节": (2, 14),
    r"women'?s day|妇女节": (3, 8),
    r"labou?r day|may day|劳动节|五一节": (5, 1),
    r"children'?s day|儿童节": (6, 1),
    r"teachers'? day|教师节": (9, 10),
    r"national day|国庆节?": (10, 1),
    r"hallowe'?en|万圣节": (10, 31),
}
_MOVING: Final = {r"easter(?: sunday)?|复活节": "easter", r"thanksgiving(?: day)?|感恩节": "thanksgiving"}
_UNKNOWN: Final = (
    r"(?:chinese|lunar) new year|spring festival|mid-autumn(?: festival)?|dragon boat(?: festival)?|ramadan|eid|diwali|"
    r"han+uk+ah|passover|春节|除夕|元宵节?|清明节?|端午节?|七夕|中秋节?|重阳节?"
)
NAMED: Final = re.compile("|".join((*_FIXED, *_MOVING)), re.IGNORECASE)
UNTOLD: Final = re.compile(rf"(?:\b|(?<=[\u4e00-\u9fff]))(?i:{_UNKNOWN})(?![A-Za-z])")
"""Names of days that follow the moon: which date they fall on cannot be reckoned from these few rules."""


def festival(name: str, year: int) -> date:
    """The day that ``name``, which ``NAMED`` has found, falls on in ``year``. Labour Day is the first of May."""
    for pattern, (month, day) in _FIXED.items():
        if re.fullmatch(pattern, name, re.IGNORECASE):
            return date(year, month, day)
    moving = next(kind for pattern, kind in _MOVING.items() if re.fullmatch(pattern, name, re.IGNORECASE))
    return easter(year) if moving == "easter" else _thanksgiving(year)


def easter(year: int) -> date:
    """Western Easter Sunday, by the anonymous Gregorian algorithm (Nature, 1876; Meeus, Astronomical Algorithms, 8)."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    j = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * j) // 451
    month, day = divmod(h + j - 7 * m + 114, 31)
    return date(year, month, day + 1)


def _thanksgiving(year: int) -> date:
    """The fourth Thursday of November (United States)."""
    first = date(year, 11, 1)
    return first + timedelta(days=(3 - first.weekday()) % 7 + 21)
