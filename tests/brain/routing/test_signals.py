from __future__ import annotations

import time

import pytest

from bot.brain.routing.signals import complexity_of, signals_of

LIST = "Do this:\n- open the shop\n- count the till\n- call Ann\n"


@pytest.mark.parametrize(
    ("text", "complexity"),
    [
        ("hi", "simple"),
        ("What is the capital of Peru?", "simple"),
        ("秘鲁的首都是哪里？", "simple"),
        ("Why is the sky blue, and is it so on Mars as well, where the air is thin and dusty?", "medium"),
        (LIST, "medium"),
        (
            "Compare both offers in detail, then list the pros and cons of each. Which is safer? Which is cheaper?",
            "complex",
        ),
        ("请详细分析这两个方案的优缺点，然后比较成本，最后给出建议，要求不超过两页，至少三个理由。", "complex"),
        ("```\nfor x in y:\n    print(x)\n```\nWhy does this loop never end? Explain it step by step.", "complex"),
        ("word " * 500, "complex"),
    ],
)
def test_how_much_a_message_asks_for(text: str, complexity: str) -> None:
    assert complexity_of(text) == complexity


def test_the_intent_and_what_came_along_count() -> None:
    assert complexity_of("make it work again") == "simple"
    assert complexity_of("make it work again", "code") == "medium"
    assert complexity_of("what is in these", files=("a.pdf", "b.pdf"), pictures=True) == "complex"
    assert complexity_of("/skill trip-planner and what then, and why?", "plan") == "complex"
    assert complexity_of("Why do you say so", "small_talk") == "simple"


def test_the_intent_tells_of_privacy_and_so_does_what_may_be_one() -> None:
    text = "nothing is as it was since she left"
    assert signals_of(text).privacy == signals_of(text, "small_talk").privacy == "public"
    assert signals_of(text, "personal_info").privacy == signals_of(text, "local_data").privacy == "personal"
    assert signals_of(text, "small_talk", private=True).privacy == "personal"
    assert signals_of("my password is hunter2", private=True).privacy == "secret"


def test_what_another_look_may_see_otherwise_is_said() -> None:
    assert signals_of("hi").unsure == frozenset()
    assert signals_of(LIST).unsure == {"complexity"}
    assert signals_of("what is wrong with my printer").unsure == {"privacy"}


def test_a_key_at_the_end_of_a_long_text_is_seen() -> None:
    assert privacy_of_long("x " * 100_000 + "password: hunter2") == "secret"


def privacy_of_long(text: str) -> str:
    return signals_of(text).privacy


@pytest.mark.parametrize(
    "piece", ["a.", "1-", "A1 ", "i was ", "my ", "sk-a-", "A", " ", "0123 ", "- a\n", "(", "我", "{\n"]
)
def test_no_text_takes_long_to_read(piece: str) -> None:
    began = time.process_time()
    signals_of(piece * 20_000)
    assert time.process_time() - began < 1.0
