"""What people do in Slack's channels beside asking: thumbs, invitations, commands, words to each other."""

from __future__ import annotations

import asyncio

import pytest

from tests.channels.slack.conftest import StartBot
from tests.channels.slack.test_dialogues import at_rest, said, texts
from tests.sim.llm import LlmSim, When, answer, gate, text
from tests.sim.slack import Channel, Person, SlackSim


@pytest.fixture
def ann(slack: SlackSim) -> Person:
    return slack.person("U0ANN", "Ann")


@pytest.fixture
def bob(slack: SlackSim) -> Person:
    return slack.person("U0BOB", "Bob")


@pytest.fixture
def team(slack: SlackSim, ann: Person, bob: Person) -> Channel:
    return slack.channel("C0TEAM", "team", members=[ann, bob])


@pytest.mark.parametrize("streaming", ["native", "edit", "off"])
async def test_a_thumb_down_asks_again_however_the_answer_was_shown_and_after_a_restart(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, bob: Person, team: Channel, streaming: str
) -> None:
    llm.script(*(answer(text(f"Answer number {number}, in more than a few words.")) for number in (1, 2, 3)))
    async with bot(streaming):
        await slack.say(team, ann, "<@BOT> go")
        await slack.until(lambda sim: len(texts(sim, team)) == 1 and at_rest(sim, team))
        await slack.react(team, said(slack, team)[0].ts, bob, "-1")
        await asyncio.sleep(0.5)
        await slack.react(team, said(slack, team)[0].ts, ann, "-1")
        await slack.until(lambda sim: len(texts(sim, team)) == 2 and at_rest(sim, team))
    async with bot(streaming):
        await slack.react(team, said(slack, team)[1].ts, ann, "thumbsdown")
        await slack.until(lambda sim: len(texts(sim, team)) == 3 and at_rest(sim, team))
    assert texts(slack, team) == [f"Answer number {number}, in more than a few words." for number in (1, 2, 3)]
    assert len(llm.requests) == 3


def alone(slack: SlackSim, channel: Channel, person: Person) -> list[str]:
    """What only this person sees."""
    return [shown.text for shown in slack.visible(channel) if shown.ephemeral_to == person.id]


async def test_invited_it_says_hello_once_where_it_may_answer(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person
) -> None:
    room = slack.channel("C0TEAM", "team", members=[ann], bot_in=False)
    async with bot():
        slack.invite(room, ann)
        await slack.until(lambda sim: texts(sim, room) and not sim.unacked)
        for delivery in list(slack.deliveries.all.values()):
            slack.redeliver_now(delivery.name)
        await slack.until(lambda sim: not sim.unacked)
        await asyncio.sleep(0.5)
    [hello] = said(slack, room)
    assert "Hello, I am" in hello.text and hello.thread_ts is None and llm.requests == []


@pytest.mark.parametrize("private", [False, True])
async def test_invited_elsewhere_it_asks_its_owner_and_says_hello_once_that_is_allowed(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, bob: Person, private: bool
) -> None:
    llm.script(answer(text("Here I am."), repeat=True))
    dm, room = slack.dm(ann), slack.channel("C0NEW", "new-plans", members=[ann, bob], bot_in=False, private=private)
    async with bot():
        await slack.say(dm, ann, "hello")
        await slack.until(lambda sim: texts(sim, dm) == ["Here I am."])
        slack.invite(room, bob)
        await slack.until(lambda sim: len(texts(sim, dm)) == 2)
        asked = said(slack, dm)[1]
        assert "Bob has added me to the group new-plans (C0NEW)" in asked.text
        await slack.say(room, ann, "<@BOT> hello?")
        await slack.until(lambda sim: len(texts(sim, room)) == 1)
        await slack.press(dm, ann, asked.ts, "Answer there")
        await slack.until(lambda sim: len(texts(sim, room)) == 2)
        await slack.say(room, ann, "<@BOT> and now?")
        await slack.until(lambda sim: "Here I am." in texts(sim, room))
    told = sorted(texts(slack, room))
    assert told[0].startswith("Hello, I am") and told[2].startswith("I may not answer here yet. An owner of mine can")


async def test_called_where_it_was_all_along_and_may_not_answer_it_asks_its_owner(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, bob: Person
) -> None:
    llm.script(answer(text("Here I am."), repeat=True))
    dm, room = slack.dm(ann), slack.channel("C0OLD", "old-plans", members=[ann, bob])
    async with bot():
        await slack.say(dm, ann, "hello")
        await slack.until(lambda sim: texts(sim, dm) == ["Here I am."])
        for _ in range(2):
            await slack.say(room, bob, "<@BOT> hello?")
            await slack.until(lambda sim: len(texts(sim, dm)) == 2 and texts(sim, room))
        await slack.until(lambda sim: not sim.unacked)
        await asyncio.sleep(0.5)
        asked = said(slack, dm)[1]
        assert asked.text.startswith("Bob has called me in the group #old-plans (C0OLD).")
        await slack.press(dm, ann, asked.ts, "Answer there")
        await slack.until(lambda sim: len(texts(sim, room)) == 2)
        await slack.say(room, bob, "<@BOT> and now?")
        await slack.until(lambda sim: "Here I am." in texts(sim, room))
    assert len(texts(slack, dm)) == 2
    closed = [shown for shown in said(slack, room) if "may not answer here yet" in shown.text]
    assert len(closed) == 1 and closed[0].thread_ts


async def test_who_else_comes_is_nothing_to_it_and_without_the_scope_an_invitation_is_not_heard(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, bob: Person, team: Channel
) -> None:
    room = slack.channel("C0NEW", "new", members=[ann], bot_in=False)
    slack.missing_scope("channels:read")
    async with bot():
        slack.invite(room, ann)
        ts = slack.world.ts()
        came = {"type": "member_joined_channel", "user": bob.id, "channel": team.id, "inviter": ann.id, "event_ts": ts}
        await slack.event(came, team)
        await slack.until(lambda sim: not sim.unacked)
        await asyncio.sleep(0.5)
    told = [one.payload["event"] for one in slack.deliveries.all.values() if "event" in one.payload]
    assert [event["user"] for event in told if event["type"] == "member_joined_channel"] == [bob.id]
    assert texts(slack, team) == []


async def test_a_command_is_answered_to_its_sender_alone_where_the_bot_is_no_member_or_may_not_answer(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, bob: Person
) -> None:
    closed = slack.channel("C0TEAM", "team", members=[ann], bot_in=False)
    other = slack.channel("C0OTHER", "other", members=[ann, bob])
    async with bot():
        await slack.command(closed, ann, "/bowerbird", "status")
        await slack.until(lambda sim: alone(sim, closed, ann))
        for person in (ann, bob):
            await slack.command(other, person, "/bowerbird", "status")
            await slack.until(lambda sim, person=person: alone(sim, other, person))  # type: ignore[misc]
        await slack.command(closed, ann, "/bowerbird", "help")
        await slack.until(lambda sim: len(alone(sim, closed, ann)) == 2)
    assert "Bowerbird" in alone(slack, closed, ann)[0] and "stop" in alone(slack, closed, ann)[1]
    assert alone(slack, other, bob) == ["I do not answer in this chat: an owner has to allow it first."]
    assert all(shown.ephemeral_to for shown in said(slack, other) + said(slack, closed))


async def test_in_a_channel_commands_are_about_the_newest_answer_of_whoever_types_them(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, bob: Person, team: Channel
) -> None:
    llm.script(
        answer(text("Ann's answer begins here, and "), gate("never"), text("ends."), when=When(user="Ann")),
        answer(text("Bob's answer begins here, and "), gate("bob"), text("ends."), when=When(user="Bob")),
        answer(text("Ann's second answer."), when=When(user="Ann")),
        answer(text("Ann's third answer."), when=When(user="Ann")),
    )
    async with bot():
        asked = await slack.say(team, ann, "<@BOT> for Ann")
        await slack.until(lambda sim: len(said(sim, team)) == 1)
        await slack.say(team, bob, "<@BOT> for Bob")
        await slack.until(lambda sim: len(said(sim, team)) == 2)
        await slack.command(team, ann, "/bowerbird", "stop")
        await slack.until(lambda sim: any("opped" in words for words in texts(sim, team)))
        assert said(slack, team)[1].buttons
        llm.release("bob")
        await slack.command(team, ann, "/bowerbird", "retry")
        await slack.until(lambda sim: "Ann's second answer." in texts(sim, team) and at_rest(sim, team))
    async with bot():
        await slack.command(team, ann, "/bowerbird", "retry")
        await slack.until(lambda sim: "Ann's third answer." in texts(sim, team))
    assert all(shown.thread_ts == asked["ts"] for shown in said(slack, team) if "Bob's" not in shown.text)


async def test_in_its_thread_what_people_say_to_each_other_is_not_meant_for_it(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, bob: Person, team: Channel
) -> None:
    llm.script(answer(text("An answer, in a few words.")), answer(text("Another one, in a few words.")))
    async with bot():
        asked = await slack.say(team, ann, "<@BOT> hello")
        await slack.until(lambda sim: len(texts(sim, team)) == 1 and at_rest(sim, team))
        await slack.say(team, bob, "<@U0ANN> lunch at noon?", thread=asked["ts"])
        await slack.say(team, ann, "<@U0BOB> yes, let us go", thread=asked["ts"])
        await slack.until(lambda sim: not sim.unacked)
        await asyncio.sleep(0.5)
        assert len(llm.requests) == 1
        await slack.say(team, ann, "<@U0BOB> wait: <@BOT> when is noon?", thread=asked["ts"])
        await slack.until(lambda sim: len(texts(sim, team)) == 2 and at_rest(sim, team))
    assert "lunch at noon?" in str(llm.requests[1].body["messages"][-1])
