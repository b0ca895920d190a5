"""What keeps the bot deaf or dumb on Slack and an owner has to mend: named once it is known, and no longer once it is over."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.errors import ChannelError
from bot.core.texts import say
from channels.slack.channel import PERMITTED_SECONDS, probe
from channels.slack.config import Config
from channels.slack.hearing import DIRECT, KEPT, ROOMS, TELL_SECONDS, Hearing
from channels.slack.permits import ROOM_SECONDS, ROOMS_KEPT, Permits
from channels.slack.refusals import Outside
from tests.channels.slack.conftest import StartBot
from tests.channels.slack.hurried import hurried
from tests.channels.slack.stage import Stage, Turn, stage
from tests.fakes.clock import FakeClock
from tests.sim.llm import LlmSim, answer, text
from tests.sim.slack import Channel, SlackSim

SAID = "An answer that is long enough to be shown."


def told(house: Stage, language: str = "en") -> str:
    return house.channel.trouble(language)


async def answered(house: Stage, channel: Channel) -> Turn:
    turn = await house.ask(channel)
    turn.say(SAID)
    turn.end()
    await turn.delivered(within=10)
    return turn


async def passed(house: Stage, seconds: float) -> None:
    """In steps in which connections live on."""
    for _ in range(int(seconds / 5)):
        await house.clock.advance(5)


def config_of(sim: SlackSim) -> Config:
    return Config.model_validate(
        {"bot_token": sim.bot_token, "app_token": sim.app_token, "api_base": sim.api_base},
    )


async def test_a_bot_that_may_do_all_it_should_has_no_trouble() -> None:
    async with stage() as house:
        for channel in (house.dm(), house.room()):
            for _ in range(3):
                await answered(house, channel)
        await passed(house, 400)
        assert told(house) == ""


# scopes


async def test_missing_scopes_are_named_from_the_start_and_forgotten_once_they_are_given() -> None:
    async with stage() as house:
        for scope in ("im:history", "users:read"):
            house.sim.missing_scope(scope)
        await house.restart()
        assert told(house) == say("scopes_slack", scopes="im:history, users:read")
        assert told(house, "zh") == say("scopes_slack", "zh", scopes="im:history, users:read")
        with pytest.raises(ChannelError) as refused:
            await house.done(probe(config_of(house.sim)))
        assert str(refused.value) == told(house), "the doctor says the same"
        for scope in ("im:history", "users:read"):
            house.sim.grant_scope(scope)
        asked = len(house.sim.called("auth.test"))
        await passed(house, PERMITTED_SECONDS + 5)
        assert told(house) == "" and len(house.sim.called("auth.test")) == asked + 1
        await passed(house, PERMITTED_SECONDS * 2)
        assert len(house.sim.called("auth.test")) == asked + 1, "nothing is missing, so nothing is asked"


async def test_a_scope_that_is_taken_away_meanwhile_is_named_with_the_first_call_that_tells() -> None:
    async with stage() as house:
        await answered(house, house.dm())
        house.sim.missing_scope("chat:write")
        turn = await house.ask(house.dm(2))
        turn.say(SAID)
        turn.end()
        await house.clock.advance(10)
        assert turn.outcome is not None and not turn.outcome.delivered
        assert told(house) == say("scopes_slack", scopes="chat:write")
        house.sim.grant_scope("chat:write")
        await answered(house, house.dm())
        assert told(house) == ""


async def test_what_stayed_closed_for_want_of_a_scope_opens_with_it() -> None:
    """Names, and looking for what was lost."""
    async with stage() as house:
        for scope in ("users:read", "channels:history"):
            house.sim.missing_scope(scope)
        house.sim.fail("chat.postMessage", action="drop", effect="done")
        turn = await answered(house, house.room())
        assert turn.texts == [SAID] * 2 and not house.channel.limits.idempotent
        dm, ann = house.dm(), house.sim.world.people["U0001"]
        await house.sim.say(dm, ann, "who am I?")
        await house.clock.advance(2)
        assert len(house.sim.called("users.info")) == 1
        for scope in ("users:read", "channels:history"):
            house.sim.grant_scope(scope)
        await passed(house, PERMITTED_SECONDS + 5)
        await house.sim.say(dm, ann, "and now?")
        await house.clock.advance(2)
        assert len(house.sim.called("users.info")) == 2 and told(house) == ""
        house.sim.fail("chat.postMessage", action="drop", effect="done")
        turn = await answered(house, house.room(2))
        assert turn.texts == [SAID] and house.channel.limits.idempotent


async def test_an_app_that_may_show_no_status_is_in_no_trouble() -> None:
    async with stage() as house:
        house.sim.fail("assistant.threads.setStatus", error="missing_scope", every=True)
        turn = await house.ask(house.room())
        await house.clock.advance(2)
        turn.say(SAID)
        turn.end()
        await turn.delivered(within=5)
        assert len(house.sim.called("assistant.threads.setStatus")) == 1 and told(house) == ""


async def test_an_app_level_token_without_its_scope_is_named_and_another_one_heals() -> None:
    async with stage() as house:
        house.sim.missing_scope("connections:write")
        await house.sim.drop()
        await house.clock.advance(30)
        assert told(house) == say("app_scope_slack", scope="connections:write") and not house.channel.connected
        with pytest.raises(ChannelError) as refused:
            await house.done(probe(config_of(house.sim)))
        assert str(refused.value) == told(house)
        house.sim.grant_scope("connections:write")
        await house.clock.advance(60)
        assert told(house) == "" and house.channel.connected


# tokens and connections


@pytest.mark.parametrize("code", ["token_revoked", "not_allowed_token_type", "account_inactive"])
async def test_a_token_that_is_refused_is_named_with_what_slack_says_of_it(code: str) -> None:
    async with stage() as house:
        house.sim.fail("chat.postMessage", error=code)
        turn = await house.ask(house.dm())
        turn.say(SAID)
        turn.end()
        await house.clock.advance(10)
        assert told(house) == say("token_slack", token="bot_token", code=code)
        assert turn.outcome is not None and turn.outcome.reason == "unauthorised"


async def test_an_app_token_that_is_refused_is_named() -> None:
    async with stage() as house:
        house.sim.refuse_sockets("invalid_auth")
        await house.sim.drop()
        await house.clock.advance(60)
        assert told(house, "zh") == say("token_slack", "zh", token="app_token", code="invalid_auth")


async def test_socket_mode_that_is_switched_off_is_named_until_a_connection_lasts() -> None:
    async with stage() as house:
        await house.clock.advance(30)
        house.sim.refuse_sockets("internal_error")
        await house.sim.disconnect("link_disabled")
        await house.clock.advance(30)
        assert told(house) == say("deaf_slack")
        house.sim.refuse_sockets("")
        await passed(house, 60)
        assert house.channel.connected and told(house) == ""


# events


async def test_a_mention_without_its_twin_shows_that_messages_are_not_told_of() -> None:
    async with stage() as house:
        house.sim.subscriptions.discard("message.channels")
        first, second = house.room(1), house.room(2)
        for room in (first, second):
            await answered(house, room)
        await passed(house, TELL_SECONDS + 5)
        assert told(house) == say("events_slack", events=ROOMS)
        await passed(house, 400)
        assert told(house) == say("events_slack", events=ROOMS), (
            "connections were renewed, and nothing else has changed"
        )
        house.sim.subscriptions.add("message.channels")
        for room in (first, second):
            await answered(house, room)
        assert told(house) == ""


async def test_in_direct_chats_commands_alone_show_it() -> None:
    async with stage() as house:
        house.sim.subscriptions.discard("message.im")
        dm, ann = house.dm(), house.sim.world.people["U0001"]
        for number in (1, 2):
            await house.sim.command(dm, ann, "/bowerbird", f"status {number}")
            message = await house.heard(lambda one, words=f"/status {number}": getattr(one, "text", "") == words)  # type: ignore[misc]
            turn = house.turn(message, dm)
            turn.say(SAID)
            turn.end()
            await turn.delivered(within=10)
        assert told(house) == ""
        await passed(house, TELL_SECONDS + 5)
        assert told(house, "zh") == say("events_slack", "zh", events=DIRECT)


async def test_where_a_scope_is_missing_that_is_said_and_nothing_of_events() -> None:
    async with stage() as house:
        house.sim.missing_scope("channels:history")
        for _ in range(3):
            await answered(house, house.room())
        await passed(house, TELL_SECONDS + 5)
        assert told(house) == say("scopes_slack", scopes="channels:history")


@pytest.mark.parametrize("trouble", ["drops", "deafness", "an absence"])
async def test_what_a_broken_line_swallows_says_nothing_of_events(trouble: str) -> None:
    async with stage() as house:
        turns = [await house.ask(house.room(number)) for number in (1, 2)]
        if trouble == "deafness":
            house.sim.deaf()
        elif trouble == "an absence":
            house.sim.refuse_sockets()
            await house.sim.drop()
        for turn in turns:
            turn.say(SAID)
            turn.end()
            await turn.delivered(within=10)
            if trouble == "drops":
                await house.sim.drop()
        await passed(house, 30)
        house.sim.heal()
        for _ in range(60):
            await passed(house, 10)
            assert told(house) == ""


async def test_one_miss_is_not_enough_and_a_message_proves_that_messages_are_told_of() -> None:
    clock = FakeClock()
    hearing = Hearing(Permits(clock), clock)

    def event(kind: str, chat: str) -> dict[str, object]:
        return {"event": {"type": kind, "channel": chat, "ts": "1800000000.000001"}}

    hearing.expect("C1")
    await clock.advance(TELL_SECONDS + 1)
    assert hearing.trouble("en") == ""
    hearing.heard(event("app_mention", "C1"))
    await clock.advance(TELL_SECONDS - 1)
    assert hearing.trouble("en") == ""
    await clock.advance(2)
    assert hearing.trouble("en") != ""
    hearing.heard(event("message", "C2"))
    assert hearing.trouble("en") != "", "another channel may be of another kind"
    hearing.heard(event("message", "C1"))
    assert hearing.trouble("en") == ""
    hearing.heard(event("message", "D1"))
    for chat in ("C1", "D2"):  # a message may be told of before its sender knows that it stands there
        for _ in range(3):
            hearing.expect(chat)
    await clock.advance(TELL_SECONDS + 1)
    assert hearing.trouble("en") == "", "direct chats are all of one kind"
    for number in range(2000):
        hearing.heard(event("message", f"G{number}"))
        for _ in range(3):
            hearing.expect(f"C{number}")
        hearing.renewed("planned" if number % 2 else "doubted")
    assert max(len(held) for held in (hearing._awaited, hearing._told, hearing._missed)) <= KEPT
    hearing.heard({"event": "not an event"})
    hearing.heard({})


# rooms


async def test_a_room_that_the_bot_was_removed_from_is_named_until_it_is_back() -> None:
    async with stage() as house:
        turn = await house.ask(house.room())
        house.sim.kick(turn.channel)
        turn.say(SAID)
        turn.end()
        await house.clock.advance(5)
        assert told(house) == say("rooms_slack", rooms="`C0001`")
        house.sim.invite(turn.channel)
        await house.sim.say(turn.channel, house.sim.world.people["U0001"], "are you there?")
        await house.clock.advance(1)
        assert told(house) == ""


@pytest.mark.parametrize("error", ["not_in_channel", "channel_not_found", "no_permission"])
async def test_each_way_of_saying_that_the_bot_is_no_member_is_understood(error: str) -> None:
    async with stage() as house:
        house.sim.fail("chat.postMessage", error=error)
        turn = await house.ask(house.room())
        turn.say(SAID)
        turn.end()
        await house.clock.advance(5)
        assert turn.outcome is not None and turn.outcome.reason == "chat_closed"
        assert told(house, "zh") == say("rooms_slack", "zh", rooms="`C0001`")


async def test_whoever_removed_it_on_purpose_is_not_told_for_ever_nor_of_a_hundred_rooms() -> None:
    clock = FakeClock()
    permits = Permits(clock)
    for number in range(100):
        permits.refused("chat.postMessage", f"C{number}", Outside("no"))
    permits.refused("conversations.history", "C200", Outside("no"))
    permits.refused("chat.postMessage", "D1", Outside("no"))
    assert permits.trouble("en").count("`") == 2 * ROOMS_KEPT and "`C99`" in permits.trouble("en")
    permits.done("chat.update", "C99")
    assert "`C99`" not in permits.trouble("en")
    await clock.advance(ROOM_SECONDS + 1)
    assert permits.trouble("en") == ""


# who hears of it


async def test_the_owner_is_told_unasked_in_their_own_chat_once_it_has_lasted(tmp_path: Path) -> None:
    async with hurried(tmp_path, 40.0) as house:
        house.llm.script(answer(text(SAID), repeat=True))
        ann = house.sim.person("U0ANN", "Ann")
        dm = house.sim.dm(ann)
        house.sim.missing_scope("files:write")
        async with house.daemon():
            await house.sim.say(dm, ann, "hello")
            await house.sim.until(lambda sim: sim.bot_texts(dm))
            said_at = house.clock.monotonic()
            await house.sim.until(lambda sim: len(sim.bot_texts(dm)) > 1, timeout=25)
            assert house.clock.monotonic() - said_at > 200
        sentence = say("scopes_slack", scopes="files:write")
        assert house.sim.bot_texts(dm) == [SAID, say("owner_trouble", trouble=sentence)]


@pytest.mark.parametrize("language", ["en", "zh-CN"])
async def test_the_owner_reads_it_in_their_own_language(
    bot: StartBot, slack: SlackSim, llm: LlmSim, language: str
) -> None:
    ann = slack.person("U0ANN", "Ann", language=language)
    dm = slack.dm(ann)
    slack.missing_scope("files:write")
    async with bot():
        await slack.say(dm, ann, "/status")
        await slack.until(lambda sim: sim.bot_texts(dm))
    assert say("scopes_slack", language, scopes="files:write") in slack.bot_texts(dm)[0]
