"""A message that is changed or deleted while it waits, while it is answered, and after a restart."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.core.address import Sender
from bot.core.inbound import MessageDeleted, MessageEdited, UserMessage
from bot.core.model import ModelText
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import UserRow
from bot.core.view import Limits
from bot.inbox.access import Access
from bot.inbox.early import EarlyEdits
from bot.time.clock import SystemClock
from tests.fakes.channel import FakeChannel
from tests.fakes.clock import FakeClock
from tests.fakes.provider import calls, says
from tests.inbox.conftest import HERE, OWNER, House, OpenHouse

SUM = ToolCall("c1", "calculate", {"expression": "1+1"})
NOTE = ToolCall("c1", "note_write", {"text": "milk"})
STRANGER = Sender("fake", "99", "Eve")


async def edit(house: House, text: str, message: int = 1, sender: Sender = OWNER, at: float = 2.0) -> None:
    await house.inbox.receive(MessageEdited(f"{message}.{at}", HERE, sender, str(message), text, at))


async def asked(house: House, times: int) -> None:
    async with asyncio.timeout(5):
        while len(house.provider.requests) < times:
            await asyncio.sleep(0.002)


async def shows(house: House, text: str) -> None:
    async with asyncio.timeout(5):
        while not any(text in shown for shown in house.shown):
            await asyncio.sleep(0.002)


def said(house: House, request: int = -1) -> str:
    return str(house.provider.requests[request].messages)


async def test_a_message_that_waits_is_answered_as_it_reads_now(open_house: OpenHouse) -> None:
    gate = asyncio.Event()
    async with open_house([ModelText("One."), gate, *says()], says("Two."), when_busy="queue") as house:
        await house.say("first")
        await asked(house, 1)
        await house.say("delete all my filse", number=2)
        await edit(house, "list all my files", message=2)
        gate.set()
        await house.idle()
        assert "list all my files" in said(house) and "delete" not in said(house)
        assert house.shown == ["One.", "Two."]


async def test_an_edit_of_the_question_begins_its_answer_anew_in_the_same_message(open_house: OpenHouse) -> None:
    never = asyncio.Event()
    async with open_house([ModelText("Paris has many museums, and"), never], says("Rome has more.")) as house:
        await house.say("tell me of Paris")
        await shows(house, "Paris has many museums")
        await edit(house, "tell me of Rome")
        await house.idle()
        assert house.shown == ["Rome has more."]
        assert "of Rome" in said(house) and "Paris" not in said(house)
        assert house.ended == [StopReason.ANSWERED]
        assert (await house.outcomes())["1.2.0"] == "restarted"


async def test_what_was_only_read_is_forgotten_with_the_old_question(open_house: OpenHouse) -> None:
    never = asyncio.Event()
    script = [calls(SUM, text="Let me see."), [ModelText("It is two, so"), never], says("It is four.")]
    async with open_house(*script) as house:
        await house.say("1+1?")
        await shows(house, "It is two")
        await edit(house, "2+2?")
        await house.idle()
        assert house.shown == ["It is four."]
        assert "1+1" not in said(house)
        await house.say("and?", number=2)
        await house.idle()
        assert "2+2?" in said(house) and "It is four." in said(house) and "1+1" not in said(house)


async def test_two_edits_end_with_the_last_text(open_house: OpenHouse) -> None:
    first, second = asyncio.Event(), asyncio.Event()
    async with open_house([ModelText("one"), first], [ModelText("two"), second], says("Three.")) as house:
        await house.say("a")
        await asked(house, 1)
        await edit(house, "b")
        await asked(house, 2)
        await edit(house, "c", at=3.0)
        await house.idle()
        assert house.shown == ["Three."] and "'c'" in said(house).replace('"', "'")


async def test_once_something_was_done_the_change_is_told_to_the_model(open_house: OpenHouse) -> None:
    gate = asyncio.Event()
    script = [calls(NOTE), [ModelText("Noted, and"), gate, *says(" done.")], says("I note oat milk instead.")]
    async with open_house(*script) as house:
        await house.say("note milk")
        await house.press("once")
        await shows(house, "Noted, and")
        await edit(house, "note oat milk")
        gate.set()
        await house.idle()
        assert (house.workspace / "notes.md").read_text().count("milk") == 1
        assert "I have changed my message" in said(house) and "oat milk" in said(house)
        assert (await house.outcomes())["1.2.0"] == "followed up"


async def test_an_open_question_falls_with_the_text_that_led_to_it(open_house: OpenHouse) -> None:
    async with open_house(calls(NOTE), says("Nothing is noted.")) as house:
        turn = (await house.say("note milk")).turn
        payload = await house.button("once")
        await edit(house, "never mind")
        await house.idle()
        [approval] = await house.store.approvals.of_turn(turn)
        assert approval.card.decision == "void" and payload == f"b:{approval.card.id}:once"
        assert house.shown == ["Nothing is noted."]
        assert not (house.workspace / "notes.md").exists()


async def test_sealed_text_stands_and_the_change_is_told(open_house: OpenHouse) -> None:
    channel = FakeChannel(SystemClock(), Limits(200, "utf16"), strict=False)
    gate = asyncio.Event()
    long = " ".join(f"word{n}" for n in range(100))
    async with open_house([ModelText(long), gate, *says()], says("As you say."), channel=channel) as house:
        await house.say("long")
        await shows(house, "word80")
        await edit(house, "short")
        gate.set()
        await house.idle()
        assert "word0" in house.shown[0] and "As you say." in house.shown[-1]


async def test_an_edit_of_an_answered_message_changes_nothing(open_house: OpenHouse) -> None:
    async with open_house(says("Done.")) as house:
        await house.say("hello")
        await house.idle()
        await edit(house, "goodbye")
        assert house.shown == ["Done."] and len(house.provider.requests) == 1


@pytest.mark.parametrize("text", ["", "hello"])
async def test_an_edit_that_changes_no_words_does_not_disturb(open_house: OpenHouse, text: str) -> None:
    gate = asyncio.Event()
    async with open_house([ModelText("He"), gate, *says("llo.")]) as house:
        await house.say("hello")
        await asked(house, 1)
        await edit(house, text)
        gate.set()
        await house.idle()
        assert house.shown == ["Hello."] and len(house.provider.requests) == 1


async def test_nothing_of_a_strangers_edit_is_kept(open_house: OpenHouse) -> None:
    async with open_house() as house:
        await house.say("let me in", sender=STRANGER)
        await edit(house, "my SECRET words", sender=STRANGER)
        stored = await house.store.database.read(lambda db: db.execute("SELECT body FROM inbox").fetchall())
        assert "SECRET" not in str(stored)


async def test_nobody_changes_the_words_of_another(open_house: OpenHouse) -> None:
    gate = asyncio.Event()
    async with open_house([ModelText("I "), gate, *says("am well.")]) as house:
        await house.say("how are you?")
        await asked(house, 1)
        await edit(house, "delete everything", sender=Sender("fake", "8", "Bob"))
        gate.set()
        await house.idle()
        assert house.shown == ["I am well."] and len(house.provider.requests) == 1


async def test_a_deleted_question_stops_its_turn(open_house: OpenHouse) -> None:
    never = asyncio.Event()
    async with open_house([ModelText("A long answer that nobody wants"), never]) as house:
        await house.say("hello")
        await shows(house, "A long answer")
        await house.inbox.receive(MessageDeleted("1.deleted", HERE, "1", 2.0))
        await house.idle()
        assert house.ended == [StopReason.STOPPED]


async def test_a_change_that_a_crash_left_open_is_applied_at_the_start(open_house: OpenHouse) -> None:
    never = asyncio.Event()
    async with open_house([ModelText("Paris is"), never], die=True) as house:
        await house.say("tell me of Paris")
        await shows(house, "Paris is")
        house.inbox.close()
        await edit(house, "tell me of Rome")
    async with open_house(says("Rome it is.")) as house:
        assert await house.inbox.resume() == 1
        await house.idle()
        assert "Paris" not in said(house) and "of Rome" in said(house)
        assert any("Rome it is." in shown for shown in house.shown)
        assert await house.store.inbox.unfinished() == []


# what comes before the message that it is about


async def test_a_message_that_was_deleted_before_it_came_is_recorded_and_not_answered(open_house: OpenHouse) -> None:
    async with open_house(says("Never said.")) as house:
        await house.inbox.receive(MessageDeleted("1.deleted", HERE, "1", 1.0))
        receipt = await house.say("too late")
        assert (receipt.turn, receipt.duplicate) == ("", False)
        await house.inbox.receive(MessageDeleted("10.deleted", HERE, "10", 1.0))
        assert (await house.say("too late")).duplicate and house.provider.requests == []
        assert (await house.outcomes())["1"] == "deleted by its author" and await house.store.inbox.unfinished() == []


async def test_a_deletion_is_of_one_message_in_one_chat(open_house: OpenHouse) -> None:
    async with open_house(says("One."), says("Two.")) as house:
        await house.inbox.receive(MessageDeleted("1.deleted", HERE, "1", 1.0))
        await house.say("another", number=11)
        await house.say("elsewhere", address=replace(HERE, chat="2"))
        await house.idle()
        assert sorted(house.shown) == ["One.", "Two."]


async def test_a_message_that_was_edited_before_it_came_is_answered_as_it_reads_now(open_house: OpenHouse) -> None:
    async with open_house(says("Rome it is.")) as house:
        await edit(house, "tell me of Rom", at=2.0)
        await edit(house, "tell me of Rome", at=4.0)
        await edit(house, "tell me of Ro", at=3.0)
        await house.say("tell me of Paris")
        await house.idle()
        assert "tell me of Rome" in said(house) and "Paris" not in said(house)
        [row] = [one for one in await house.store.transcript.rows(HERE, 9) if isinstance(one.body, UserRow)]
        assert isinstance(row.body, UserRow) and row.body.text == "tell me of Rome"


async def test_an_early_edit_is_only_its_authors_and_not_kept_for_ever(open_house: OpenHouse) -> None:
    clock = FakeClock()
    early = EarlyEdits(clock)
    message = UserMessage("1", HERE, OWNER, "x", 1.0)
    early.keep(MessageEdited("1.1", HERE, STRANGER, "1", "by another", 2.0))
    assert early.take(message) is None and early.take(message) is None
    mine = MessageEdited("1.2", replace(HERE, thread="t"), OWNER, "1", "mine", 2.0)
    early.keep(mine)
    assert early.take(message) == mine and early.take(message) is None
    early.keep(mine)
    await clock.advance(3601)
    early.keep(replace(mine, message_id="2"))
    assert early.take(message) is None
    for number in range(600):
        early.keep(replace(mine, message_id=str(number)))
    assert early.take(message) is None and early.take(replace(message, id="599")) is not None


async def test_an_edit_that_crosses_its_message_in_the_store_is_applied(open_house: OpenHouse) -> None:
    """Both are on their way at once, in either order."""
    async with open_house(*[says("Yes.")] * 12, when_busy="queue") as house:
        for number in range(1, 13):
            pair = [house.say("old words", number=number), edit(house, "new words", message=number)]
            await asyncio.gather(*(pair if number % 2 else reversed(pair)))
        await house.idle()
        assert all("old words" not in said(house, request) for request in range(len(house.provider.requests)))


async def test_an_edit_that_crosses_a_repeated_delivery_of_its_message_begins_the_answer_anew(
    open_house: OpenHouse,
) -> None:
    never = asyncio.Event()
    for first in (True, False):
        async with open_house([ModelText("Paris has many museums, and"), never], says("Rome has more.")) as house:
            number = 1 if first else 2
            await house.say("tell me of Paris", number=number)
            await shows(house, "Paris has many museums")
            pair = [edit(house, "tell me of Rome", message=number), house.say("tell me of Paris", number=number)]
            await asyncio.gather(*(pair if first else reversed(pair)))
            await house.idle()
            assert house.shown == ["Rome has more."] and "Paris" not in said(house)


async def test_what_was_overheard_reads_as_it_was_changed_before_it_came(open_house: OpenHouse) -> None:
    group = replace(HERE, chat="-5")
    async with open_house(says("Blue."), access=Access(owners=("7",), groups=("-5",))) as house:
        bystander = UserMessage("1", group, STRANGER, "I like red", 1.0, direct=False, addressed=False)
        await house.inbox.receive(MessageEdited("1.2", group, STRANGER, "1", "I like blue", 2.0))
        await house.inbox.receive(bystander)
        await house.inbox.receive(MessageDeleted("2.deleted", group, "2", 1.0))
        await house.inbox.receive(replace(bystander, id="2", text="I like green"))
        await house.inbox.receive(UserMessage("3", group, OWNER, "which?", 1.0, direct=False))
        await house.idle()
        assert "I like blue" in said(house) and "red" not in said(house) and "green" not in said(house)


async def test_the_question_to_a_person_that_somebody_deletes_is_asked_again(open_house: OpenHouse) -> None:
    async with open_house(calls(NOTE), says("Noted.")) as house:
        await house.say("note milk")
        await house.button("once")
        (asked_in,) = house.channel.messages
        house.channel.delete(asked_in)
        await house.inbox.receive(MessageDeleted(f"{asked_in}.deleted", replace(HERE, thread="x"), asked_in, 2.0))
        await house.press("once")
        await house.idle()
        (shown,) = house.channel.messages.values()
        assert shown.id != asked_in and "Noted." in shown.text and "milk" in (house.workspace / "notes.md").read_text()
