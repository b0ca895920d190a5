"""What people do besides writing: reactions, the Stop of a draft, and adding the bot to a group."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.core.address import Address
from bot.core.inbound import Joined, Reaction, StopPressed
from channels.telegram.moves import as_before
from channels.telegram.updates import ALLOWED, Left, Me, inbound_of
from tests.channels.telegram.conftest import CONFIG, StartBot
from tests.sim.llm import LlmSim, answer, text
from tests.sim.telegram import TelegramSim

ME = Me(99, "mybot")
ANN = {"id": 7, "is_bot": False, "first_name": "Ann", "language_code": "de"}
PRIVATE = {"id": 7, "type": "private", "first_name": "Ann"}
GROUP = {"id": -1001, "type": "supergroup", "title": "Team"}
POOR, BETTER = "A poor answer to it.", "A much better answer."


def read(**update: Any) -> Any:
    return inbound_of({"update_id": 9, **update}, ME, "telegram", "main")


def reacted(old: list[str], new: list[str], **fields: Any) -> Any:
    sets = {
        f"{name}_reaction": [{"type": "emoji", "emoji": emoji} for emoji in chosen]
        for name, chosen in (("old", old), ("new", new))
    }
    return read(message_reaction={"chat": GROUP, "message_id": 5, "user": ANN, "date": 100, **sets, **fields})


def joined(old: str, new: str, chat: dict[str, Any] = GROUP, **fields: Any) -> Any:
    members = {"old_chat_member": {"status": old}, "new_chat_member": {"status": new, **fields}}
    return read(my_chat_member={"chat": chat, "from": ANN, "date": 100, **members})


def test_what_was_added_and_what_was_taken_back_are_reactions_of_their_own() -> None:
    taken, added = reacted(["👍", "🔥"], ["🔥", "👎"])
    assert isinstance(taken, Reaction) and (taken.emoji, taken.added) == ("👍", False)
    assert (added.emoji, added.added, added.message_id, added.sent_at) == ("👎", True, "5", 100.0)
    assert added.address == Address("telegram", "main", "-1001") and added.sender.identity == "telegram:7"
    assert taken.id != added.id and reacted(["👍", "🔥"], ["🔥", "👎"]) == (taken, added)


def test_reactions_without_a_character_have_a_name_and_those_of_a_chat_are_its_own() -> None:
    custom, paid = {"type": "custom_emoji", "custom_emoji_id": "55"}, {"type": "paid"}
    both = reacted([], [], new_reaction=[custom, paid])
    assert [one.emoji for one in both] == ["custom:55", "paid"]
    update = {"chat": GROUP, "message_id": 5, "actor_chat": GROUP, "date": 100, "new_reaction": [paid]}
    (anonymous,) = read(message_reaction=update)
    assert (anonymous.sender.id, anonymous.sender.name) == ("-1001", "Team")


def test_a_reaction_that_changes_nothing_is_left() -> None:
    assert isinstance(reacted(["👍"], ["👍"]), Left)


def test_a_reaction_in_the_new_place_of_a_group_is_one_to_the_message_there() -> None:
    (moved,) = (as_before(one, "-5") for one in reacted([], ["👎"]))
    assert (moved.address.chat, moved.message_id) == ("-5", "-1001/5") and moved.id.startswith("-1001/")


def test_the_stop_of_a_draft_is_pressed_by_whose_chat_it_is() -> None:
    stop = read(stopped_message_generation={"chat": PRIVATE, "draft_id": 3, "message_thread_id": 12})
    assert isinstance(stop, StopPressed)
    assert (stop.address, stop.sender.identity) == (Address("telegram", "main", "7", "12"), "telegram:7")
    assert isinstance(read(stopped_message_generation={"chat": GROUP, "draft_id": 3}), Left)


@pytest.mark.parametrize(("old", "new"), [("left", "member"), ("kicked", "administrator"), ("kicked", "restricted")])
def test_being_added_to_a_group_is_told_with_who_did_it(old: str, new: str) -> None:
    here = joined(old, new, is_member=True)
    assert isinstance(here, Joined)
    assert (here.group, here.title, here.sender.name) == ("-1001", "Team", "Ann")
    assert here.address == Address("telegram", "main", "-1001")


@pytest.mark.parametrize(
    ("old", "new", "chat"),
    [
        ("member", "kicked", GROUP),
        ("member", "administrator", GROUP),
        ("left", "restricted", GROUP),
        ("kicked", "member", PRIVATE),
        ("left", "administrator", {"id": -9, "type": "channel", "title": "News"}),
    ],
)
def test_other_changes_of_what_the_bot_is_in_a_chat_are_left(old: str, new: str, chat: dict[str, Any]) -> None:
    assert isinstance(joined(old, new, chat), Left)


def test_all_of_them_are_asked_for() -> None:
    assert {"message_reaction", "stopped_message_generation", "my_chat_member"} <= set(ALLOWED)


@pytest.mark.parametrize("in_group", [False, True])
async def test_a_thumb_down_by_the_asker_answers_once_more(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, in_group: bool
) -> None:
    llm.script(answer(text(POOR)), answer(text(BETTER)))
    ann, bob = telegram.person(7, "Ann"), telegram.person(8, "Bob")
    chat = telegram.group(-1001, "Team", members=[ann, bob], admin=True) if in_group else telegram.private(ann)
    async with bot():
        await telegram.say(chat, ann, f"@{telegram.world.bot.username} hello" if in_group else "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat) == [POOR] and not sim.visible(chat)[-1].keyboard)
        shown = telegram.visible(chat)[-1].message_id
        if in_group:
            await telegram.react(chat, bob, shown, "👎")
        await telegram.react(chat, ann, shown, "👍")
        await telegram.until(lambda sim: not sim.pending)
        await asyncio.sleep(0.3)
        assert len(llm.requests) == 1
        await telegram.react(chat, ann, shown, "👎")
        await telegram.until(lambda sim: sim.bot_texts(chat) == [POOR, BETTER])
        await telegram.react(chat, ann, shown)
        await telegram.until(lambda sim: not sim.pending)
        await asyncio.sleep(0.3)
    assert len(llm.requests) == 2


async def test_a_bot_that_is_added_to_a_group_it_may_answer_in_says_hello_once(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    ann = telegram.person(7, "Ann")
    team = telegram.group(-1001, "Team", members=[ann])
    async with bot():
        telegram.add_bot(team, ann)
        await telegram.until(lambda sim: sim.bot_texts(team) and not sim.pending)
        telegram.redeliver(max(telegram.updates.confirmed))
        await telegram.until(lambda sim: not sim.pending)
        await asyncio.sleep(0.3)
    (hello,) = telegram.bot_texts(team)
    assert "Hello, I am" in hello


async def test_in_another_group_an_owner_is_asked_and_lets_it_answer_there(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(text(POOR)), answer(text(BETTER)))
    ann, bob = telegram.person(7, "Ann"), telegram.person(8, "Bob")
    chat, other = telegram.private(ann), telegram.group(-1002, "Other", members=[bob])
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat) == [POOR])
        telegram.add_bot(other, bob)
        await telegram.until(lambda sim: sim.visible(chat)[-1].keyboard)
        asked = telegram.visible(chat)[-1]
        assert "Other" in asked.text and "Bob" in asked.text and "-1002" in asked.text
        assert telegram.bot_texts(other) == []
        await telegram.press(chat, ann, asked.message_id, "Answer there")
        await telegram.until(lambda sim: sim.bot_texts(other))
        await telegram.say(other, bob, f"@{telegram.world.bot.username} hello")
        await telegram.until(lambda sim: sim.bot_texts(other)[1:] == [BETTER])


async def test_a_group_that_has_moved_is_not_one_it_was_added_to(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    ann = telegram.person(7, "Ann")
    team = telegram.group(-1001, "Team", members=[ann], supergroup=False)
    async with bot(CONFIG):
        await telegram.until(lambda sim: sim.polls)
        moved = telegram.migrate(team, -100200)
        telegram.add_bot(moved, ann)
        await telegram.until(lambda sim: not sim.pending)
        await asyncio.sleep(0.5)
    assert telegram.bot_texts(moved) == []
