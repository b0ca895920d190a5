"""The time of day, resolved in code."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.core.errors import ToolFailed
from bot.core.tool import ToolContext
from bot.tools.registry import tool

_WEEKDAYS_ZH = "一二三四五六日"


@tool()
async def now(zone: str = "", *, context: ToolContext) -> str:
    """Tell the current date, weekday and time.

    zone: an IANA time zone such as Asia/Shanghai; leave empty for the person's own
    """
    name = zone or context.zone or "UTC"
    try:
        moment = datetime.fromtimestamp(context.now, UTC).astimezone(ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ToolFailed(f"There is no time zone {name!r}; use an IANA name such as Europe/Berlin.") from error
    chinese = f"{moment:%Y}年{moment.month}月{moment.day}日 星期{_WEEKDAYS_ZH[moment.weekday()]} {moment:%H:%M}"
    return f"{moment:%A, %d %B %Y, %H:%M} ({name}, UTC{moment:%z}; {chinese})"
