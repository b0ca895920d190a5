"""The real model on questions about days: reckoned in code, told before the question, and answered with what was told."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.net.http import Transport
from bot.providers.local.keeper import Phase
from bot.providers.local.provider import Config, LocalProvider, build
from bot.time.clock import SystemClock
from tests.providers.local.asking import ask, came, prompted
from tests.providers.local.messages import TOOLS

pytestmark = [pytest.mark.model, pytest.mark.prove, pytest.mark.timeout(900)]
log = logging.getLogger(__name__)

NOW_SAYS = "Monday, 30 November 2026, 15:27 (Asia/Shanghai, UTC+0800; 2026年11月30日 星期一 15:27)"

QUESTIONS = (
    ("What is today's date?", r"30 November|November 30|2026-11-30"),
    ("What was yesterday's date?", r"29 November|November 29|2026-11-29"),
    ("What is the date tomorrow?", r"\b1 December|December 1\b|2026-12-01"),
    ("What weekday is the day after tomorrow?", r"Wednesday"),
    ("What date is next Friday?", r"11 December|December 11"),
    ("How many days until Christmas?", r"\b25\b"),
    ("What date will it be in 10 days?", r"10 December|December 10"),
    ("What day of the week was 20 days ago?", r"Tuesday"),
    ("Which dates are next weekend?", r"(?=.*\b12\b)(?=.*\b13\b)"),
    ("今天是几号？", r"11月30日|30号"),
    ("明天是几号？", r"12月1日|12月1号"),
    ("昨天星期几？", r"星期日|星期天|周日"),
    ("后天是几月几号？", r"12月2[日号]"),
    ("下周五是几号？", r"12月11[日号]"),
    ("离圣诞节还有多少天？", r"25\s*天"),
    ("十天后是星期几？", r"星期四|周四"),
    ("大前天是几号？", r"11月27[日号]"),
)


UNSEEN = (
    ("Hi! Can you tell me what day tomorrow is?", r"Tuesday|1 December|December 1"),
    ("What's the date of next Monday?", r"\b7 December|December 7"),
    ("What day is Christmas this year?", r"Friday|25 December|December 25"),
    ("How many days are left until New Year's Eve?", r"\b31\b"),
    ("Which day was it a week ago?", r"Monday|23 November|November 23"),
    ("What is the date in three weeks?", r"21 December|December 21"),
    ("今天星期几，几号？", r"(?=.*(星期一|周一))?.*30"),
    ("请问后天是星期几？", r"星期三|周三"),
    ("前天是几号？", r"11月28|28[日号]"),
    ("下周一的日期是什么？", r"12月7[日号]"),
    ("再过三天是几月几号？", r"12月3[日号]"),
    ("离元旦还有几天？", r"32\s*天"),
)


@pytest.fixture
async def provider(qwen: Path, tmp_path: Path) -> AsyncIterator[LocalProvider]:
    http = Transport()
    provider = build("local", Config(path=qwen), SystemClock(), tmp_path, http)
    assert (await provider.prepare()).phase is Phase.READY
    yield provider
    await provider.aclose()
    await http.aclose()


async def answered(provider: LocalProvider, question: str) -> str:
    """What a person reads in the end; the clock's tool answers where the model asks for it."""
    heard = await ask(provider, prompted(question, tools=TOOLS, max_tokens=80))
    if heard.calls:
        heard = await ask(provider, prompted(question, *came(heard.calls[0], NOW_SAYS), tools=TOOLS, max_tokens=80))
    return heard.text


@pytest.mark.parametrize("questions", [QUESTIONS, UNSEEN], ids=["chosen", "unseen"])
async def test_questions_about_days_get_the_days_that_were_reckoned(
    provider: LocalProvider, questions: tuple[tuple[str, str], ...]
) -> None:
    wrong = []
    for question, wanted in questions:
        text = await answered(provider, question)
        log.info("%s -> %s", question, text)
        if not re.search(wanted, text, re.DOTALL):
            wrong.append((question, text))
    log.info("%d of %d questions about days", len(questions) - len(wrong), len(questions))
    assert wrong == []
