"""One data folder, more than one bot: the first has the daemon's own account, another one has chats of its own."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from bot.store.store import Store
from tests.channels.telegram.conftest import CONFIG, StartBot
from tests.sim.llm import LlmSim, When, answer, gate, text
from tests.sim.telegram import TelegramSim

OTHER = "999:NEW"


def conf(sim: TelegramSim) -> str:
    return CONFIG.replace("123456:SIM", sim.token).replace("{telegram}", sim.url)


async def test_the_messages_of_another_bot_are_none_of_the_first_ones(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Both number the messages of a chat from one."""
    llm.script(answer(text("Hello there, this is my answer."), repeat=True))
    async with TelegramSim(OTHER) as other:
        for sim in (telegram, other, telegram):
            chat = sim.private(ann := sim.person(7, "Ann"))
            with caplog.at_level(logging.INFO):
                caplog.clear()
                async with bot(conf(sim)):
                    before = len(sim.bot_texts(chat))
                    await sim.say(chat, ann, "hello")
                    await sim.until(lambda sim, chat=chat, before=before: len(sim.bot_texts(chat)) > before)  # type: ignore[misc]
                    await sim.until(lambda sim, chat=chat: not any(shown.keyboard for shown in sim.visible(chat)))  # type: ignore[misc]
                    await sim.until(lambda sim: len(sim.called("setMyCommands")) == 2)
            said = [record.getMessage() for record in caplog.records if "another bot" in record.getMessage()]
            assert len(said) == (sim is other)
        assert other.bot_texts(other.chat(7)) == ["Hello there, this is my answer."]
        assert other.violations == []
    assert len(telegram.bot_texts(telegram.chat(7))) == 2
    async with Store.open(tmp_path / "data") as store:
        chats = [str(summary.address) for summary in await store.transcript.chats("telegram", "main", 9)]
        assert chats == ["telegram:main:7:"]
        assert [str(one.address) for one in await store.transcript.chats("telegram", "999", 9)] == ["telegram:999:7:"]


async def test_what_the_first_bot_left_open_waits_for_it_and_is_never_shown_by_another(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(
        answer(
            text("The first half of this answer. "), gate("g"), text("The second half of it."), when=When(user="first")
        ),
        answer(text("The first half of this answer. The second half of it."), when=When(user="first"), repeat=True),
        answer(text("I am the other one."), when=When(user="other")),
    )
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot(conf(telegram)):
        await telegram.say(chat, ann, "first")
        await telegram.until(lambda sim: sim.bot_texts(chat))
    async with TelegramSim(OTHER) as other:
        there = other.private(also := other.person(7, "Ann"))
        async with bot(conf(other)):
            await other.say(there, also, "other")
            await other.until(lambda sim: sim.bot_texts(there) == ["I am the other one."])
        assert other.bot_texts(there) == ["I am the other one."]
        assert other.violations == []
    async with bot(conf(telegram)):
        await telegram.until(
            lambda sim: sim.bot_texts(chat) == ["The first half of this answer. The second half of it."]
        )
        await telegram.until(lambda sim: not sim.visible(chat)[-1].keyboard)


async def test_a_token_that_was_never_good_does_not_count_as_the_first_bot(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, tmp_path: Path
) -> None:
    llm.script(answer(text("Hello there, this is my answer.")))
    async with bot(CONFIG.replace("123456:SIM", "555:WRONG")):
        await telegram.until(lambda sim: sim.called("getMe"))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat))
    async with Store.open(tmp_path / "data") as store:
        assert len(await store.transcript.chats("telegram", "main", 9)) == 1
