"""The time of day, resolved in code."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from bot.core.errors import ToolFailed
from bot.core.tool import ToolContext
from bot.tools.registry import tool

_WEEKDAYS_ZH = "一二三四五六日"


@cache
def _cities() -> dict[str, str]:
    """The zones by the last part of their names: ``new york`` is ``America/New_York``."""
    return {
        name.rpartition("/")[2].replace("_", " ").lower(): name for name in sorted(available_timezones()) if "/" in name
    }


def zone_named(text: str) -> str:
    """The IANA name that a zone's name or a city's stands for; ``text`` itself where it is neither."""
    wanted = text.strip()
    if wanted in available_timezones():
        return wanted
    return _cities().get(wanted.replace("_", " ").partition(",")[0].strip().lower(), wanted)


@tool()
async def now(zone: str = "", *, context: ToolContext) -> str:
    """Tell the current date, weekday and time.

    zone: an IANA time zone such as Asia/Shanghai, or a large city; leave empty for the person's own
    """
    name = zone_named(zone) or context.zone or "UTC"
    try:
        moment = datetime.fromtimestamp(context.now, UTC).astimezone(ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ToolFailed(f"There is no time zone {name!r}; use an IANA name such as Europe/Berlin.") from error
    chinese = f"{moment:%Y}年{moment.month}月{moment.day}日 星期{_WEEKDAYS_ZH[moment.weekday()]} {moment:%H:%M}"
    return f"{moment:%A, %d %B %Y, %H:%M} ({name}, UTC{moment:%z}; {chinese})"
