from __future__ import annotations

import time

import pytest

from bot.brain.routing.signals import complexity_of, privacy_of, signals_of

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


@pytest.mark.parametrize(
    "text",
    [
        "my password is hunter2",
        "密码：hunter2",
        "use sk-ant-api03-abcdefghijklmnopqrstu please",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_abcdefghijklmnopqrstuvwxyz012345",
        "-----BEGIN RSA PRIVATE KEY-----",
        "the bot's token is 123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaww",
        "pay with 4111 1111 1111 1111",
        "4111111111111111",
        "passport number C01X00T47",
        "her ssn: 078-05-1120",
        "DE89 3704 0044 0532 0130 00",
        "身份证 11010519491231002X",
        "我的护照号是 E12345678",
    ],
)
def test_what_must_not_be_known_by_others_is_secret(text: str) -> None:
    assert privacy_of(text) == "secret"


@pytest.mark.parametrize(
    "text",
    [
        "my blood pressure is high",
        "I was diagnosed last week with diabetes",
        "I owe two thousand to the bank",
        "our little daughter cannot sleep",
        "我老婆要离婚",
        "我的血压有点高",
        "我每个月工资一万",
        "write to ann.b@example.org",
        "call me: +49 170 1234567",
        "我的手机 13812345678",
    ],
)
def test_what_is_about_somebody_is_personal(text: str) -> None:
    assert privacy_of(text) == "personal"


@pytest.mark.parametrize(
    "text",
    [
        "What is blood pressure?",
        "how do password managers work",
        "order 1234 5678 9012 3456 has arrived",
        "pi is 3.14159265358979323846",
        "in 2024 there were 1300000000000 of them",
        "the file my_script.py fails in line 12",
        "血压是什么",
        "110105194912310021",
        "DE00 3704 0044 0532 0130 00",
        "0" * 16,
        "x@y",
    ],
)
def test_what_only_looks_like_it_is_public(text: str) -> None:
    assert privacy_of(text) == "public"


def test_names_of_files_and_the_intent_tell_of_privacy() -> None:
    assert privacy_of("what does it say", ["payslip-march.pdf"]) == "personal"
    assert privacy_of("看看这个", ["体检报告.pdf"]) == "personal"
    assert privacy_of("what does it say", ["novel.pdf"]) == "public"
    assert signals_of("I cannot sleep since she left", "personal_info").privacy == "personal"


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
