"""Connections to Discord that end in all their ways: what is missed comes, what is refused is told apart."""

from __future__ import annotations

import asyncio
import logging

import pytest

from bot.core.errors import Unauthorised
from bot.time.clock import SystemClock
from channels.discord.channel import probe
from channels.discord.config import Config
from channels.discord.gateway import Client, point
from tests.channels.discord.conftest import StartBot
from tests.channels.discord.test_hearing import listening, parts
from tests.sim.discord import Channel, DiscordSim, Person
from tests.sim.llm import LlmSim, answer, gate, sleep, text

HELLO = answer(text("Hello there, nice to meet you."), repeat=True)
SAID = "Hello there, nice to meet you."
RESUMABLE = ["1006", "4000", "op 7", "op 9 resumable"]
ENDING = ["1000", "4009", "op 9"]


async def broken(sim: DiscordSim, how: str) -> None:
    match how:
        case "op 7":
            sim.reconnect()
        case "op 9" | "op 9 resumable":
            sim.invalidate(resumable=how != "op 9")
        case code:
            await sim.drop(int(code))


@pytest.mark.parametrize("how", RESUMABLE)
async def test_a_connection_that_breaks_is_resumed_and_what_was_said_meanwhile_is_heard_in_order(how: str) -> None:
    async with listening() as ears:
        ann, _, general = parts(ears.sim)
        await ears.said(general, ann, "zero")
        await broken(ears.sim, how)
        words = ["one", "two", "three"]
        for word in words:
            await ears.sim.say(general, ann, word)
        await ears.sim.until(lambda _: len(ears.all) == 3, timeout=8)
        assert [one.text for one in ears.all if one.kind == "message"] == words
        assert len(ears.sim.connections.resumes) == 1 and len(ears.sim.connections.identifies) == 1
        assert ears.house.channel.connected


@pytest.mark.parametrize("how", ENDING)
async def test_a_session_that_is_over_begins_anew_and_what_was_said_meanwhile_is_heard_once_in_order(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, watch: object, general: Channel, dm: Channel, ann: Person, how: str
) -> None:
    llm.script(HELLO)
    async with bot():
        await discord.say(dm, ann, "zero")
        await discord.until(lambda sim: sim.bot_texts(dm) == [SAID])
        await broken(discord, how)
        await discord.until(lambda sim: not sim.connections.ready)
        await discord.say(dm, ann, "one")
        await discord.say(general, ann, "<@BOT> two")
        await discord.until(lambda sim: sim.bot_texts(general) == [SAID] and len(sim.bot_texts(dm)) == 2, timeout=20)
        await asyncio.sleep(0.5)
    assert len(llm.requests) == 3 and len(discord.connections.identifies) == 2


async def test_a_connection_that_fell_silent_is_given_up_and_resumed() -> None:
    """Heartbeats that nobody answers: the library looks after as long as it is told to."""
    told: list[bool] = []
    async with DiscordSim() as sim:
        sim.heartbeat_interval = 0.3
        point(sim.api_base, sim.gateway_url)
        client = Client(
            SystemClock(), "discord", reads_text=True, said=told.append, hurry=lambda _: None, zombie_seconds=1.0
        )
        hearing = asyncio.ensure_future(client.hear(sim.token))
        await sim.until(lambda _: client.is_connected)
        sim.zombie()
        dm = sim.dm(ann := sim.person(7, "Ann"))
        await sim.say(dm, ann, "is anybody there?")
        await sim.until(lambda _: sim.connections.resumes, timeout=10)
        async with asyncio.timeout(5):
            while (await client.line.get()).event != "message":
                pass
        hearing.cancel()
        await asyncio.gather(hearing, return_exceptions=True)
        assert told == [True, False, True]


async def test_frames_are_a_sign_of_life_and_their_absence_is_none() -> None:
    async with listening() as ears:
        house = ears.house
        before = house.channel.progress
        assert before is not None
        await house.clock.advance(30)
        house.sim.gateway.ask_for_heartbeat()
        await house.passed(lambda: house.channel.progress is not None and house.channel.progress.at > before.at)
        assert before.stale_after > 60 + 41


async def test_without_the_content_of_messages_the_bot_goes_on_and_says_how_to_mend_it(
    bot: StartBot,
    discord: DiscordSim,
    llm: LlmSim,
    dm: Channel,
    general: Channel,
    ann: Person,
    caplog: pytest.LogCaptureFixture,
) -> None:
    llm.script(HELLO)
    discord.intents_refused = True
    with caplog.at_level(logging.WARNING):
        async with bot():
            await discord.say(dm, ann, "hello")
            await discord.say(general, ann, "nothing of this is heard")
            await discord.say(general, ann, "<@BOT> hello")
            await discord.until(lambda sim: sim.bot_texts(dm) and sim.bot_texts(general))
    told = [record.getMessage() for record in caplog.records if "Message Content Intent" in record.getMessage()]
    assert len(told) == 1 and len(discord.bot_texts(general)) == 1


async def test_a_token_that_is_refused_turns_the_channel_off_with_one_line_and_no_further_call(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    discord.revoke_token()
    async with bot(connected=False):
        await discord.until(lambda sim: sim.calls)
        await asyncio.sleep(1.5)
    assert [one.status for one in discord.calls] == [401] and discord.connections.opened == 0
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len([line for line in said if "token" in line]) == 1
    assert discord.token not in caplog.text and "Traceback" not in caplog.text


async def test_b061_a_token_that_is_reset_meanwhile_stops_every_call(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(answer(text("The first words of a long answer. "), gate("rest"), text("Too late.")))
    async with bot():
        await discord.say(dm, ann, "hello")
        await discord.until(lambda sim: sim.bot_texts(dm))
        before, opened = len(discord.calls), discord.connections.opened
        discord.revoke_token()
        llm.release("rest")
        await discord.until(lambda sim: not sim.connections.ready)
        await asyncio.sleep(2.5)
        assert len(discord.calls) - before <= 2 and discord.connections.opened == opened


async def test_an_answer_during_which_the_token_was_refused_is_whole_once_there_is_a_good_one(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(answer(text("The first half of this answer. "), gate("rest"), text("The second half of it.")))
    async with bot():
        await discord.say(dm, ann, "hello")
        await discord.until(lambda sim: sim.bot_texts(dm))
        discord.revoke_token()
        llm.release("rest")
        await asyncio.sleep(2.0)
    discord.restore_token()
    async with bot():
        await discord.until(lambda sim: sim.bot_texts(dm) == ["The first half of this answer. The second half of it."])
        await discord.until(lambda sim: not sim.visible(dm)[-1].buttons)
    assert len(llm.requests) == 1


async def test_whoever_is_stopped_while_a_connection_is_made_leaves_nothing_behind() -> None:
    """The library waits for five seconds before it identifies anew, with a connection that is open and beats."""
    async with listening() as ears:
        await ears.sim.drop(4009)
        await ears.sim.until(lambda sim: sim.connections.opened == 2)
        await asyncio.sleep(0.1)


@pytest.mark.parametrize("code", [4004, 4010, 4013])
async def test_a_gateway_that_refuses_for_good_is_left_alone(code: int) -> None:
    async with DiscordSim() as sim:
        point(sim.api_base, sim.gateway_url)
        client = Client(SystemClock(), "discord", reads_text=True, said=lambda _: None, hurry=lambda _: None)
        hearing = asyncio.ensure_future(client.hear(sim.token))
        await sim.until(lambda _: client.is_connected)
        await sim.drop(code)
        with pytest.raises(Unauthorised):
            await hearing


async def test_the_doctor_proves_the_token(discord: DiscordSim) -> None:
    config = Config.model_validate({"token": f"Bot {discord.token}", "api_base": discord.api_base + "/"})
    assert "bowerbird" in (await probe(config)).lower()
    discord.revoke_token()
    with pytest.raises(Unauthorised):
        await probe(config)


async def test_a_network_that_is_away_at_the_start_only_delays(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person, caplog: pytest.LogCaptureFixture
) -> None:
    llm.script(HELLO)
    discord.fail("GET /users/@me", action="drop")
    discord.fail("GET /oauth2/applications/@me", action="reset")
    async with bot():
        await discord.say(dm, ann, "hello")
        await discord.until(lambda sim: sim.bot_texts(dm) == [SAID])
    assert "Traceback" not in caplog.text


async def test_the_log_says_once_that_it_hears_and_once_that_it_does_not(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        async with listening() as ears:
            ann, _, general = parts(ears.sim)
            for number in range(3):
                await ears.sim.drop(4000)
                await ears.said(general, ann, f"word {number}")
    ours = [record.getMessage() for record in caplog.records if record.name.startswith(("channels", "discord"))]
    assert len([line for line in ours if line == "discord hears"]) == 4
    assert len([line for line in ours if "hears nothing" in line]) == 3
    assert not [line for line in ours if "word" in line]


async def test_no_level_of_the_log_holds_what_was_said(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person, caplog: pytest.LogCaptureFixture
) -> None:
    llm.script(answer(sleep(0.1), text("The s3cret answer that nobody else may read.")))
    with caplog.at_level(logging.DEBUG):
        async with bot():
            await discord.say(dm, ann, "a s3cret question")
            await discord.until(lambda sim: sim.bot_texts(dm))
    told = [record.getMessage() for record in caplog.records if record.name.startswith(("discord", "channels", "bot"))]
    assert told and not [line for line in told if "s3cret" in line or discord.token in line]
