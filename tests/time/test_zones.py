"""The machine's zone is always a name that exists."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from bot.time.zones import local_zone


@pytest.mark.parametrize(
    ("written", "expected"), [("Asia/Shanghai", "Asia/Shanghai"), (":Europe/Berlin", "Europe/Berlin")]
)
def test_tz_is_read(monkeypatch: pytest.MonkeyPatch, written: str, expected: str) -> None:
    monkeypatch.setenv("TZ", written)
    assert local_zone() == expected


@pytest.mark.parametrize("written", ["Nowhere/Land", "../../etc/passwd", "EST5EDT,M3.2.0,M11.1.0"])
def test_what_is_no_zone_is_passed_over(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("TZ", written)
    ZoneInfo(local_zone())
