"""When things happen, as a person writes it: time zones, quiet hours, cron expressions. Only checked here, not run."""

from __future__ import annotations

import re
import zoneinfo
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator

from bot.config.hints import did_you_mean

_CLOCK: Final = r"([01]?\d|2[0-3]):([0-5]\d)"
_QUIET: Final = re.compile(rf"{_CLOCK}\s*-\s*{_CLOCK}")
_STEP: Final = re.compile(r"(?P<range>\*|[^/]+)(?:/(?P<step>[1-9]\d*))?")
_MONTHS: Final = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS: Final = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_FIELDS: Final[tuple[tuple[str, int, int, dict[str, int]], ...]] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of the month", 1, 31, {}),
    ("month", 1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    ("day of the week", 0, 7, {name: number for number, name in enumerate(_DAYS)}),
)


def _zone(value: str) -> str:
    known = zoneinfo.available_timezones()
    if value == "auto" or value in known:
        return value
    if not known:
        raise ValueError("no time zones are installed on this machine; install the package tzdata or write auto")
    raise ValueError(f"must be auto or the IANA name of a time zone, such as Europe/Berlin{did_you_mean(value, known)}")


def quiet_minutes(text: str) -> tuple[int, int]:
    """Minutes after midnight at which quiet hours begin and end. Raises ``ValueError`` for anything else than a range."""
    match = _QUIET.fullmatch(text.strip())
    if match is None:
        raise ValueError('must be two times of day such as "22:00-07:00", or off')
    start, end = (int(match[hour]) * 60 + int(match[hour + 1]) for hour in (1, 3))
    if start == end:
        raise ValueError("begins and ends at the same time; write off for no quiet hours")
    return start, end


def _quiet_hours(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    quiet_minutes(text)
    return text


def _cron(value: str) -> str:
    fields = value.split()
    if len(fields) != len(_FIELDS):
        raise ValueError(
            'must be a cron expression of five fields (minute hour day month weekday), such as "0 8 * * 1-5"'
        )
    for text, (name, low, high, names) in zip(fields, _FIELDS, strict=True):
        for item in text.split(","):
            _check_item(item, name, low, high, names)
    return value


def _check_item(item: str, name: str, low: int, high: int, names: dict[str, int]) -> None:
    match = _STEP.fullmatch(item)
    if match and match["range"] == "*":
        return
    bounds = [names.get(word.lower(), word) for word in match["range"].split("-")] if match else []
    numbers = [int(bound) for bound in bounds if str(bound).isdecimal()]
    if not numbers or len(numbers) != len(bounds) or len(numbers) > 2:
        raise ValueError(f"the {name} is not a number, a range, a list, or *")
    if not all(low <= number <= high for number in numbers) or numbers != sorted(numbers):
        raise ValueError(f"the {name} must lie between {low} and {high}")


Zone = Annotated[str, AfterValidator(_zone)]
QuietHours = Annotated[str, BeforeValidator(_quiet_hours)]
Cron = Annotated[str, AfterValidator(_cron)]
"""Five fields. 0 and 7 are Sunday; months and weekdays may be English names of three letters."""
