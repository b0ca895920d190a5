"""Who gets in on Discord: strangers, guilds, threads, other bots, and what is said to them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import pytest
from discord.asset import Asset

from tests.channels.discord.conftest import CONFIG, StartBot
from tests.sim.discord import Channel, DiscordSim, Guild, Person
from tests.sim.llm import LlmSim, answer, gate, text

WELCOME = "Hello, and welcome here."
HELLO = answer(text(WELCOME), repeat=True)
SEND = "POST /channels/{id}/messages"


@pytest.fixture(autouse=True)
def hello(llm: LlmSim) -> None:
    llm.script(HELLO)


async def test_a_stranger_gets_a_code_and_an_owner_lets_them_in(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    theirs = discord.dm(eve := discord.person(66, "Eve"))
    async with bot():
        await discord.say(theirs, eve, "let me in")
        await discord.until(lambda sim: sim.bot_texts(theirs))
        [told] = discord.bot_texts(theirs)
        code = re.search(r"\b[A-Z0-9]{8}\b", told)
        assert code is not None
        await discord.say(theirs, eve, "hello?")
        await discord.say(dm, ann, f"/pair {code[0]}")
        await discord.until(lambda sim: len(sim.bot_texts(theirs)) == 2)
        await discord.say(theirs, eve, "now?")
        await discord.until(lambda sim: WELCOME in sim.bot_texts(theirs))
    assert len(discord.bot_texts(theirs)) == 3 and len(llm.requests) == 1


@pytest.mark.parametrize("trouble", [{"action": "drop"}, {"action": "drop", "effect": "done"}, {"retry_after": 1}])
async def test_a_code_arrives_once_although_the_first_try_failed(
    bot: StartBot, discord: DiscordSim, trouble: dict[str, object]
) -> None:
    theirs = discord.dm(eve := discord.person(66, "Eve"))
    discord.fail(SEND, **trouble)  # type: ignore[arg-type]
    async with bot():
        await discord.say(theirs, eve, "let me in")
        await discord.until(lambda sim: len(sim.called(SEND, theirs)) == 2)
        await discord.until(lambda sim: "Your code is" in "".join(sim.bot_texts(theirs)))
        await asyncio.sleep(0.2)
    assert len(discord.bot_texts(theirs)) == 1


async def test_who_takes_no_direct_messages_costs_one_call(bot: StartBot, discord: DiscordSim) -> None:
    theirs = discord.dm(eve := discord.person(66, "Eve"))
    discord.close_dm(eve)
    async with bot():
        await discord.say(theirs, eve, "let me in")
        await discord.until(lambda sim: sim.called(SEND, theirs))
        await asyncio.sleep(1.0)
    assert [one.status for one in discord.called(SEND)] == [403]


async def test_a_guild_is_answered_where_it_is_allowed_and_the_bot_is_meant(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    bob = discord.person(66, "Bob")
    there = discord.channel(discord.guild(9002, "Others", members=[ann, bob]), "general")
    async with bot():
        await discord.say(there, ann, "<@BOT> hello")
        await discord.say(there, bob, "<@BOT> let me in")
        await discord.say(general, ann, "hello everybody")
        question = await discord.say(general, bob, "<@BOT> hello")
        await discord.until(lambda sim: sim.bot_texts(general))
        await discord.say(general, ann, "and you?", reply_to=discord.visible(general)[-1].id)
        await discord.until(lambda sim: len(sim.bot_texts(general)) == 2)
        await discord.say(general, ann, "Bowerbird, do you hear your name?")
        await discord.until(lambda sim: len(sim.bot_texts(general)) == 3)
        await asyncio.sleep(0.2)
    first, *others = [message for message in discord.visible(general) if message.from_bot]
    assert first.reply_to == int(question["id"]) and first.mentions == () and all(one.reply_to for one in others)
    [told] = discord.bot_texts(there)
    assert told.startswith("I may not answer here yet.") and f"adding {there.id} under" in told
    assert len(llm.requests) == 3


@pytest.mark.parametrize("allowed", ["channel", "thread", "everywhere"])
async def test_a_channel_a_thread_or_everything_may_be_allowed(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, ann: Person, allowed: str
) -> None:
    others = discord.guild(9002, "Others", members=[ann])
    one, two = discord.channel(others, "one"), discord.channel(others, "two")
    thread = discord.thread(one, "Plans", owner=ann)
    groups = {"channel": str(one.id), "thread": str(thread.id), "everywhere": '"*"'}[allowed]
    async with bot(CONFIG.replace("groups: [9001]", f"groups: [{groups}]")):
        for place in (two, one, thread):
            await discord.say(place, ann, "<@BOT> hello")
        await discord.until(lambda sim: sim.bot_texts(thread))
        await asyncio.sleep(0.3)
    answered = [place.name for place in (one, two, thread) if WELCOME in discord.bot_texts(place)]
    assert (
        answered == {"channel": ["one", "Plans"], "thread": ["Plans"], "everywhere": ["one", "two", "Plans"]}[allowed]
    )


async def test_b080_in_threads_and_posts_the_answer_stands_where_the_question_does(
    bot: StartBot, discord: DiscordSim, general: Channel, team: Guild, ann: Person
) -> None:
    thread = discord.thread(general, "Plans", owner=ann)
    async with bot():
        post = discord.forum_post(discord.forum(team, "help"), ann, "A question", "<@BOT> can you help?")
        await discord.say(thread, ann, "<@BOT> hello")
        await discord.until(lambda sim: sim.bot_texts(thread) == [WELCOME] and sim.bot_texts(post) == [WELCOME])
    assert discord.bot_texts(general) == []


async def test_two_threads_of_a_channel_are_answered_side_by_side_at_their_own_pace(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    threads = [discord.thread(general, name, owner=ann) for name in ("one", "two", "three")]
    async with bot():
        for thread in threads:
            await discord.say(thread, ann, "<@BOT> hello")
        await discord.until(lambda sim: all(sim.bot_texts(thread) == [WELCOME] for thread in threads), timeout=4)


@pytest.mark.parametrize("allowed", [False, True])
async def test_other_bots_and_webhooks_are_answered_only_where_that_is_wanted(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person, allowed: bool
) -> None:
    hook, other = discord.person(50, "Hook", webhook=True), discord.person(51, "Other", bot=True)
    async with bot(CONFIG.replace("groups: [9001]", f"groups: [9001], bots: {str(allowed).lower()}")):
        for someone in (hook, other, ann):
            await discord.say(general, someone, "<@BOT> hello")
        await discord.until(lambda sim: len(sim.bot_texts(general)) == (3 if allowed else 1))
        await asyncio.sleep(0.3)
    assert len(llm.requests) == (3 if allowed else 1)


async def test_b084_a_bot_that_mentions_us_again_and_again_gets_nothing(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel
) -> None:
    other = discord.person(51, "Other", bot=True)
    async with bot():
        for number in range(20):
            await discord.say(general, other, f"<@BOT> hello {number}")
        await asyncio.sleep(0.7)
    assert llm.requests == [] and discord.bot_texts(general) == [] and discord.called(SEND) == []


@pytest.fixture
def cdn(discord: DiscordSim) -> Iterator[None]:
    """Where the library says that stickers are: on no other machine."""
    before, Asset.BASE = Asset.BASE, f"{discord.url}/cdn"
    yield
    Asset.BASE = before


@pytest.mark.usefixtures("cdn")
async def test_a_sticker_gets_a_sentence_and_a_poll_an_answer(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    async with bot():
        await discord.say(dm, ann, stickers=["wave"])
        await discord.until(lambda sim: "wave" in "".join(sim.bot_texts(dm)))
        answers = [{"answer_id": 1, "poll_media": {"text": "Yes"}}]
        poll = {"question": {"text": "Tea?"}, "answers": answers, "allow_multiselect": False, "layout_type": 1}
        await discord.say(dm, ann, extra={"poll": poll | {"expiry": "2030-01-01T00:00:00+00:00"}})
        await discord.until(lambda sim: sim.bot_texts(dm)[1:] == [WELCOME])
    assert len(llm.requests) == 1 and "Shared poll: Tea?" in str(llm.requests[0].body)


async def test_where_the_bot_may_not_write_nothing_is_tried_again_and_where_not_reply_it_writes(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, team: Guild, general: Channel, ann: Person
) -> None:
    silent = discord.channel(team, "silent")
    discord.forbid(silent)
    discord.forbid(general, "read_message_history")
    async with bot():
        await discord.say(silent, ann, "<@BOT> hello")
        await discord.until(lambda sim: sim.called(SEND, silent))
        await discord.say(general, ann, "<@BOT> hello")
        await discord.until(lambda sim: sim.bot_texts(general) == [WELCOME])
        await asyncio.sleep(1.5)
    assert [one.status for one in discord.called(SEND, silent)] == [403]
    assert [one.status for one in discord.called(SEND, general)] == [403, 200]


async def test_streaming_off_shows_the_answer_once_it_is_whole(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.reset()
    llm.script(answer(text("A first sentence that is long enough to be shown. "), gate("rest"), text("The rest.")))
    async with bot(CONFIG.replace("    access:", '    streaming: "off"\n    access:', 1)):
        await discord.say(dm, ann, "hello")
        await llm.at("rest")
        await asyncio.sleep(1.5)
        assert discord.bot_texts(dm) == []
        llm.release("rest")
        await discord.until(lambda sim: sim.bot_texts(dm))
    assert discord.called("PATCH /channels/{id}/messages/{id}") == []


async def test_a_guild_that_the_bot_is_added_to_gets_a_hello_once(
    bot: StartBot, discord: DiscordSim, ann: Person
) -> None:
    async with bot():
        await asyncio.sleep(1.5)  # the library takes what it is told right at first for guilds of before
        team = discord.guild(9001, "Team", members=[ann])
        general = discord.channel(team, "general")
        await discord.until(lambda sim: sim.bot_texts(general))
        await discord.drop(4009)
        await asyncio.sleep(0.5)
    async with bot():
        await asyncio.sleep(1.5)
    assert len(discord.bot_texts(general)) == 1 and "Bowerbird" in discord.bot_texts(general)[0]


async def test_an_owner_allows_a_guild_with_a_button_and_what_is_said_there_while_the_bot_is_down_is_answered(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    async with bot():
        await discord.say(dm, ann, "hello")
        await discord.until(lambda sim: sim.bot_texts(dm) == [WELCOME])
        await asyncio.sleep(1.5)
        others = discord.channel(discord.guild(9002, "Others", members=[ann]), "general")
        await discord.until(lambda sim: any("Others" in shown for shown in sim.bot_texts(dm)))
        assert discord.bot_texts(others) == []
        asked = discord.visible(dm)[-1]
        await discord.press(dm, ann, asked.id, asked.buttons[0][0])
        await discord.until(lambda sim: sim.bot_texts(others))
        await discord.say(others, ann, "<@BOT> hello")
        await discord.until(lambda sim: WELCOME in sim.bot_texts(others))
    await discord.say(others, ann, "<@BOT> and now?")
    async with bot():
        await discord.until(lambda sim: sim.bot_texts(others).count(WELCOME) == 2)


async def test_called_where_it_was_all_along_and_may_not_answer_it_asks_its_owner(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    bob = discord.person(66, "Bob")
    there = discord.channel(discord.guild(9002, "Others", members=[ann, bob]), "general")
    thread = discord.thread(there, "Plans", owner=ann)
    async with bot():
        await discord.say(dm, ann, "hello")
        await discord.until(lambda sim: sim.bot_texts(dm) == [WELCOME])
        for place in (there, thread, there):
            await discord.say(place, bob, "<@BOT> hello?")
        await discord.until(lambda sim: len(sim.bot_texts(dm)) == 2 and sim.bot_texts(there))
        await asyncio.sleep(0.5)
        asked = discord.visible(dm)[-1]
        assert asked.text.startswith(f"`Bob` has called me in the group `Others #general` (`{there.id}`).")
        await discord.press(dm, ann, asked.id, "Answer there")
        await discord.until(lambda sim: len(sim.bot_texts(there)) == 2)
        await discord.say(thread, bob, "<@BOT> and now?")
        await discord.until(lambda sim: sim.bot_texts(thread) == [WELCOME])
    assert "Hello, I am" in discord.bot_texts(there)[1] and len(discord.bot_texts(dm)) == 2
