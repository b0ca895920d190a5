"""What was said while the bot was down is answered once, in order, and holds up nobody who talks now."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from bot.core.inbound import UserMessage
from channels.discord.messages import Place
from channels.discord.places import Places, snowflake
from tests.channels.discord.conftest import CONFIG, StartBot
from tests.channels.discord.stage import stage
from tests.channels.discord.test_hearing import Ears, parts
from tests.fakes.notes import MemoryNotes
from tests.sim.discord import Channel, DiscordSim, Guild, Person
from tests.sim.llm import LlmSim, answer, text

HISTORY = "GET /channels/{id}/messages"
SAID = "Hello there, nice to meet you."
HELLO = answer(text(SAID), repeat=True)


def heard(ears: Ears) -> list[str]:
    return [one.text for one in ears.all if isinstance(one, UserMessage)]


async def test_what_was_said_while_the_bot_was_down_is_answered_once_in_order_everywhere(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, team: Guild, general: Channel, dm: Channel, ann: Person
) -> None:
    """Also in a channel, a thread and a post where it was never spoken to before."""
    llm.script(HELLO)
    forum = discord.forum(team, "help")
    async with bot():
        await discord.say(dm, ann, "hello")
        await discord.until(lambda sim: sim.bot_texts(dm) == [SAID])
    for word in ("first", "second", "third"):
        await discord.say(dm, ann, word)
    thread = discord.thread(general, "Plans", owner=ann)
    fresh = discord.channel(team, "fresh")
    for place in (general, thread, fresh):
        await discord.say(place, ann, "<@BOT> hello")
    await discord.say(fresh, ann, "not meant")
    post = discord.forum_post(forum, ann, "A question", "<@BOT> can you help?")
    async with bot():
        await discord.until(lambda sim: all(sim.bot_texts(place) == [SAID] for place in (general, thread, fresh, post)))
        await discord.until(lambda sim: len(sim.bot_texts(dm)) >= 2)
        await discord.say(dm, ann, "fourth")
        await discord.until(lambda sim: "fourth" in str(llm.requests[-1].body), timeout=20)
        await asyncio.sleep(0.5)
    found = re.findall("hello|first|second|third|fourth", str(llm.requests[-1].body["messages"]))
    assert found == ["hello", "first", "second", "third", "fourth"]
    before = len(llm.requests)
    async with bot():
        await asyncio.sleep(2.5)
    assert len(llm.requests) == before and discord.bot_texts(fresh) == [SAID]


async def test_what_is_said_between_two_lives_is_heard_before_what_is_said_now() -> None:
    async with stage() as house:
        ann = house.sim.person(7, "Ann")
        house.sim.guild(9001, "Team", members=[ann])
        _, _, general = parts(house.sim)
        ears = Ears(house)
        async with house.hearing(ears):
            await ears.said(general, ann, "<@BOT> zero")
        words = [f"word {number}" for number in range(250)]
        for word in words[:-1]:
            await house.sim.say(general, ann, word)
        reborn = house.reborn()
        ears = Ears(reborn)
        async with reborn.hearing(ears):
            await house.sim.say(general, ann, words[-1])
            await house.passed(lambda: len(heard(ears)) >= 251, within=20)
            await house.clock.advance(5)
        assert list(dict.fromkeys(heard(ears))) == ["zero", *words]


async def test_of_a_guild_nobody_spoke_in_yet_the_first_words_are_caught_up_on_too() -> None:
    async with stage() as house:
        ann = house.sim.person(7, "Ann")
        house.sim.guild(9001, "Team", members=[ann])
        _, _, general = parts(house.sim)
        async with house.hearing(Ears(house)):
            await house.clock.advance(6)
        await house.clock.advance(90)
        await house.sim.say(general, ann, "<@BOT> is anybody there?")
        reborn = house.reborn()
        ears = Ears(reborn)
        async with reborn.hearing(ears):
            assert (await ears.next(UserMessage)).addressed


async def test_nothing_from_before_the_bot_first_listened_is_answered() -> None:
    async with stage() as house:
        ann = house.sim.person(7, "Ann")
        house.sim.guild(9001, "Team", members=[ann])
        _, _, general = parts(house.sim)
        await house.sim.say(general, ann, "<@BOT> long ago")
        await house.clock.advance(3600)
        for life in (house, house.reborn()):
            ears = Ears(life)
            async with life.hearing(ears):
                await house.clock.advance(6)
            assert ears.all == []


async def test_a_role_mention_and_a_reply_that_were_missed_are_meant_for_the_bot_all_the_same() -> None:
    async with stage() as house:
        ann = house.sim.person(7, "Ann")
        house.sim.guild(9001, "Team", members=[ann])
        _, _, general = parts(house.sim)
        mine = await house.sim.say(general, house.sim.bot, "I said this.")
        thread = house.sim.thread(general, "Mine", owner=house.sim.bot)
        ears = Ears(house)
        async with house.hearing(ears):
            await ears.said(general, ann, "<@BOT> hello")
        await house.sim.say(general, ann, "are you sure?", reply_to=mine["id"], ping=False)
        await house.sim.say(thread, ann, "no mention here")
        reborn = house.reborn()
        ears = Ears(reborn)
        async with reborn.hearing(ears):
            await house.passed(lambda: len(heard(ears)) == 3, within=5)
            found = {one.text: one.addressed for one in ears.all if isinstance(one, UserMessage)}
        assert found == {"hello": True, "are you sure?": True, "no mention here": True}


async def test_catching_up_in_many_chats_keeps_the_rates_and_holds_up_nobody() -> None:
    async with stage() as house:
        ears = Ears(house)
        chats = [house.dm(100 + number) for number in range(120)]
        async with house.hearing(ears):
            for chat in chats:
                await house.sim.say(chat, house.sim.world.people[100], "hello")
            await house.sim.until(lambda _: len(ears.all) == 120)
        for chat in chats[:5]:
            await house.sim.say(chat, house.sim.world.people[100], "missed")
        reborn = house.reborn()
        ears = Ears(reborn)
        async with reborn.hearing(ears):
            await house.sim.until(lambda _: reborn.sim.called(HISTORY))
            new = house.dm(500)
            await house.sim.say(new, house.sim.world.people[500], "now")
            await house.sim.until(lambda _: "now" in heard(ears), timeout=5)
            assert len(house.sim.called(HISTORY)) < 60
            await house.passed(lambda: heard(ears).count("missed") == 5, within=20)
        assert len(house.sim.called(HISTORY)) == 120


@pytest.mark.parametrize("trouble", [{"action": "drop"}, {"status": 500}, {"retry_after": 1}, {"action": "garbage"}])
async def test_a_failure_while_catching_up_loses_nothing(trouble: dict[str, object]) -> None:
    async with stage() as house:
        dm = house.dm(7)
        ann = house.sim.world.people[7]
        ears = Ears(house)
        async with house.hearing(ears):
            await ears.said(dm, ann, "hello")
        await house.sim.say(dm, ann, "missed")
        house.sim.fail(HISTORY, **trouble)  # type: ignore[arg-type]
        reborn = house.reborn()
        ears = Ears(reborn)
        async with reborn.hearing(ears):
            for _ in range(100):
                if "missed" in heard(ears):
                    break
                await house.clock.advance(0.5)
                await asyncio.sleep(0.05)
        assert "missed" in heard(ears)


async def test_a_chat_that_cannot_be_caught_up_with_holds_up_no_other_and_is_not_forgotten() -> None:
    """What is said now elsewhere does not hide what was not looked at yet, also not from the next life."""
    async with stage() as house:
        one, two = house.dm(7), house.dm(8)
        ann, bob = house.sim.world.people[7], house.sim.world.people[8]
        ears = Ears(house)
        async with house.hearing(ears):
            await ears.said(one, ann, "hello")
            await ears.said(two, bob, "hello")
        await house.sim.say(one, ann, "missed")
        house.sim.fail(HISTORY, action="hang", every=True, channel=one)
        second = house.reborn()
        ears = Ears(second)
        async with second.hearing(ears):
            await house.sim.until(lambda _: house.sim.called(HISTORY, one))
            await house.clock.advance(300)
            await ears.said(two, bob, "now")
            await house.clock.advance(6)
        house.sim.heal()
        third = house.reborn()
        ears = Ears(third)
        async with third.hearing(ears):
            await house.passed(lambda: "missed" in heard(ears), within=10)


async def test_what_is_said_now_in_a_chat_waits_for_what_was_missed_there() -> None:
    async with stage() as house:
        dm = house.dm(7)
        ann = house.sim.world.people[7]
        ears = Ears(house)
        async with house.hearing(ears):
            await ears.said(dm, ann, "hello")
        await house.sim.say(dm, ann, "missed")
        house.sim.latencies[HISTORY] = 2.0
        reborn = house.reborn()
        ears = Ears(reborn)
        async with reborn.hearing(ears):
            await house.sim.until(lambda _: house.sim.called(HISTORY))
            await house.sim.say(dm, ann, "now")
            await house.clock.advance(1)
            assert heard(ears) == []
            await house.passed(lambda: heard(ears)[-1:] == ["now"], within=5)
        assert list(dict.fromkeys(heard(ears))) == ["hello", "missed", "now"]


async def test_the_note_of_known_channels_keeps_those_that_are_spoken_to() -> None:
    notes = MemoryNotes()
    notes.values["channels"] = json.dumps({number: {"chat": str(number)} for number in range(1, 2001)})
    places = Places(notes)
    await places.load()
    await places.spoken(1, Place("1"))
    await places.spoken(3000, Place("3000"))
    assert places.direct[:2] == [3000, 1] and places.find(2) is None and places.find(1) == Place("1")


async def test_how_far_the_bot_has_heard_waits_for_the_channels_that_are_behind() -> None:
    notes, now = MemoryNotes(), 1_800_000_000.0
    places = Places(notes)
    await places.load()
    assert places.since(now) is None
    places.saw(snowflake(now + 100))
    places.fall_behind([5, 6])
    places.saw(snowflake(now + 1000))
    places.caught_up(5)
    await places.keep()
    assert int(notes.values["seen"]) == snowflake(now + 100)
    places.caught_up(6)
    await places.keep()
    assert int(notes.values["seen"]) == snowflake(now + 1000)


async def test_a_note_that_cannot_be_read_costs_no_start() -> None:
    notes = MemoryNotes()
    notes.values |= {"channels": "[broken", "seen": "x"}
    places = Places(notes)
    await places.load()
    assert places.direct == [] and places.since(1_800_000_000.0) is None


async def test_no_group_of_others_is_read(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, general: Channel, ann: Person
) -> None:
    llm.script(HELLO)
    others = discord.channel(discord.guild(9002, "Others", members=[ann]), "general")
    async with bot(CONFIG):
        await discord.say(dm, ann, "hello")
        await discord.until(lambda sim: sim.bot_texts(dm))
    await discord.say(others, ann, "<@BOT> hello")
    async with bot(CONFIG):
        await discord.until(lambda sim: sim.called(HISTORY, dm))
        await asyncio.sleep(0.3)
    assert discord.called(HISTORY, others) == []
