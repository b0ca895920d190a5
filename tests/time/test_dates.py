"""Words for days, reckoned from Wednesday, 25 November 2026 unless the test says otherwise."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.time.dates import dates_in
from bot.time.festivals import UNTOLD, easter

TODAY = date(2026, 11, 25)

DAYS: list[tuple[str, str]] = [
    ("What is the date today?", "2026-11-25"),
    ("this evening", "2026-11-25"),
    ("What is the date tomorrow?", "2026-11-26"),
    ("What was yesterday's date?", "2026-11-24"),
    ("the day after tomorrow", "2026-11-27"),
    ("Day before yesterday?", "2026-11-23"),
    ("in 3 days", "2026-11-28"),
    ("in a week", "2026-12-02"),
    ("in two weeks", "2026-12-09"),
    ("in a fortnight", "2026-12-09"),
    ("in 3 months", "2027-02-25"),
    ("in one year", "2027-11-25"),
    ("10 days ago", "2026-11-15"),
    ("a month ago", "2026-10-25"),
    ("two years ago", "2024-11-25"),
    ("100 days from now", "2027-03-05"),
    ("a week from tomorrow", "2026-12-03"),
    ("2 days before yesterday", "2026-11-22"),
    ("next Monday", "2026-11-30"),
    ("next Friday", "2026-12-04"),
    ("next wed", "2026-12-02"),
    ("this Friday", "2026-11-27"),
    ("this Monday", "2026-11-23"),
    ("last Monday", "2026-11-23"),
    ("last Wednesday", "2026-11-18"),
    ("last Friday", "2026-11-20"),
    ("on Friday", "2026-11-27"),
    ("on Wednesday", "2026-11-25"),
    ("Monday", "2026-11-30"),
    ("Monday next week", "2026-11-30"),
    ("next week on Thursday", "2026-12-03"),
    ("Friday last week", "2026-11-20"),
    ("last week Monday", "2026-11-16"),
    ("December 25", "2026-12-25"),
    ("25 December 2030", "2030-12-25"),
    ("on the 3rd of March", "2027-03-03"),
    ("Nov. 5th, 2026", "2026-11-05"),
    ("by 2027-02-28", "2027-02-28"),
    ("How many days until Christmas?", "2026-12-25"),
    ("last Christmas", "2025-12-25"),
    ("next New Year's Eve", "2026-12-31"),
    ("New Year's Day", "2027-01-01"),
    ("Halloween", "2027-10-31"),
    ("Thanksgiving", "2026-11-26"),
    ("When is Easter?", "2027-03-28"),
    ("今天几号？", "2026-11-25"),
    ("今晚", "2026-11-25"),
    ("明天是几号？", "2026-11-26"),
    ("明早八点", "2026-11-26"),
    ("后天星期几", "2026-11-27"),
    ("大后天", "2026-11-28"),
    ("昨天", "2026-11-24"),
    ("前天是星期几？", "2026-11-23"),
    ("大前天", "2026-11-22"),
    ("3天后是几号", "2026-11-28"),
    ("十五天之后", "2026-12-10"),
    ("两个星期后", "2026-12-09"),
    ("再过二十天", "2026-12-15"),
    ("一百天", ""),
    ("三个月以后", "2027-02-25"),
    ("两年前", "2024-11-25"),
    ("5天前", "2026-11-20"),
    ("下周一", "2026-11-30"),
    ("下星期天", "2026-12-06"),
    ("下下周三", "2026-12-09"),
    ("上周五", "2026-11-20"),
    ("这周五", "2026-11-27"),
    ("本周一", "2026-11-23"),
    ("周五", "2026-11-27"),
    ("礼拜日", "2026-11-29"),
    ("12月25日是星期几", "2026-12-25"),
    ("十二月二十五号", "2026-12-25"),
    ("3月3日", "2027-03-03"),
    ("2028年2月29日", "2028-02-29"),
    ("明年1月1日", "2027-01-01"),
    ("去年5月4号", "2025-05-04"),
    ("下个月5号", "2026-12-05"),
    ("这个月1号", "2026-11-01"),
    ("28号", "2026-11-28"),
    ("5号", "2026-12-05"),
    ("离圣诞节还有多少天？", "2026-12-25"),
    ("明年元旦", "2027-01-01"),
    ("元旦", "2027-01-01"),
    ("国庆节", "2027-10-01"),
    ("今年国庆", "2026-10-01"),
]
SPANS = [
    ("this weekend", "2026-11-28", "2026-11-29"),
    ("next weekend", "2026-12-05", "2026-12-06"),
    ("next week", "2026-11-30", "2026-12-06"),
    ("last week", "2026-11-16", "2026-11-22"),
    ("this month", "2026-11-01", "2026-11-30"),
    ("next month", "2026-12-01", "2026-12-31"),
    ("last year", "2025-01-01", "2025-12-31"),
    ("这个周末", "2026-11-28", "2026-11-29"),
    ("周末去哪儿", "2026-11-28", "2026-11-29"),
    ("下周末", "2026-12-05", "2026-12-06"),
    ("下周", "2026-11-30", "2026-12-06"),
    ("上个月", "2026-10-01", "2026-10-31"),
    ("明年", "2027-01-01", "2027-12-31"),
]
NOTHING = [
    "hello",
    "I may go",
    "I had a great time",
    "The meeting has 5-10 people",
    "version 2.5-12",
    "on the 30th of February",
    "2026-13-40",
    "坐3号线",
    "以前天天跑步",
    "他很聪明天真",
    "2026年后",
    "几号？星期几？",
    "你好",
]


@pytest.mark.parametrize(("text", "wanted"), DAYS)
def test_words_mean_the_day_they_mean(text: str, wanted: str) -> None:
    assert [one.first.isoformat() for one in dates_in(text, TODAY)] == ([wanted] if wanted else [])


@pytest.mark.parametrize(("text", "first", "last"), SPANS)
def test_words_for_several_days_have_a_first_and_a_last(text: str, first: str, last: str) -> None:
    assert [(one.first.isoformat(), one.last.isoformat()) for one in dates_in(text, TODAY)] == [(first, last)]


@pytest.mark.parametrize("text", NOTHING)
def test_words_that_mean_no_certain_day_find_none(text: str) -> None:
    assert dates_in(text, TODAY) == ()


def test_several_days_come_in_the_order_of_the_words() -> None:
    found = dates_in("From next Monday to the day after tomorrow? 还是明天？", TODAY)
    assert [one.words for one in found] == ["next Monday", "the day after tomorrow", "明天"]
    assert [one.first.day for one in found] == [30, 27, 26]


@pytest.mark.parametrize(
    ("today", "text", "wanted"),
    [
        (date(2026, 11, 30), "next Monday", date(2026, 12, 7)),
        (date(2026, 11, 30), "last Monday", date(2026, 11, 23)),
        (date(2026, 11, 29), "下周一", date(2026, 11, 30)),
        (date(2026, 12, 31), "tomorrow", date(2027, 1, 1)),
        (date(2028, 2, 28), "明天", date(2028, 2, 29)),
        (date(2027, 1, 31), "in a month", date(2027, 2, 28)),
        (date(2028, 2, 29), "in one year", date(2029, 2, 28)),
        (date(2026, 12, 25), "Christmas", date(2026, 12, 25)),
        (date(2026, 12, 26), "Christmas", date(2027, 12, 25)),
        (date(2026, 12, 26), "last Christmas", date(2026, 12, 25)),
        (date(2027, 1, 31), "next month", date(2027, 2, 1)),
    ],
)
def test_edges_of_weeks_months_and_years(today: date, text: str, wanted: date) -> None:
    assert dates_in(text, today)[0].first == wanted


@settings(max_examples=200, deadline=None)
@given(st.text(), st.dates(date(1, 1, 1), date(9999, 12, 31)))
def test_any_text_on_any_day_is_read_without_an_error(text: str, today: date) -> None:
    for one in dates_in(f"{text} in 99 years 999年前 明天 next month last year 下下周 {text}", today):
        assert one.first <= one.last


def test_easter_falls_where_the_almanac_says() -> None:
    assert [easter(year) for year in (2024, 2025, 2026, 2027, 2038)] == [
        date(2024, 3, 31),
        date(2025, 4, 20),
        date(2026, 4, 5),
        date(2027, 3, 28),
        date(2038, 4, 25),
    ]


@pytest.mark.parametrize("text", ["When is Chinese New Year?", "春节是几号", "今年中秋节", "Ramadan begins"])
def test_days_that_follow_the_moon_are_known_not_to_be_known(text: str) -> None:
    assert UNTOLD.search(text)
    assert not any("year" in one.words.lower() for one in dates_in(text, TODAY))
