"""What a message tells that helps to recall what belongs to it: its topic, names, the days it speaks of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bot.brain.routing.fillers import telling
from bot.core.text import CJK, clipped
from bot.time.dates import dates_in

READ_CHARS: Final = 2_000
MOST_TOPIC: Final = 8
MOST_NAMES: Final = 6
NAME_CHARS: Final = 60
PAST: Final = frozenset({"recall"})
"""Intents that ask about what has been."""

_QUOTED: Final = re.compile(r"[\"“«「『《]([^\"”»」』》\n]{2,60})[\"”»」』》]")
_CAPITAL: Final = re.compile(
    r"(?<![.!?:\n\"“] )(?<!^)(?<=[\w,;] )([A-Z][\w'’-]+(?: (?:(?:of|the|de|van|von|la) )?[A-Z][\w'’-]+)*)"
)
_TITLED_ZH: Final = re.compile(
    r"([赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦许何吕张孔曹严华金魏陶姜谢邹苏潘葛范彭鲁马方任袁柳唐罗毕郝安常于傅康余顾孟黄萧尹姚邵汪毛戴宋熊舒屈项祝董梁杜贾江郭梅林钟徐邱高夏蔡田胡霍万卢莫房缪解丁邓洪包左石崔吉龚程邢裴陆荣翁段白刘龙叶司黎乔阎文曾关苗史][\u4e00-\u9fff]{0,2}?(?:先生|女士|小姐|老师|医生|教授|经理|总|师傅|阿姨|叔叔|同学))"
)
_NICK_ZH: Final = re.compile(
    r"(?:(?<=[跟和给找叫问约与同])|(?<=同事)|(?<=朋友))([小老阿][\u4e00-\u9fff](?![\u4e00-\u9fff]?(?:时|家|板|师)))"
)
_ORDINARY: Final = """
i i'm i've i'll i'd monday tuesday wednesday thursday friday saturday sunday january february march april may june july
august september october november december ok pdf english chinese german french spanish japanese
"""
_NO_NAMES: Final = frozenset(_ORDINARY.split())
_MONTH: Final = re.compile(
    r"\b(?:in|of|since|during|last) (january|february|march|april|may|june|july|august|september|october|november|"
    r"december)\b|(?<![\d一二三四五六七八九十个])(1[0-2]|[1-9]|十[一二]|[一二三四五六七八九十])月份?(?![\d一二三四五六七八九十]*[日号])",
    re.IGNORECASE,
)
_DATED: Final = re.compile(
    r"\d|day|week|month|year|fortnight|tonight|tomorrow|morning|afternoon|evening|last night|ago\b|christmas|xmas|valentine|"
    r"easter|hallow|thanksgiving|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)"
    r"|[天周月年号日节早晚夜]|星期|礼拜|圣诞|元旦|国庆",
    re.IGNORECASE,
)
"""What every text has that speaks of a day, and many that do not."""
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DIGITS_ZH: Final = "一二三四五六七八九十"


def parameters_of(text: str, intent: str, now: float, zone: str) -> Mapping[str, str]:
    """``topic`` (its telling words), ``names`` (with a semicolon between two), ``from`` and ``to`` (days, both included,
    as ISO dates); each only where the message tells. ``now`` is Unix time, ``zone`` that of the person."""
    said = text[:READ_CHARS]
    today = datetime.fromtimestamp(now, UTC).astimezone(ZoneInfo(zone)).date()
    found: dict[str, str] = {}
    if topic := telling(said)[:MOST_TOPIC]:
        found["topic"] = clipped(" ".join(topic), 120)
    if names := names_in(said):
        found["names"] = "; ".join(names)
    if days := _days(said, today, past=intent in PAST):
        found["from"], found["to"] = (day.isoformat() for day in days)
    return found


def names_in(text: str) -> list[str]:
    """Of people, places, works: what is quoted, what is written with a capital, in Chinese what carries a title."""
    found = [match[1].strip() for match in _QUOTED.finditer(text)]
    if CJK.search(text):
        found += [match[1] for pattern in (_TITLED_ZH, _NICK_ZH) for match in pattern.finditer(text)]
    found += [match[1].removesuffix("'s").removesuffix("’s") for match in _CAPITAL.finditer(text)]
    names = (clipped(name, NAME_CHARS).replace(";", ",") for name in found if name.lower() not in _NO_NAMES)
    different = list(dict.fromkeys(names))
    return [name for name in different if not any(name != other and name in other for other in different)][:MOST_NAMES]


def _days(text: str, today: date, *, past: bool) -> tuple[date, date] | None:
    """From the first to the last day that is named. Of what has been, a day of the week is the last one, not the next."""
    if not _DATED.search(text):
        return None
    spans = []
    for one in dates_in(text, today):
        back = timedelta(days=7) if past and one.first > today and (one.first - today).days < 7 else timedelta()
        spans.append((one.first - back, one.last - back))
    if not spans:
        spans = [_month(match, today, past=past) for match in _MONTH.finditer(text)]
    return (min(first for first, _ in spans), max(last for _, last in spans)) if spans else None


def _month(match: re.Match[str], today: date, *, past: bool) -> tuple[date, date]:
    """A month that is named alone: of what has been the latest that began, else the one to come."""
    name = (match[1] or match[2]).lower()
    if match[1]:
        number = _MONTHS.index(name[:3]) + 1
    elif name.isdecimal():
        number = int(name)
    else:
        number = sum(_DIGITS_ZH.index(sign) + 1 for sign in name)
    year = today.year
    if past and number > today.month:
        year -= 1
    elif not past and number < today.month:
        year += 1
    first = date(year, number, 1)
    return first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
