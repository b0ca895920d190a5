"""What a small model is told about days: before the words, in their language, and only where they speak of days."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from bot.brain.dates import dates_block
from bot.brain.tokens import estimated_tokens
from bot.core.model import ModelRef, TextBlock
from tests.brain.conftest import MakeHouse
from tests.fakes.provider import says

ZONE = "Asia/Shanghai"
NOW = datetime(2026, 11, 30, 0, 30, tzinfo=ZoneInfo(ZONE)).timestamp()
SMALL = ModelRef("local", "tiny", window_tokens=4096, max_tokens=512)


def test_today_is_the_day_of_the_persons_zone() -> None:
    block = dates_block(NOW, ZONE, "What was yesterday's date?")
    assert block == (
        "<dates>\nToday is Monday, 30 November 2026.\nTomorrow is Tuesday, 1 December 2026.\n"
        "Yesterday was Sunday, 29 November 2026.\n</dates>"
    )
    assert dates_block(NOW, "UTC", "What day is it?") == "<dates>\nToday is Sunday, 29 November 2026.\n</dates>"
    assert dates_block(NOW, ZONE, "今天几号？") == "<dates>\n今天是2026年11月30日，星期一。\n</dates>"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("When is Christmas?", "25 December"),
        ("How long until New Year's Eve?", "31 December"),
        ("Is Christmas on a weekend?", "Friday, 25 December"),
        ("Tell me tomorrow's date", "1 December"),
        ("国庆节是什么时候？", "2027年10月1日"),
        ("圣诞节是周末吗？", "12月25日"),
    ],
)
def test_a_question_that_needs_a_day_gets_it(text: str, wanted: str) -> None:
    assert wanted in dates_block(NOW, ZONE, text)


def test_what_the_message_speaks_of_is_reckoned_with_the_days_between() -> None:
    block = dates_block(NOW, ZONE, "How many days until Christmas? And what was 20 days ago?")
    assert "Christmas is Friday, 25 December 2026.\n25 days are left until Friday, 25 December 2026." in block
    assert "20 days ago was Tuesday, 10 November 2026." in block
    assert "next weekend".capitalize() in dates_block(NOW, ZONE, "Which days are next weekend?")


def test_a_chinese_message_is_told_in_chinese() -> None:
    block = dates_block(NOW, ZONE, "离圣诞节还有多少天？下周是哪几天？")
    assert "今天是2026年11月30日，星期一。" in block and "离圣诞节还有25天。" in block
    assert "下周是2026年12月7日，星期一到2026年12月13日，星期日。" in block
    assert not re.search("[A-Za-z]", block.replace("dates", ""))


@pytest.mark.parametrize(
    "text",
    [
        "Hello!",
        "What is three plus four?",
        "I had a great time",
        "你好！",
        "三加四等于几？",
        "Hello! How are you today?",
        "Please write down: water the plants tomorrow",
        "In what year did the Second World War end?",
        "Summarise this in one sentence: The library opened on Monday. What day suits you?",
        "What was the best day of your life?",
        "唐朝是哪一年建立的？",
        "给我讲一个关于星期一的笑话",
        "用Python写一个打印当前日期的小程序",
        "辛苦啦，今天就聊到这里，再见",
        "帮我记一下，周五下午要去取快递",
    ],
)
def test_talk_of_other_things_is_left_alone(text: str) -> None:
    assert dates_block(NOW, ZONE, text) == ""


def test_a_day_that_follows_the_moon_is_said_to_be_unknown() -> None:
    assert "Chinese New Year: the date is not known." in dates_block(NOW, ZONE, "When is Chinese New Year?")
    assert "春节：日期不知道。" in dates_block(NOW, ZONE, "春节是几号？")


def test_the_block_stays_small_whatever_the_message_says() -> None:
    assert estimated_tokens(dates_block(NOW, ZONE, "in 3 days, next Monday, Christmas, 5 weeks ago, " * 500)) < 250


async def test_a_small_model_gets_the_days_and_a_large_one_the_moment(make_house: MakeHouse) -> None:
    house = make_house(says("one"), says("two"), says("three"))
    house.chain[:] = [SMALL]
    await house.answer(await house.turn("What is the date tomorrow?", 1))
    await house.answer(await house.turn("hello", 2))
    first, second = house.provider.requests
    assert isinstance(first.messages[0].content[0], TextBlock) and "<dates>" in first.messages[0].content[0].text
    assert first.messages[0].content[1] == TextBlock("What is the date tomorrow?")
    assert "<dates>" not in str(second.messages) and "<now>" not in str([first.messages, second.messages])
    assert first.system == second.system and "2027" not in first.system
    house.chain[:] = [ModelRef("a", "big")]
    await house.answer(await house.turn("What is the date tomorrow?", 3))
    assert "<now>" in str(house.provider.requests[2].messages) and "<dates>" not in str(house.provider.requests[2])
