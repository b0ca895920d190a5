"""The line to Slack: lost, silent, deaf, refused, told to go; found again, with what was missed."""

from __future__ import annotations

import logging

import pytest

from bot.core.errors import Unauthorised
from bot.core.inbound import FileRef, UserMessage
from channels.slack.socket import SILENT_SECONDS
from tests.channels.slack.stage import Stage, stage


def texts(house: Stage) -> list[str]:
    return [one.text for one in house.received if isinstance(one, UserMessage)]


async def said(house: Stage, text: str, number: int = 1) -> None:
    dm = house.dm(number)
    await house.sim.say(dm, house.sim.world.people[f"U{number:04}"], text)


async def connected_again(house: Stage, opened: int, within: float = 120.0) -> None:
    began = house.clock.monotonic()
    while house.sim.sockets.opened < opened or not house.channel.connected:
        assert house.clock.monotonic() - began < within, house.sim.sockets
        await house.clock.advance(0.5)


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_a_connection_that_slack_ends_is_replaced_at_once_and_nothing_is_lost(reason: str) -> None:
    async with stage() as house:
        await said(house, "before")
        await house.clock.advance(30)
        await house.sim.disconnect(reason)
        await connected_again(house, 2, within=3)
        await said(house, "after")
        await house.clock.advance(1)
        assert texts(house) == ["before", "after"] and house.sim.sockets.open == 1
        assert house.sim.violations == []


async def test_b257_a_dropped_connection_comes_back_and_events_come_on_it(caplog: pytest.LogCaptureFixture) -> None:
    async with stage() as house:
        with caplog.at_level(logging.INFO, "channels"):
            await house.clock.advance(30)
            await house.sim.drop()
            await house.clock.advance(0.05)
            await said(house, "in between")
            await connected_again(house, 2, within=3)
            await house.clock.advance(65)
        assert texts(house) == ["in between"] and house.sim.violations == []
    assert "Traceback" not in caplog.text and "ticket" not in caplog.text


async def test_a_connection_that_has_gone_silent_is_replaced_and_the_old_one_closed_first() -> None:
    async with stage() as house:
        await house.clock.advance(30)
        house.sim.silent()
        while house.channel.connected:
            await house.clock.advance(1)
            assert house.clock.monotonic() < 90
        assert house.sim.sockets.open <= 1
        house.sim.silent(False)
        await connected_again(house, 2)
        await said(house, "hello?")
        await house.clock.advance(1)
        assert "hello?" in texts(house) and house.sim.sockets.open == 1


async def test_a_deaf_connection_is_replaced_and_what_it_swallowed_is_found() -> None:
    async with stage() as house:
        await said(house, "known")
        await house.clock.advance(1)
        house.sim.deaf()
        await said(house, "into the void")
        await house.clock.advance(62)
        assert texts(house) == ["known"] and house.channel.connected
        house.sim.deaf(False)
        await connected_again(house, 2, within=SILENT_SECONDS + 30)
        await house.clock.advance(2)
        assert texts(house) == ["known", "into the void"] and house.sim.violations == []


async def test_an_idle_connection_is_renewed_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    async with stage() as house:
        with caplog.at_level(logging.INFO, "channels"):
            for _ in range(20):
                await house.clock.advance(30)
        assert 4 <= house.sim.sockets.opened <= 6 and house.sim.sockets.open == 1
        assert house.channel.progress is not None
        assert house.clock.monotonic() - house.channel.progress.at < 30
        assert house.sim.violations == []
    assert [record.getMessage() for record in caplog.records if "hears" in record.getMessage()] == []


async def test_after_an_absence_what_was_missed_is_read_once_and_in_order() -> None:
    async with stage() as house:
        room, ann = house.room(), house.dm(1)
        thread = await house.ask(room)
        thread.end()
        await said(house, "before")
        await house.clock.advance(30)
        house.sim.refuse_sockets()
        await house.sim.drop()
        await house.clock.advance(400)  # longer than Slack tries
        assert not house.channel.connected
        for number in range(3):
            await said(house, f"missed {number}")
        await house.sim.say(room, next(iter(room.members.values())), "missed in the thread", thread=thread.to.thread)
        await house.sim.say(room, next(iter(room.members.values())), "<@BOT> missed in the channel")
        await house.clock.advance(400)
        house.sim.refuse_sockets("")
        await connected_again(house, 2)
        await house.clock.advance(10)
        missed = [text for text in texts(house) if text.startswith("missed")]
        assert sorted(missed) == ["missed 0", "missed 1", "missed 2", "missed in the channel", "missed in the thread"]
        assert [text for text in missed if text[-1].isdigit()] == ["missed 0", "missed 1", "missed 2"]
        assert ann is not None and house.sim.violations == []


async def test_a_restart_reads_what_came_while_nobody_was_there() -> None:
    async with stage() as house:
        await said(house, "before")
        await house.clock.advance(25)
    async with stage(notes=house.notes) as later:
        later.clock.busy = lambda: len(later.sim.calls)
        dm = later.dm()
        assert [one.method for one in later.sim.calls].count("apps.connections.open") == 1
        await later.clock.advance(5)
        asked = [call for call in later.sim.called("conversations.history") if call.channel == dm.id]
        assert len(asked) == 1 and later.sim.violations == []


@pytest.mark.parametrize("drops", [20, pytest.param(200, marks=[pytest.mark.prove, pytest.mark.timeout(240)])])
async def test_a_storm_of_drops_while_fifty_people_talk_loses_and_doubles_nothing(drops: int) -> None:
    async with stage(latency=0) as house:
        for number in range(1, 51):
            await said(house, "calm", number)
        await house.clock.advance(10)
        for number in range(drops * 2):
            await said(house, f"message {number}", 1 + number % 50)
            if number % 2:
                await house.sim.drop()
                await house.clock.advance(7)
        await connected_again(house, 2)
        await house.clock.advance(400)
        told = [text for text in texts(house) if text != "calm"]
        assert sorted(told) == sorted(f"message {number}" for number in range(drops * 2))
        assert house.sim.sockets.open == 1 and house.sim.violations == []


async def test_an_outage_is_told_once_and_its_end_once(caplog: pytest.LogCaptureFixture) -> None:
    async with stage() as house:
        with caplog.at_level(logging.INFO, "channels"):
            await house.clock.advance(30)
            house.sim.refuse_sockets()
            await house.sim.drop()
            await house.clock.advance(100)
            assert not house.channel.connected and house.channel.progress is not None
            assert house.clock.monotonic() - house.channel.progress.at < house.channel.progress.stale_after
            house.sim.refuse_sockets("")
            await connected_again(house, 2)
        said_so = [record.getMessage() for record in caplog.records]
        assert len([line for line in said_so if "hears nothing" in line]) == 1
        assert len([line for line in said_so if "hears again" in line]) == 1


async def test_a_bot_token_that_is_refused_stops_every_call(caplog: pytest.LogCaptureFixture) -> None:
    async with stage() as house:
        house.sim.revoke_token()
        for _ in range(3):
            with pytest.raises(Unauthorised, match="bot_token"):
                await house.done(house.channel.fetch(FileRef("slack", "F1", "a", "text/plain")))
        assert len(house.sim.called("files.info")) == 1 and not house.channel.connected


async def test_an_app_token_that_is_refused_ends_the_channel_with_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async with stage() as house:
        house.sim.refuse_sockets("invalid_auth")
        await house.sim.drop()
        await house.clock.advance(60)
        assert not house.channel.connected and len(house.sim.called("apps.connections.open")) == 2
    assert [line for line in caplog.messages if "app_token" in line and "until the configuration changes" in line]
    assert house.sim.app_token not in caplog.text


async def test_a_wait_for_new_connections_is_honoured() -> None:
    async with stage() as house:
        await house.clock.advance(30)
        house.sim.fail("apps.connections.open", retry_after=90)
        await house.sim.drop()
        await house.clock.advance(80)
        assert not house.channel.connected and len(house.sim.called("apps.connections.open")) == 2
        assert house.channel.progress is not None and house.channel.progress.at > house.clock.monotonic()
        await connected_again(house, 2)
        assert house.sim.violations == []
