"""Albums and long pastes: what a person sent as one thing is one question, however many messages Telegram makes of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
from channels.telegram.fragments import BURST_SECONDS, Fragments
from tests.channels.telegram.conftest import StartBot
from tests.sim.llm import LlmSim, answer, text
from tests.sim.telegram import TelegramSim

ANN = Sender("telegram", "7", "Ann")
HERE = Address("telegram", "main", "7")
LONG = "word " * 819
DATE = 1_800_000_000.0
SAID = "I have seen all of it, thank you."


def said(number: int, words: str, at: float = 0.0, **fields: Any) -> UserMessage:
    return UserMessage(str(number), HERE, ANN, words, DATE + at, **fields)


def named(fragments: Fragments, message: UserMessage, **raw: Any) -> str:
    return fragments.named(message, {"text": message.text} | raw).fragment


def test_photos_of_one_album_are_pieces_of_one_message_and_another_album_is_another() -> None:
    fragments = Fragments()
    names = [
        named(fragments, said(number, ""), media_group_id=album) for number, album in ((1, "a"), (2, "a"), (3, "b"))
    ]
    assert names[0] == names[1] != names[2] and all(names)


def test_what_follows_a_long_text_at_once_is_a_piece_of_it() -> None:
    fragments = Fragments()
    first, second, last = said(1, LONG), said(2, LONG, 1.0), said(3, "the end", 1.0)
    names = [named(fragments, message) for message in (first, second, last)]
    assert names == ["text:1"] * 3
    assert named(fragments, said(4, "and another thing", 2.0)) == ""


def test_a_piece_that_comes_again_has_the_same_name() -> None:
    fragments = Fragments()
    first, last = said(1, LONG), said(2, "the end", 1.0)
    assert [named(fragments, message) for message in (first, last, last, first, last)] == ["text:1"] * 5


@pytest.mark.parametrize(
    ("message", "raw"),
    [
        (said(2, "later", BURST_SECONDS + 1.0), {}),
        (said(2, "/stop"), {}),
        (said(2, "a reply"), {"reply_to_message": {"message_id": 1}}),
        (said(2, "a reply to elsewhere"), {"external_reply": {"message_id": 1}}),
        (said(2, ""), {"forward_origin": {"type": "user"}}),
        (replace(said(2, "another person"), sender=Sender("telegram", "8", "Bob")), {}),
        (replace(said(2, "another chat"), address=Address("telegram", "main", "8")), {}),
        (replace(said(2, "another topic"), address=Address("telegram", "main", "7", "12")), {}),
    ],
)
def test_what_only_comes_after_a_long_text_stands_alone(message: UserMessage, raw: dict[str, Any]) -> None:
    fragments = Fragments()
    assert named(fragments, said(1, LONG)) == "text:1"
    assert named(fragments, message, **raw) == ""


def test_short_texts_and_long_commands_are_no_pieces() -> None:
    fragments = Fragments()
    assert [
        named(fragments, said(1, "a")),
        named(fragments, said(2, "b")),
        named(fragments, said(3, "/x " + LONG)),
    ] == [
        "",
        "",
        "",
    ]
    assert named(fragments, said(4, "c")) == ""


def test_a_long_text_that_begins_with_a_path_is_no_command_and_goes_on() -> None:
    fragments = Fragments()
    assert [named(fragments, said(1, "/var/log: " + LONG)), named(fragments, said(2, "the end", 1.0))] == ["text:1"] * 2


def test_in_a_group_the_first_piece_has_the_mention_and_means_all_of_them() -> None:
    fragments, team = Fragments(), Address("telegram", "main", "-1001")
    for raw in ({"media_group_id": "a"}, {}):
        first, last = (
            fragments.named(replace(message, address=team, direct=False), {"text": message.text} | raw)
            for message in (said(1, LONG, addressed=True), said(2, "the end", addressed=False))
        )
        assert first.fragment == last.fragment != "" and first.addressed and last.addressed


async def test_b106_an_album_is_one_question(bot: StartBot, telegram: TelegramSim, llm: LlmSim) -> None:
    llm.script(answer(text(SAID)))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.album(chat, ann, ["what are these?", "the second", "", "the fourth"])
        await telegram.until(lambda sim: SAID in "".join(sim.bot_texts(chat)) and not sim.pending)
        await asyncio.sleep(0.3)
    assert len(telegram.bot_texts(chat)) == 1
    (request,) = llm.requests
    assert all(words in str(request.body) for words in ("what are these?", "the second", "the fourth"))


async def test_a_long_paste_is_one_question(bot: StartBot, telegram: TelegramSim, llm: LlmSim) -> None:
    llm.script(answer(text(SAID)))
    paste = "\n".join(f"line {number} of a text that somebody has pasted whole" for number in range(200))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        pieces = await telegram.paste(chat, ann, paste)
        await telegram.until(lambda sim: sim.bot_texts(chat) == [SAID] and not sim.pending)
    (request,) = llm.requests
    assert len(pieces) > 2 and all(f"line {number} of" in str(request.body) for number in range(200))


async def test_the_pieces_of_a_paste_that_came_while_nobody_was_there_are_one_question_as_well(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(text(SAID)))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    await telegram.paste(chat, ann, LONG * 3)
    async with bot():
        await telegram.until(lambda sim: sim.bot_texts(chat) == [SAID] and not sim.pending)
    assert len(llm.requests) == 1
