"""What a thread is called: the first words of the question, as a person reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.address import Address, Sender
from bot.core.inbound import FileRef, UserMessage
from bot.outbox.graphemes import length
from channels.discord.titles import title

WORDS = "word " * 40


def asked(text: str, *files: str) -> UserMessage:
    refs = tuple(FileRef("discord", name, name, "text/plain") for name in files)
    at = Address("discord", "main", "1", "2")
    return UserMessage("2", at, Sender("discord", "7", "Ann"), text, 0.0, direct=False, files=refs)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("What is the time?", "What is the time?"),
        ("  several\n\nlines\tof\r\nit  ", "several lines of it"),
        ("**Bold**, *slanted*, ~~gone~~ and `code`?", "Bold, slanted, gone and code?"),
        ("# A heading\n> quoted\n- item", "A heading quoted • item"),
        ("[the docs](https://example.org/a) say so?", "the docs say so?"),
        ("```python\nprint(1)\n```\nwhy?", "print(1) why?"),
        ("is @everyone and @Bob here?", "is everyone and Bob here?"),
        ("mail me at a@b.example", "mail me at a@b.example"),
        ("who is ||the murderer||?", "who is … ?"),
        ("||everything||", "Bowerbird"),
        (":wave: hello :party_parrot:", "hello"),
        ("at 10:30:15, or 11:00?", "at 10:30:15, or 11:00?"),
        ("为什么天空是蓝色的？", "为什么天空是蓝色的？"),
        ("", "Bowerbird"),
        ("???", "Bowerbird"),
        ("\u202eevil\u202c name\x00", "evil name"),
        ("x" * 100, "x" * 100),
        ("x" * 101, "x" * 99 + "…"),
        (WORDS, ("word " * 20).strip() + "…"),
        ("字" * 300, "字" * 99 + "…"),
        ("👩‍👩‍👧‍👦" * 20 + "a", "👩‍👩‍👧‍👦" * 9 + "…"),
    ],
)
def test_a_thread_is_called_by_the_first_words_of_the_question(text: str, name: str) -> None:
    assert title(asked(text), "Bowerbird") == name


def test_what_came_without_words_is_called_by_its_file() -> None:
    assert title(asked("", "plan.pdf", "more.txt"), "Bowerbird") == "plan.pdf"


@given(st.text(max_size=600), st.text(max_size=20))
def test_any_text_makes_a_name_that_discord_takes(text: str, otherwise: str) -> None:
    name = title(asked(text), otherwise)
    assert 1 <= length(name, "utf16") <= 100 and name == name.strip() and "\n" not in name
