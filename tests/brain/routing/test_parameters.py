from __future__ import annotations

import time
from datetime import UTC, date, datetime

import pytest

from bot.brain.routing.parameters import names_in, parameters_of
from bot.time.dates import dates_in

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC).timestamp()
"""A Wednesday."""


@pytest.mark.parametrize(
    ("text", "intent", "days"),
    [
        ("what did we decide last week", "recall", ("2026-11-23", "2026-11-29")),
        ("what did I say on Monday", "recall", ("2026-11-30", "2026-11-30")),
        ("meet me on Monday", "plan", ("2026-12-07", "2026-12-07")),
        ("what did we say on Friday and on Monday", "recall", ("2026-11-27", "2026-11-30")),
        ("the recipe we talked about in March", "recall", ("2026-03-01", "2026-03-31")),
        ("a trip in March", "plan", ("2027-03-01", "2027-03-31")),
        ("三月份我们聊过的菜", "recall", ("2026-03-01", "2026-03-31")),
        ("十二月去哪里玩", "plan", ("2026-12-01", "2026-12-31")),
        ("上周说的方案", "recall", ("2026-11-23", "2026-11-29")),
        ("周五见", "plan", ("2026-12-04", "2026-12-04")),
    ],
)
def test_the_days_that_a_message_speaks_of(text: str, intent: str, days: tuple[str, str]) -> None:
    found = parameters_of(text, intent, NOW, "UTC")
    assert (found["from"], found["to"]) == days


def test_a_message_that_speaks_of_no_day_has_none() -> None:
    assert "from" not in parameters_of("may I ask about the third of them", "recall", NOW, "UTC")
    assert "from" not in parameters_of("三个月的计划", "plan", NOW, "UTC")


@pytest.mark.parametrize(
    "text",
    [
        *("Christmas Eve", "boxing day", "xmas", "new year's eve", "Valentine's", "may day", "Halloween", "hallowe'en"),
        *("easter", "Thanksgiving", "in a fortnight", "two weeks ago", "tonight", "this evening", "last night", "Tue"),
        *(
            "平安夜",
            "圣诞",
            "跨年夜",
            "元旦",
            "情人节",
            "国庆",
            "感恩节",
            "今晚",
            "后天",
            "下周",
            "三个月后",
            "本周末",
            "明早",
            "十五号",
        ),
    ],
)
def test_no_day_is_missed_for_that(text: str) -> None:
    assert ("from" in parameters_of(text, "", NOW, "UTC")) is bool(dates_in(text, date(2026, 12, 2)))


def test_today_is_that_of_the_persons_zone() -> None:
    late = datetime(2026, 12, 2, 23, tzinfo=UTC).timestamp()
    assert parameters_of("today", "", late, "Asia/Shanghai")["from"] == "2026-12-03"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What did Anna Smith say about New York?", ["Anna Smith", "New York"]),
        ("Call Tom. Then I call Bob's sister", ["Tom", "Bob"]),
        ('who wrote "The Hobbit", is it good', ["The Hobbit"]),
        ("我和小王聊过的《三体》", ["三体", "小王"]),
        ("给张医生和李老师发邮件", ["张医生", "李老师"]),
        ("I met him on Monday", []),
        ("nobody of that name", []),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert names_in(text) == names


def test_the_topic_is_what_the_telling_words_say() -> None:
    found = parameters_of("What did we decide about the kitchen tiles?", "recall", NOW, "UTC")
    assert dict(found) == {"topic": "decide kitchen tiles"}
    assert parameters_of("and you?", "", NOW, "UTC") == {}


@pytest.mark.parametrize("piece", ["A b ", "《", "A", "小", "1月", "in march ", '"', "and "])
def test_no_text_takes_long(piece: str) -> None:
    began = time.process_time()
    parameters_of(piece * 50_000, "recall", NOW, "UTC")
    assert time.process_time() - began < 0.5
