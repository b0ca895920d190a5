"""Threads that the bot opens: a mention in a channel is answered in a thread of its own, and never lost, doubled or split."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from bot.core.texts import say
from tests.channels.discord.conftest import CONFIG, StartBot
from tests.channels.discord.reading import plain
from tests.sim.discord import Channel, DiscordSim, Guild, Person, Shown
from tests.sim.llm import LlmSim, When, answer, call, gate, sleep, text

AUTO = CONFIG.replace("    access:", "    threads: auto\n    access:", 1)
OPEN = "POST /channels/{id}/messages/{id}/threads"
SEND = "POST /channels/{id}/messages"
TYPING = "POST /channels/{id}/typing"
RESET, GARBAGE = {"action": "reset"}, {"action": "garbage"}
FULL, GONE = {"code": 160006}, {"code": 10008}
"""As many threads as a guild may have; the question was deleted."""
SKY = answer(text("It scatters the light."), when=When(user="sky"), repeat=True)
SEA = answer(text("It mirrors the sky."), when=When(user="sea"), repeat=True)
NOTE = answer(text("I note it."), call("c1", "note_write", ('{"text": "milk"}',)), when=When(user="milk"))
DONE = answer(text("It is noted."), when=When(tool_result=True), repeat=True)


@pytest.fixture(autouse=True)
def replies(llm: LlmSim) -> None:
    llm.script(SKY, SEA, NOTE, DONE)


def thread_of(sim: DiscordSim, said: dict[str, object]) -> Channel | None:
    return sim.world.channels.get(int(str(said["id"])))


def answers(sim: DiscordSim, said: dict[str, object]) -> list[str]:
    """What the bot says in the thread of this message."""
    thread = thread_of(sim, said)
    return [plain(shown) for shown in sim.bot_texts(thread)] if thread is not None else []


def opened(sim: DiscordSim) -> int:
    return sum(call.status == 201 for call in sim.called(OPEN))


def last(sim: DiscordSim, channel: Channel) -> Shown:
    return [shown for shown in sim.visible(channel) if shown.from_bot][-1]


def asked(llm: LlmSim) -> Sequence[str]:
    return [str(message["content"]) for message in llm.requests[-1].body["messages"]]


async def test_a_mention_opens_a_thread_and_what_follows_there_needs_none(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    async with bot(AUTO):
        said = await discord.say(general, ann, "<@BOT> **why** is the sky blue, @everyone?")
        await discord.until(lambda sim: answers(sim, said) == ["It scatters the light."])
        thread = discord.channel_by_id(int(said["id"]))
        assert (thread.name, thread.owner_id) == ("why is the sky blue, everyone?", discord.bot.id)
        assert asked(llm)[-1].count("sky blue") == 1
        await discord.say(thread, ann, "and the sea?")
        await discord.until(lambda sim: len(answers(sim, said)) == 2)
        await asyncio.sleep(0.2)
    assert answers(discord, said) == ["It scatters the light.", "It mirrors the sky."]
    assert discord.bot_texts(general) == [] and opened(discord) == len(discord.called(OPEN)) == 1
    assert sum(said.count("sky blue") for said in asked(llm)) == 1
    first = next(shown for shown in discord.visible(thread) if shown.from_bot)
    assert first.reply_to is None and first.mentions == ()


async def test_each_question_has_a_thread_and_a_past_of_its_own(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    async with bot(AUTO):
        sky = await discord.say(general, ann, "<@BOT> why is the sky blue?")
        await discord.until(lambda sim: answers(sim, sky))
        sea = await discord.say(general, ann, "<@BOT> and the sea?")
        await discord.until(lambda sim: answers(sim, sea))
    assert opened(discord) == 2 and not any("scatters" in said for said in asked(llm))


async def test_what_others_say_in_the_channel_is_context_in_the_thread_and_not_answered(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    bob = discord.person(66, "Bob")
    async with bot(AUTO):
        await discord.say(general, bob, "I think that it is paint")
        said = await discord.say(general, ann, "<@BOT> why is the sky blue?")
        await discord.say(general, bob, "or is it?")
        await discord.until(lambda sim: answers(sim, said))
        await asyncio.sleep(0.2)
    assert any("<overheard>" in part and "it is paint" in part for part in asked(llm)), asked(llm)
    assert len(llm.requests) == 1 and discord.bot_texts(general) == []


@pytest.mark.parametrize(
    "place", ["off", "direct", "news", "post", "thread", "reply", "command", "slash", "nothing", "name"]
)
async def test_everything_else_is_answered_where_it_stands(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, team: Guild, general: Channel, ann: Person, place: str
) -> None:
    where = general
    async with bot(CONFIG if place == "off" else AUTO):
        match place:
            case "direct":
                await discord.say(where := discord.dm(ann), ann, "<@BOT> the sky?")
            case "news":
                await discord.say(where := discord.channel(team, "news", type=5), ann, "<@BOT> the sky?")
            case "post":
                where = discord.forum_post(discord.forum(team, "help"), ann, "A question", "<@BOT> the sky?")
            case "thread":
                await discord.say(where := discord.thread(general, "Plans", owner=ann), ann, "<@BOT> the sky?")
            case "reply":
                own = discord.write(general, discord.bot, "Ask me anything.")
                await discord.say(general, ann, "the sky?", reply_to=own.id)
            case "command":
                await discord.say(general, ann, "<@BOT> /status")
            case "slash":
                await discord.until(lambda sim: sim.commands.syncs)
                await discord.slash(general, ann, "status")
            case "nothing":
                await discord.say(general, ann, "<@BOT>")
            case "name":
                await discord.say(general, ann, "Bowerbird, the sky?")
            case _:
                await discord.say(general, ann, "<@BOT> the sky?")
        before = len(discord.bot_texts(where)) if place == "reply" else 0
        await discord.until(lambda sim: len(sim.bot_texts(where)) > before and not last(sim, where).thinking)
        await asyncio.sleep(0.2)
    assert discord.called(OPEN) == []


# nothing is lost, nothing is doubled


@pytest.mark.parametrize("effect", ["none", "done"])
@pytest.mark.parametrize(
    "trouble",
    [{"action": "drop"}, *(pytest.param(one, marks=pytest.mark.prove) for one in (RESET, {"status": 503}, GARBAGE))],
)
async def test_a_thread_that_did_not_open_at_once_is_opened_once(
    bot: StartBot, discord: DiscordSim, general: Channel, ann: Person, trouble: dict[str, object], effect: str
) -> None:
    discord.fail(OPEN, effect=effect, **trouble)  # type: ignore[arg-type]
    async with bot(AUTO):
        said = await discord.say(general, ann, "<@BOT> why is the sky blue?")
        await discord.until(lambda sim: answers(sim, said) == ["It scatters the light."])
        await asyncio.sleep(0.3)
    assert answers(discord, said) == ["It scatters the light."] and discord.bot_texts(general) == []
    assert len(discord.called(OPEN)) in (
        (2,) if effect == "none" else (1, 2)
    )  # the gateway tells of one that was opened


async def test_while_discord_does_not_answer_the_others_are_heard_and_life_is_shown_in_the_channel(
    bot: StartBot, discord: DiscordSim, general: Channel, ann: Person, dm: Channel
) -> None:
    discord.latencies[OPEN] = 8.0
    async with bot(AUTO):
        said = await discord.say(general, ann, "<@BOT> why is the sky blue?")
        await discord.say(dm, ann, "and the sea?")
        await discord.until(lambda sim: sim.bot_texts(dm) == ["It mirrors the sky."], timeout=7)
        await discord.until(lambda sim: sim.typing(general), timeout=7)
        await discord.until(lambda sim: answers(sim, said) == ["It scatters the light."])
    assert len(discord.called(OPEN)) == 1


@pytest.mark.parametrize("effect", ["none", "done"])
async def test_a_death_while_the_thread_opens_leaves_one_thread_with_one_answer(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person, effect: str
) -> None:
    llm.reset()
    llm.script(answer(gate("later"), text("It scatters the light."), repeat=True))
    discord.fail(OPEN, effect=effect, action="hang", every=True)  # type: ignore[arg-type]
    async with bot(AUTO):
        said = await discord.say(general, ann, "<@BOT> why is the sky blue?")
        await discord.until(lambda sim: sim.called(OPEN))
        await llm.at("later")
        await asyncio.sleep(0.2)
    assert (thread_of(discord, said) is not None) == (effect == "done")
    discord.heal()
    llm.release("later")
    async with bot(AUTO):
        await discord.until(lambda sim: answers(sim, said) == ["It scatters the light."])
        await asyncio.sleep(0.3)
    assert answers(discord, said) == ["It scatters the light."] and discord.bot_texts(general) == []


async def test_a_thread_that_somebody_opened_meanwhile_is_used_and_the_bot_is_meant_in_it(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    async with bot(AUTO):
        discord.fail(OPEN, status=503)
        said = await discord.say(general, ann, "<@BOT> why is the sky blue?")
        await discord.until(lambda sim: sim.called(OPEN))
        theirs = discord.thread(general, "Ours", owner=ann, message_id=int(said["id"]))
        await discord.until(lambda sim: answers(sim, said) == ["It scatters the light."])
        await discord.say(theirs, ann, "and the sea?")
        await discord.until(lambda sim: len(answers(sim, said)) == 2)
    assert theirs.name == "Ours" and theirs.owner_id == ann.id and discord.bot_texts(general) == []


async def test_questions_that_were_missed_get_their_threads_and_those_that_had_one_keep_it(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    async with bot(AUTO):
        sky = await discord.say(general, ann, "<@BOT> why is the sky blue?")
        await discord.until(lambda sim: answers(sim, sky))
    await discord.say(discord.channel_by_id(int(sky["id"])), ann, "and the sea?")
    missed = await discord.say(general, ann, "<@BOT> the sky again?")
    talked = await discord.say(general, ann, "<@BOT> the sea again?")
    theirs = discord.thread(general, "Ours", owner=ann, message_id=int(talked["id"]))
    await discord.say(theirs, discord.person(66, "Bob"), "salt, I say")
    async with bot(AUTO):
        await discord.until(lambda sim: len(answers(sim, sky)) == 2 and answers(sim, missed) and answers(sim, talked))
        await asyncio.sleep(0.3)
    assert answers(discord, sky) == ["It scatters the light.", "It mirrors the sky."]
    assert answers(discord, missed) == ["It scatters the light."] and answers(discord, talked) == [
        "It mirrors the sky."
    ]
    assert discord.bot_texts(general) == [] and opened(discord) == 2
    [request] = [seen for seen in llm.requests if "sea again" in str(seen.body)]
    assert "salt, I say" in str(request.body)


async def test_an_archived_thread_goes_on_after_a_restart_without_a_mention(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    async with bot(AUTO):
        sky = await discord.say(general, ann, "<@BOT> why is the sky blue?")
        await discord.until(lambda sim: answers(sim, sky))
    discord.archive(thread := discord.channel_by_id(int(sky["id"])))
    async with bot(AUTO):
        await discord.say(thread, ann, "and the sea?")
        await discord.until(lambda sim: len(answers(sim, sky)) == 2)
    assert any("scatters" in said for said in asked(llm)) and len(discord.called(OPEN)) == 1


@pytest.mark.parametrize("first", ["auto", "off"])
async def test_no_question_is_answered_twice_because_the_setting_changed(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person, first: str
) -> None:
    one, other = (AUTO, CONFIG) if first == "auto" else (CONFIG, AUTO)
    async with bot(one):
        said = await discord.say(general, ann, "<@BOT> why is the sky blue?")
        await discord.until(lambda sim: answers(sim, said) or sim.bot_texts(general))
        await asyncio.sleep(0.3)
    async with bot(other):
        await discord.say(general, ann, "<@BOT> and the sea?")
        await discord.until(lambda sim: len(llm.requests) == 2)
        await asyncio.sleep(0.5)
    assert len(llm.requests) == 2
    assert (len(answers(discord, said)), opened(discord)) == ((1, 1) if first == "auto" else (0, 1))


# the question changes, or goes


async def test_a_question_that_is_changed_or_deleted_reaches_its_turn_in_the_thread(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    llm.reset()
    llm.script(
        answer(text("This is going to be a very long answer. "), gate("never"), when=When(user="long")),
        answer(text("A short one. "), gate("neither"), when=When(user="short")),
    )
    async with bot(AUTO):
        said = await discord.say(general, ann, "<@BOT> something long")
        await discord.until(lambda sim: any("very long" in shown for shown in answers(sim, said)))
        await discord.edit(general, said["id"], "<@BOT> something short")
        await discord.until(lambda sim: any("A short one." in shown for shown in answers(sim, said)))
        await discord.delete(general, said["id"])
        await discord.until(lambda sim: answers(sim, said) == ["A short one.\n\nStopped."])
    assert len(discord.called(OPEN)) == 1 and discord.bot_texts(general) == []


async def test_buttons_in_the_thread_work_also_after_a_restart(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    async with bot(AUTO):
        said = await discord.say(general, ann, "<@BOT> note milk")
        await discord.until(lambda sim: answers(sim, said) and len(last(sim, thread_of(sim, said)).buttons) == 5)  # type: ignore[arg-type]
    thread = discord.channel_by_id(int(said["id"]))
    async with bot(AUTO):
        await discord.until(lambda sim: len(last(sim, thread).buttons) == 5)
        await discord.press(thread, ann, last(discord, thread).id, "Allow once")
        await discord.until(lambda sim: any("It is noted." in shown for shown in answers(sim, said)))
    assert len([shown for shown in discord.visible(thread) if shown.from_bot]) == 1
    assert len(discord.called(OPEN)) == 1


# where no thread can be opened


async def test_where_threads_are_forbidden_the_channel_gets_the_answer_and_the_owner_the_reason(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person, dm: Channel
) -> None:
    reason = say("no_threads_discord", "en", places="#general")
    async with bot(AUTO):
        await discord.say(dm, ann, "/status")
        await discord.until(lambda sim: sim.bot_texts(dm))
        for missing in ("create_public_threads", "send_messages_in_threads"):
            discord.forbid(general, missing)
            before = len(discord.bot_texts(general))
            said = await discord.say(general, ann, "<@BOT> why is the sky blue?")
            await discord.until(lambda sim, before=before: len(sim.bot_texts(general)) > before)  # type: ignore[misc]
            assert last(discord, general).reply_to == int(said["id"])
            await discord.say(dm, ann, "/status")
            await discord.until(lambda sim: reason in sim.bot_texts(dm)[-1])
            discord.allow(general)
        said = await discord.say(general, ann, "<@BOT> and the sea?")
        await discord.until(lambda sim: answers(sim, said))
        await discord.say(dm, ann, "/status")
        await discord.until(lambda sim: len(sim.bot_texts(dm)) == 4)
    assert reason not in discord.bot_texts(dm)[0] + discord.bot_texts(dm)[-1]
    assert [call.status for call in discord.called(OPEN)] == [201]


async def test_a_guild_that_is_not_served_is_no_trouble(
    bot: StartBot, discord: DiscordSim, ann: Person, dm: Channel
) -> None:
    there = discord.channel(discord.guild(9002, "Others", members=[ann]), "general")
    discord.forbid(there, "create_public_threads")
    async with bot(AUTO):
        await discord.say(there, ann, "<@BOT> why is the sky blue?")
        await discord.say(dm, ann, "/status")
        await discord.until(lambda sim: sim.bot_texts(dm))
    assert "threads" not in discord.bot_texts(dm)[0] and len(discord.bot_texts(there)) == 1
    assert discord.called("POST /channels/{id}/messages/{id}/threads") == []


@pytest.mark.parametrize(
    "refusal",
    [{"code": 50013}, *(pytest.param(one, marks=pytest.mark.prove) for one in (FULL, GONE, {"retry_after": 300}))],
)
async def test_a_thread_that_is_refused_leaves_the_conversation_in_the_channel(
    bot: StartBot,
    discord: DiscordSim,
    llm: LlmSim,
    general: Channel,
    ann: Person,
    dm: Channel,
    refusal: dict[str, int],
) -> None:
    discord.fail(OPEN, every=True, **refusal)  # type: ignore[arg-type]
    async with bot(AUTO):
        said = await discord.say(general, ann, "<@BOT> note milk")
        await discord.until(lambda sim: sim.bot_texts(general) and len(last(sim, general).buttons) == 5)
        assert last(discord, general).reply_to == int(said["id"])
        tries = len(discord.called(OPEN))
        await discord.say(dm, ann, "/status")
        await discord.until(lambda sim: sim.bot_texts(dm))
        assert ("#general" in discord.bot_texts(dm)[0]) == (refusal == {"code": 50013})
    discord.heal()
    async with bot(AUTO):
        await discord.until(lambda sim: len(last(sim, general).buttons) == 5)
        await discord.press(general, ann, last(discord, general).id, "Allow once")
        await discord.until(lambda sim: any("It is noted." in shown for shown in sim.bot_texts(general)))
        await discord.until(lambda sim: not last(sim, general).buttons)
    [shown] = [plain(shown) for shown in discord.bot_texts(general)]
    assert shown.count("I note it.") == shown.count("It is noted.") == 1
    assert len(discord.called(OPEN)) == tries == 1 and thread_of(discord, said) is None


async def test_a_short_wait_is_waited_and_a_long_one_opens_no_thread_until_it_is_over(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    discord.fail(OPEN, retry_after=1.5)
    async with bot(AUTO):
        said = await discord.say(general, ann, "<@BOT> why is the sky blue?")
        await discord.until(lambda sim: answers(sim, said) == ["It scatters the light."])
        assert [call.status for call in discord.called(OPEN)] == [429, 201]
        discord.fail(OPEN, retry_after=300)
        for count, question in enumerate(("the sea?", "the sea, once more?"), start=1):
            await discord.say(general, ann, f"<@BOT> {question}")
            await discord.until(lambda sim, count=count: len(sim.bot_texts(general)) == count)  # type: ignore[misc]
    assert len(discord.called(OPEN)) == 3


async def test_stop_reaches_an_answer_that_stands_in_the_channel_in_place_of_a_thread(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    llm.reset()
    llm.script(answer(text("This is going to be a very long answer. "), gate("never")))
    discord.fail(OPEN, code=160006)
    async with bot(AUTO):
        await discord.say(general, ann, "<@BOT> go")
        await discord.until(lambda sim: sim.bot_texts(general) and last(sim, general).buttons)
        await discord.press(general, ann, last(discord, general).id, "Stop")
        await discord.until(lambda sim: "Stopped." in sim.bot_texts(general)[-1])
    assert len(discord.bot_texts(general)) == 1


async def test_many_questions_at_once_in_one_channel_break_no_rule(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    llm.reset()
    llm.script(answer(sleep(0.8), text("It scatters the light."), repeat=True))
    discord.latency = 0.3
    people = [discord.person(100 + n, f"P{n}") for n in range(8)]
    async with bot(AUTO):
        said = [await discord.say(general, one, "<@BOT> why is the sky blue?") for one in people]
        await discord.until(lambda sim: all(answers(sim, one) == ["It scatters the light."] for one in said))
    assert opened(discord) == len(discord.called(OPEN)) == 8 and discord.bot_texts(general) == []
