"""What Telegram does not take: each refusal has one other way to go, and a call that is not known is not a refused token."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest
from telegram.error import BadRequest

from bot.core.errors import ChannelError, ChannelUnreachable, Unauthorised
from bot.core.inbound import Inbound
from bot.net.http import Transport
from bot.time.clock import SystemClock
from channels.telegram.intake import Intake
from channels.telegram.moves import Moves
from channels.telegram.polling import Poller
from channels.telegram.updates import Me
from channels.telegram.wire import QuestionGone, Refused, Wire, translated, who_am_i
from tests.channels.telegram.conftest import StartBot
from tests.fakes.notes import MemoryNotes
from tests.sim.llm import LlmSim, answer, text
from tests.sim.telegram import TelegramSim

HELLO = answer(text("Hello there, **nice** to meet you."), repeat=True)
SAID = "Hello there, nice to meet you."
NEW = "Bad Request: something new"


@pytest.mark.parametrize("method", ["sendMessage", "editMessageText", "getUpdates", "setMyCommands"])
async def test_a_call_that_is_once_not_known_switches_nothing_off(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, method: str
) -> None:
    llm.script(HELLO)
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        telegram.fail(method, status=404)
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat) == [SAID] and not sim.visible(chat)[-1].keyboard)
        await telegram.say(chat, ann, "and again")
        await telegram.until(lambda sim: sim.bot_texts(chat) == [SAID, SAID])


async def test_a_call_that_is_never_known_is_tried_slowly() -> None:
    async with TelegramSim() as sim:
        http = Transport()
        wire = Wire(http, sim.url, sim.token)
        sim.fail("sendMessage", status=404, every=True)
        for _ in range(2):
            with pytest.raises(ChannelUnreachable, match="sendMessage") as raised:
                await wire.call("sendMessage", chat_id=7, text="x")
            assert not raised.value.maybe_done and wire.is_doubted and not wire.is_refused
        await who_am_i(wire)
        assert not wire.is_doubted
        await http.aclose()


async def test_a_bot_that_nobody_knows_at_the_proof_is_off_and_told_what_may_be_wrong(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    telegram.fail("getMe", status=404, every=True)
    async with bot():
        await telegram.until(lambda sim: sim.called("getMe"))
        await asyncio.sleep(1.5)
    assert [one.method for one in telegram.calls] == ["getMe"]
    [told] = [one.getMessage() for one in caplog.records if "api_base" in one.getMessage()]
    assert "token" in told and telegram.token not in told


@pytest.mark.parametrize("status", [401, 404])
async def test_a_doubted_token_is_proven_again_and_the_channel_is_off_where_that_fails(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, status: int
) -> None:
    chat = telegram.private(telegram.person(7, "Ann"))
    llm.script(HELLO)  # the open poll may bring the message along
    async with bot():
        await telegram.until(lambda sim: sim.called("setMyCommands"))
        telegram.fail("getUpdates", status=404, every=True)
        telegram.fail("getMe", status=status, every=True)
        await telegram.say(chat, telegram.world.people[7], "hello")  # the open poll comes back
        await telegram.until(lambda sim: len(sim.called("getMe")) == 2)
        before = len(telegram.calls)
        await asyncio.sleep(2.5)
        assert len(telegram.calls) == before


async def test_b058_an_answer_whose_question_is_gone_is_sent_at_once_without_a_reference(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(HELLO)
    ann = telegram.person(7, "Ann")
    team = telegram.group(-1001, "Team", members=[ann])
    gone = "Bad Request: message to be replied not found"
    telegram.fail("sendMessage", status=400, description=gone, chat=team)
    async with bot():
        await telegram.say(team, ann, f"@{telegram.world.bot.username} hello")
        await telegram.until(lambda sim: sim.bot_texts(team) == [SAID] and not sim.visible(team)[-1].keyboard)
    refused, sent = telegram.called("sendMessage")
    assert (refused.status, sent.status) == (400, 200) and sent.at - refused.at < 1
    assert "reply_parameters" in refused.params and "reply_parameters" not in sent.params
    assert sent.params["text"] == refused.params["text"]


async def test_b019_an_unknown_refusal_is_tried_once_more_in_plain_words_and_then_named(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    llm.script(HELLO)
    ann = telegram.person(7, "Ann")
    team = telegram.group(-1001, "Team", members=[ann])
    telegram.fail("sendMessage", status=400, description=NEW, chat=team, every=True)
    with caplog.at_level(logging.WARNING):
        async with bot():
            await telegram.say(team, ann, f"@{telegram.world.bot.username} hello")
            await telegram.until(lambda sim: len(sim.called("sendMessage")) == 2)
            await asyncio.sleep(4.0)
            telegram.heal()
            await telegram.say(team, ann, f"@{telegram.world.bot.username} and now?")
            await telegram.until(lambda sim: sim.bot_texts(team))
    first, second, *_ = telegram.called("sendMessage")
    assert {"entities", "reply_parameters"} <= first.params.keys()
    assert not {"entities", "reply_parameters", "reply_markup"} & second.params.keys()
    assert [one.status for one in telegram.called("sendMessage")] == [400, 400, 200]
    [told] = [one.getMessage() for one in caplog.records if "cannot be shown" in one.getMessage()]
    assert "Something new" in told and "sendMessage" in told


async def test_what_is_taken_in_plain_words_is_delivered_so(bot: StartBot, telegram: TelegramSim, llm: LlmSim) -> None:
    llm.script(HELLO)
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    telegram.fail("sendMessage", status=400, description=NEW)
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: "".join(sim.bot_texts(chat)).startswith("Hello there"))
        await asyncio.sleep(1.5)
    [shown] = [message for message in telegram.visible(chat) if message.from_bot]
    assert not shown.keyboard and not shown.entities and "nice" in shown.text


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("Something new", "Telegram refused sendMessage: Something new."),
        ("Can't do that: s3cret words", "Telegram refused sendMessage: Can't do that."),
        ('Wrong "s3cret words" given', "Telegram refused sendMessage: Wrong."),
        ("Invalid URL 's3cret words' specified", "Telegram refused sendMessage: Invalid URL."),
        ("SOME_THING_INVALID", "Telegram refused sendMessage: SOME_THING_INVALID."),
        ("42", "Telegram refused sendMessage: it does not say why."),
    ],
)
def test_a_refusal_is_named_and_nothing_that_it_quotes_is(said: str, named: str) -> None:
    failure = translated(BadRequest(said), "sendMessage")
    assert isinstance(failure, Refused) and str(failure) == named


@pytest.mark.parametrize(
    "said", ["Message to be replied not found", "Reply message not found", "REPLY_MESSAGE_ID_INVALID"]
)
def test_a_question_that_is_gone_is_told_from_a_message_that_is(said: str) -> None:
    assert isinstance(translated(BadRequest(said), "sendMessage"), QuestionGone)


async def test_a_half_open_poll_is_given_up_and_what_came_meanwhile_is_fetched(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The connection is gone and nobody said so: no answer, not even an empty one, after the poll's own time."""
    taken: list[str] = []

    async def take(inbound: Inbound) -> None:
        taken.append(json.dumps(inbound.id))

    async with TelegramSim() as sim:
        http, notes = Transport(), MemoryNotes()
        ann = sim.person(7, "Ann")
        chat = sim.private(ann)
        wire = Wire(http, sim.url, sim.token)
        me = Me(123456, "bowerbird_bot")
        intake = Intake(notes, Moves(notes), me, "telegram", "main", take)
        poller = Poller(wire, intake, SystemClock(), "telegram", seconds=1, grace=0.3)
        polling = asyncio.ensure_future(poller.run())
        try:
            await sim.until(lambda sim: poller.connected)
            sim.fail("getUpdates", action="hang")
            await sim.say(chat, ann, "one")  # brings the open poll back; the next one hangs
            await sim.until(lambda sim: taken == ['"101"'])
            await sim.say(chat, ann, "two")
            await sim.until(lambda sim: not poller.connected, timeout=3)
            await sim.until(lambda sim: taken == ['"101"', '"102"'] and poller.connected, timeout=5)
        finally:
            polling.cancel()
            await asyncio.gather(polling, return_exceptions=True)
            await http.aclose()
        assert sim.violations == []


async def test_a_token_of_another_shape_has_no_bot_of_its_own() -> None:
    http = Transport()
    assert [Wire(http, "http://h", token).bot for token in ("12:x", "12x", "x:y", ":x")] == ["12", "", "", ""]
    await http.aclose()


async def test_after_the_token_was_refused_nothing_is_called() -> None:
    async with TelegramSim() as sim:
        http = Transport()
        wire = Wire(http, sim.url, "99:OTHER")
        for _ in range(2):
            with pytest.raises(Unauthorised):
                await wire.call("sendMessage", chat_id=7, text="x")
        assert len(sim.calls) == 1
        with pytest.raises(ChannelError):
            await who_am_i(wire)
        await http.aclose()
