"""The whole daemon in front of people on Slack: what they see, word for word and once, with no rule broken."""

from __future__ import annotations

import asyncio

import pytest

from bot.inbox.retries import RETRY
from tests.channels.slack.conftest import StartBot
from tests.channels.slack.texts import LONG, whole
from tests.sim.llm import LlmSim, answer, call, gate, sleep, status, text
from tests.sim.slack import Channel, Person, Shown, SlackSim

LATENCIES = [0.003, *(pytest.param(seconds, marks=pytest.mark.prove) for seconds in (0.01, 0.3, 2.0))]


@pytest.fixture(autouse=True, params=LATENCIES)
def latency(request: pytest.FixtureRequest, slack: SlackSim) -> float:
    """Seconds that every call to Slack takes."""
    slack.latency = request.param
    return slack.latency


STREAMING = ["edit", "native"]


@pytest.fixture
def ann(slack: SlackSim) -> Person:
    return slack.person("U0ANN", "Ann")


@pytest.fixture
def dm(slack: SlackSim, ann: Person) -> Channel:
    return slack.dm(ann)


@pytest.fixture
def team(slack: SlackSim, ann: Person) -> Channel:
    return slack.channel("C0TEAM", "team", members=[ann])


def said(slack: SlackSim, channel: Channel, thread: str | None = None) -> list[Shown]:
    """What the bot shows to everybody."""
    shown = [message for message in slack.visible(channel, thread) if message.from_bot]
    return [message for message in shown if not message.ephemeral_to]


def last(slack: SlackSim, channel: Channel) -> Shown | None:
    shown = said(slack, channel)
    return shown[-1] if shown else None


def at_rest(slack: SlackSim, channel: Channel) -> bool:
    """Nothing is still growing, or waits for a press; whoever likes may still try again."""
    shown = said(slack, channel)
    waiting = [button for one in shown for button in one.buttons if not button.value.endswith(f":{RETRY}")]
    return bool(shown) and not waiting and not any(one.streaming for one in shown)


def texts(slack: SlackSim, channel: Channel) -> list[str]:
    return [message.text for message in said(slack, channel)]


async def test_a_plain_answer_stands_once_and_exactly(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, dm: Channel
) -> None:
    llm.script(answer(text("Hello "), text("**Ann**, how are "), text("you?")))
    async with bot():
        await slack.say(dm, ann, "hello")
        await slack.until(lambda sim: texts(sim, dm) == ["Hello Ann, how are you?"] and not sim.unacked)
        await asyncio.sleep(0.3)
    [shown] = said(slack, dm)
    assert not shown.buttons and shown.thread_ts is None and not shown.unfurl


@pytest.mark.parametrize("streaming", STREAMING)
async def test_b073_an_answer_in_a_channel_stands_in_a_thread_under_its_question(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, team: Channel, streaming: str
) -> None:
    llm.script(answer(text("The first answer, in a few words.")), answer(text("And the second one of them.")))
    async with bot(streaming):
        asked = await slack.say(team, ann, "<@BOT> hello")
        await slack.until(lambda sim: at_rest(sim, team))
        await slack.say(team, ann, "and then?", thread=asked["ts"])
        await slack.until(lambda sim: len(texts(sim, team)) == 2 and at_rest(sim, team))
        await slack.say(team, ann, "not for the bot")
        await slack.until(lambda sim: not sim.unacked)
        await asyncio.sleep(0.3)
    assert [one.thread_ts for one in said(slack, team)] == [asked["ts"]] * 2
    assert texts(slack, team) == ["The first answer, in a few words.", "And the second one of them."]
    assert "The first answer" in str(llm.requests[-1].body) and len(llm.requests) == 2


async def test_a_growing_answer_is_one_message_with_a_stop_button(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, dm: Channel
) -> None:
    words = [f"word{n} " for n in range(40)]
    llm.script(answer(*(text(word) for word in words[:20]), gate("half"), *(text(word) for word in words[20:])))
    async with bot():
        await slack.say(dm, ann, "count")
        await slack.until(lambda sim: any("word19" in shown for shown in texts(sim, dm)))
        [shown] = said(slack, dm)
        assert [button.label for button in shown.buttons] == ["Stop"]
        llm.release("half")
        await slack.until(lambda sim: texts(sim, dm) == ["".join(words).strip()] and at_rest(sim, dm))


async def test_stop_leaves_the_text_so_far_and_says_so(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, dm: Channel
) -> None:
    llm.script(answer(text("This is going to be a very long answer. "), gate("never"), text("No.")))
    async with bot():
        await slack.say(dm, ann, "go")
        await slack.until(lambda sim: (shown := last(sim, dm)) and shown.buttons)
        await slack.press(dm, ann, said(slack, dm)[-1].ts, "Stop")
        await slack.until(lambda sim: any("Stopped." in shown for shown in texts(sim, dm)))
        await slack.until(lambda sim: any(message.ephemeral_to == ann.id for message in sim.visible(dm)))
    assert texts(slack, dm) == ["This is going to be a very long answer.\n\nStopped."]


@pytest.mark.parametrize("words", ["<@BOT> stop", "<@BOT>, STOP", " /stop"])
async def test_in_a_thread_the_word_alone_stops_a_stream(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, team: Channel, words: str
) -> None:
    llm.script(answer(text("This is going to be a very long answer. "), gate("never"), text("No.")))
    async with bot("native"):
        asked = await slack.say(team, ann, "<@BOT> go")
        await slack.until(lambda sim: (shown := last(sim, team)) and shown.streaming)
        await slack.say(team, ann, words, thread=asked["ts"])
        await slack.until(lambda sim: any("Stopped." in shown for shown in texts(sim, team)) and at_rest(sim, team))
    assert "This is going to be a very long answer.\n\nStopped." in texts(slack, team)


@pytest.mark.parametrize("streaming", STREAMING)
async def test_a_tool_asks_in_the_same_message_and_the_press_lets_it_run(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, team: Channel, streaming: str
) -> None:
    llm.script(
        answer(text("I note it, as you want it to be."), call("c1", "note_write", ('{"text": "milk"}',))),
        answer(text("It is noted.")),
    )
    async with bot(streaming):
        await slack.say(team, ann, "<@BOT> note milk")
        await slack.until(lambda sim: (shown := last(sim, team)) and len(shown.buttons) == 5)
        asked = said(slack, team)[-1]
        labels = [button.label for button in asked.buttons]
        assert labels == ["Allow once", "Allow in this chat", "Always allow", "Deny", "Stop"]
        assert len({button.action_id for button in asked.buttons}) == 5
        await slack.press(team, ann, asked.ts, "Allow once")
        await slack.until(lambda sim: any("It is noted." in shown for shown in texts(sim, team)) and at_rest(sim, team))
    [shown] = said(slack, team)
    assert shown.ts == asked.ts and shown.text.startswith("I note it, as you want it to be.")


async def test_while_a_card_waits_others_are_answered(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, dm: Channel
) -> None:
    llm.script(
        answer(text("I note it."), call("c1", "note_write", ('{"text": "milk"}',))),
        answer(text("It is noted.")),
        answer(text("Yes?")),
    )
    async with bot():
        await slack.say(dm, ann, "note milk")
        await slack.until(lambda sim: (shown := last(sim, dm)) and len(shown.buttons) == 5)
        card = said(slack, dm)[-1].ts
        await slack.say(dm, ann, "and meanwhile?")
        await slack.press(dm, ann, card, "Allow once")
        await slack.until(lambda sim: any("It is noted." in shown for shown in texts(sim, dm)) and at_rest(sim, dm))


async def test_a_status_shows_life_and_ends_with_the_first_words(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, team: Channel
) -> None:
    llm.script(answer(sleep(1.5), text("There you are, at last, with a few words.")))
    async with bot():
        asked = await slack.say(team, ann, "<@BOT> hello")
        await slack.until(lambda sim: sim.status(team, asked["ts"]) == "is thinking…")
        await slack.until(lambda sim: texts(sim, team))
        assert slack.status(team, asked["ts"]) == ""
        await asyncio.sleep(1.0)
    assert len(slack.called("assistant.threads.setStatus")) == 1


async def test_beside_a_thread_an_answer_that_comes_whole_has_a_status_which_is_taken_back(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, dm: Channel
) -> None:
    llm.script(answer(sleep(1.5), text("There you are, at last, with a few words.")))
    async with bot("off"):
        asked = await slack.say(dm, ann, "你好吗")
        await slack.until(lambda sim: sim.status(dm, asked["ts"]) == "正在思考…")
        await slack.until(lambda sim: texts(sim, dm) and not sim.status(dm, asked["ts"]))


async def test_beside_a_thread_a_line_shows_within_a_second_that_somebody_thinks(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, dm: Channel
) -> None:
    llm.script(answer(sleep(3), text("There you are, at last, with a few words.")))
    async with bot("native"):
        await slack.say(dm, ann, "hello")
        asked_at = slack.world.monotonic()
        await slack.until(lambda sim: texts(sim, dm))
        [line] = said(slack, dm)
        assert line.text == "thinking…" and [button.label for button in line.buttons] == ["Stop"]
        [call] = slack.called("chat.postMessage")
        assert call.at - asked_at < 2.5  # a second, on a machine that is not busy and with a name that is known
        await slack.until(lambda sim: texts(sim, dm) == ["There you are, at last, with a few words."])
    assert slack.called("assistant.threads.setStatus") == []


@pytest.mark.parametrize("streaming", STREAMING)
@pytest.mark.prove
async def test_an_answer_of_twenty_thousand_characters_comes_whole_in_legal_parts(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, team: Channel, streaming: str
) -> None:
    assert len(LONG) > 20_000
    llm.script(answer(*(text(LONG[at : at + 50]) for at in range(0, len(LONG), 50)), tokens_per_second=2000))
    async with bot(streaming):
        await slack.say(team, ann, "<@BOT> tell me everything")
        await slack.until(lambda sim: "return x ** 21" in "".join(texts(sim, team)) and at_rest(sim, team), timeout=28)
    whole(texts(slack, team))


@pytest.mark.parametrize("streaming", STREAMING)
async def test_a_message_during_a_turn_joins_it_and_an_edit_of_the_question_repeats_nothing(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, team: Channel, streaming: str
) -> None:
    llm.script(
        answer(text("Let me look at the clock. "), gate("g"), call("c1", "now", ("{}",))),
        answer(text("It is late, and yes, in Rome as well.")),
    )
    async with bot(streaming):
        asked = await slack.say(team, ann, "<@BOT> what time is it?")
        await llm.at("g")
        await slack.say(team, ann, "in Rome too?", thread=asked["ts"])
        await slack.until(lambda sim: not sim.unacked)
        llm.release("g")
        await slack.until(lambda sim: "in Rome as well." in "".join(texts(sim, team)) and at_rest(sim, team))
        await asyncio.sleep(0.5)
    assert "".join(texts(slack, team)).count("It is late, and yes, in Rome as well.") == 1
    assert len(texts(slack, team)) == 1 and len(llm.requests) == 2
    assert "in Rome too?" in str(llm.requests[-1].body)


@pytest.mark.parametrize("streaming", STREAMING)
async def test_when_no_model_answers_a_sentence_says_so(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, team: Channel, streaming: str
) -> None:
    llm.script(answer(status(401), repeat=True))
    async with bot(streaming):
        await slack.say(team, ann, "<@BOT> hello")
        await slack.until(lambda sim: texts(sim, team) and at_rest(sim, team))
    assert "key" in texts(slack, team)[0] and len(texts(slack, team)) == 1


async def test_an_answer_of_which_nothing_can_be_seen_is_not_a_silence(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, dm: Channel
) -> None:
    llm.script(answer(text("\u2800\u2800\u200b"), repeat=True))
    async with bot():
        await slack.say(dm, ann, "hello")
        await slack.until(lambda sim: texts(sim, dm))
