"""From ``receive`` to the platform: recorded first, answered once, whatever happens in between."""

from __future__ import annotations

import asyncio
import sqlite3

from bot.core.address import Sender
from bot.core.errors import ProviderBusy
from bot.core.inbound import ButtonPress, MessageDeleted, StopPressed, UserMessage
from bot.core.model import ModelStop, ModelStopReason, ModelText
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.store.store import Store
from tests.fakes.provider import calls, says
from tests.inbox.conftest import HERE, OWNER, OpenHouse

NOTE = ToolCall("c1", "note_write", {"text": "buy milk"})
STRANGER = Sender("fake", "666", "Mallory")


async def test_a_message_is_answered_and_its_row_finished(open_house: OpenHouse) -> None:
    async with open_house(says("Hello", " Ann")) as house:
        receipt = await house.say("hi")
        await house.idle()
        assert receipt.turn and not receipt.duplicate
        assert house.shown == ["Hello Ann"]
        assert await house.outcomes() == {"1": "answered"}


async def test_b051_b055_a_redelivered_message_is_one_turn(open_house: OpenHouse) -> None:
    async with open_house(says("Once")) as house:
        receipts = await asyncio.gather(*(house.say("hi") for _ in range(5)))
        await house.idle()
        again = await house.say("hi")
        await house.idle()
        assert {receipt.turn for receipt in (*receipts, again)} == {receipts[0].turn}
        assert house.shown == ["Once"] and len(house.provider.requests) == 1


async def test_strangers_get_a_refusal_and_the_reason_is_kept(open_house: OpenHouse) -> None:
    async with open_house() as house:
        receipt = await house.say("hi", sender=STRANGER)
        assert "my owner has let in" in receipt.refused and not receipt.turn
        assert await house.outcomes() == {"1": "stranger"}
        assert house.provider.requests == []


async def test_empty_and_endless_messages_are_refused_visibly(open_house: OpenHouse) -> None:
    async with open_house() as house:
        assert "no text" in (await house.say("  ", 1)).refused
        assert "100000" in (await house.say("x" * 100_001, 2)).refused


async def test_text_that_no_store_takes_is_answered_too(open_house: OpenHouse) -> None:
    async with open_house(says("ok")) as house:
        await house.say("half \ud83d emoji \x00 and 你好")
        await house.idle()
        assert house.shown == ["ok"]


async def test_b068_two_questions_get_two_answers_in_order(open_house: OpenHouse) -> None:
    async with open_house(says("Oslo: rain"), says("Lima: sun")) as house:
        await house.say("Weather in Oslo?", 1)
        await house.say("Weather in Lima?", 2)
        await house.idle()
        assert house.shown == ["Oslo: rain", "Lima: sun"]


async def test_b067_a_queued_message_is_answered_after_the_turn_before_it_ended_well(open_house: OpenHouse) -> None:
    gate = asyncio.Event()
    tool = ToolCall("t", "now", {})
    async with open_house([gate, *calls(tool)], says("First done."), says("X done."), when_busy="queue") as house:
        await house.say("first", 1)
        await asyncio.sleep(0.02)
        await house.say("do X", 2)
        gate.set()
        await house.idle()
        assert house.shown == ["First done.", "X done."]


async def test_b087_a_press_is_handled_while_its_turn_waits_and_the_chat_goes_on(open_house: OpenHouse) -> None:
    async with open_house(calls(NOTE), says("Hi to you"), says("Noted.")) as house:
        await house.say("note: buy milk", 1)
        await house.button("once")
        await house.say("hi", 2)
        async with asyncio.timeout(5):
            while "Hi to you" not in house.shown:
                await asyncio.sleep(0.005)
        assert await house.press("once") == "Approved once."
        await house.idle()
        assert "Noted." in house.shown[0]
        assert (house.workspace / "notes.md").read_text().count("buy milk") == 1


async def test_b097_a_second_press_changes_nothing_and_says_so(open_house: OpenHouse) -> None:
    async with open_house(calls(NOTE), says("Noted.")) as house:
        await house.say("note it")
        payload = await house.button("once")
        await house.press("once", 1)
        await house.inbox.receive(ButtonPress("p2", HERE, OWNER, payload.replace("once", "deny"), 1.0))
        await house.inbox.receive(ButtonPress("p2", HERE, OWNER, payload, 1.0))
        await house.idle()
        assert [notice for _, notice in house.channel.answers] == ["Approved once.", "Already decided: Approved once."]
        assert (house.workspace / "notes.md").read_text().count("buy milk") == 1


async def test_a_strangers_press_counts_for_nothing(open_house: OpenHouse) -> None:
    async with open_house(calls(NOTE), says("Noted.")) as house:
        await house.say("note it")
        assert await house.press("once", 1, STRANGER) == "Only an owner can decide this."
        assert "Only the person who asked" in await house.press("stop", 2, STRANGER)
        await house.press("deny", 3)


async def test_b094_free_text_never_approves(open_house: OpenHouse) -> None:
    async with open_house(calls(NOTE), says("You said yes."), says("Denied then.")) as house:
        await house.say("note it", 1)
        await house.button("once")
        await house.say("yes", 2)
        async with asyncio.timeout(5):
            while "You said yes." not in house.shown:
                await asyncio.sleep(0.005)
        assert not (house.workspace / "notes.md").exists()
        await house.press("deny")


async def test_the_asker_may_approve_what_stays_within_their_own_notes(open_house: OpenHouse) -> None:
    user = Sender("fake", "8", "Ben")
    async with open_house(calls(NOTE), says("Noted.")) as house:
        await house.say("note it", sender=user)
        assert await house.press("once", sender=user) == "Approved once."


async def test_stop_by_button_by_command_and_by_the_platform(open_house: OpenHouse) -> None:
    endless = [ModelText("thinking aloud "), asyncio.Event()]
    async with open_house(endless, endless, endless) as house:
        for number, stop in enumerate(("button", "command", "platform")):
            await house.say("talk", 10 * number)
            async with asyncio.timeout(5):
                while len([text for text in house.shown if text.startswith("thinking")]) <= number:
                    await asyncio.sleep(0.005)
            if stop == "button":
                await house.press("stop", number)
            elif stop == "command":
                await house.say("/stop", 10 * number + 1)
            else:
                await house.inbox.receive(StopPressed("s", HERE, OWNER, 1.0))
            await house.idle()
        stopped = [text for text in house.shown if text.startswith("thinking aloud") and "Stopped." in text]
        assert len(stopped) == 3 and "Stopping." in house.shown
        assert house.ended.count(StopReason.STOPPED) == 3 and house.provider.closed_early == 3


async def test_a_question_deleted_before_its_turn_is_not_answered(open_house: OpenHouse) -> None:
    gate = asyncio.Event()
    async with open_house([gate, ModelText("one"), ModelStop(ModelStopReason.END)], says("three")) as house:
        await house.say("one", 1)
        await asyncio.sleep(0.02)
        await house.say("two", 2)
        await house.say("three", 3)
        await house.inbox.receive(MessageDeleted("2.deleted", HERE, "2", 1.0))
        gate.set()
        await house.idle()
        assert house.shown == ["one", "three"]
        assert (await house.outcomes())["2"] == "deleted by its author"


async def test_a_question_deleted_while_the_house_closes_is_not_answered_after_the_next_start(
    open_house: OpenHouse,
) -> None:
    async with open_house([asyncio.Event()], die=True) as house:
        await house.say("one", 1)
        await house.say("two", 2)
        await asyncio.sleep(0.02)
        house.inbox.close()
        await house.inbox.receive(MessageDeleted("2.deleted", HERE, "2", 1.0))
    async with open_house(says("one again"), says("never")) as house:
        assert await house.inbox.resume() == 1
        await house.idle()
        assert house.shown == ["one again"]
        assert (await house.outcomes())["2"] == "deleted by its author"


async def test_commands_answer_without_a_model_and_leave_no_trace_in_prompts(open_house: OpenHouse) -> None:
    async with open_house(says("Hello")) as house:
        for number, command in enumerate(("/help", "/start", "/status", "/usage", "/model", "/nonsense", "/stop")):
            await house.say(command, number)
            await house.idle()
        assert house.provider.requests == []
        assert len(house.shown) == 7 and all(house.shown)
        assert "/nonsense" in house.shown[5] and house.shown[6] == "Nothing is running."
        await house.say("hi", 99)
        await house.idle()
        assert len(house.provider.requests[0].messages) == 1


async def test_b069_new_starts_over_at_once_however_long_the_past(open_house: OpenHouse) -> None:
    async with open_house(says("hello again")) as house:
        from bot.core.transcript import UserRow

        for n in range(250):
            await house.store.transcript.append(HERE, f"old{n}", 1.0, UserRow("old", OWNER, str(n)))
        await house.say("/new", 1)
        await house.say("hi", 2)
        await house.idle()
        assert len(house.provider.requests[0].messages) == 1


async def test_after_the_end_of_the_process_the_turn_goes_on_in_the_same_message(open_house: OpenHouse) -> None:
    async with open_house([ModelText("Once upon a time there was"), asyncio.Event()], die=True) as house:
        await house.say("tell me a story")
        async with asyncio.timeout(5):
            while not house.shown:
                await asyncio.sleep(0.005)
        house.inbox.close()
        await house.say("and another", 2)
    channel = house.channel
    assert "going" in channel.messages["1"].text or "go on here" in channel.messages["1"].text
    async with open_house(says("Once upon a time, the end."), says("Another."), channel=channel) as house:
        assert await house.inbox.resume() == 2
        await house.idle()
        assert house.shown == ["Once upon a time, the end.", "Another."]
        assert set((await house.outcomes()).values()) == {"answered"}


async def test_a_message_that_arrives_while_the_unfinished_are_looked_up_is_read_once(open_house: OpenHouse) -> None:
    gate = asyncio.Event()
    sum_ = ToolCall("c0", "calculate", {"expression": "1+1"})
    async with open_house([gate, *calls(sum_)], says("Once")) as house:
        await house.say("hi")
        assert await house.inbox.resume() == 1
        gate.set()
        await house.idle()
        assert house.shown == ["Once"]
        assert [message.role for message in house.provider.requests[-1].messages] == ["user", "assistant", "user"]


async def test_two_crashes_on_the_same_message_set_it_aside_with_an_apology(open_house: OpenHouse) -> None:
    async with open_house() as house:
        message = UserMessage("1", HERE, OWNER, "poison", 1.0)
        row = (await house.store.inbox.record(message, "t1", 1.0)).row
        await house.store.transcript.begin(row.id, HERE, "t1", 1.0)
        await house.store.transcript.begin(row.id, HERE, "t1", 1.0)
        assert await house.inbox.resume() == 1
        await house.idle()
        assert "broke down twice" in house.shown[0]
        assert await house.outcomes() == {"1": "parked"}


async def test_clean_stops_never_set_a_message_aside(open_house: OpenHouse) -> None:
    for _ in range(4):
        async with open_house([asyncio.Event()], die=True) as house:
            await house.say("hi")
            await house.inbox.resume()
            await asyncio.sleep(0.03)
    async with open_house(says("at last")) as house:
        await house.inbox.resume()
        await house.idle()
        assert "at last" in house.shown[-1]


async def test_a_store_that_is_full_delays_the_turn_and_is_told(open_house: OpenHouse) -> None:
    full = asyncio.Event()
    async with open_house([full, *says("late but whole")], says("late but whole")) as house:
        store: Store = house.store
        await house.say("hi")
        await store.database._writer.run(lambda db: db.execute("PRAGMA query_only = ON"))
        full.set()
        async with asyncio.timeout(5):
            while not house.trouble:
                await asyncio.sleep(0.005)
        await store.database._writer.run(lambda db: db.execute("PRAGMA query_only = OFF"))
        await house.idle()
        assert house.shown == ["late but whole"] and house.trouble[-1] is None


async def test_a_message_that_cannot_be_stored_is_not_confirmed(open_house: OpenHouse) -> None:
    from bot.core.errors import StoreError

    async with open_house() as house:
        await house.store.database._writer.run(lambda db: db.execute("PRAGMA query_only = ON"))
        try:
            await house.say("hi")
            raise AssertionError("it was confirmed")
        except StoreError as error:
            assert isinstance(error.__cause__, sqlite3.Error)


async def test_b063_when_all_models_fail_there_is_one_notice_and_the_turn_ends(open_house: OpenHouse) -> None:
    async with open_house([ProviderBusy("x")]) as house:
        await house.say("hi")
        await house.idle()
        assert len(house.shown) == 1 and "try again in a few minutes" in house.shown[0]
        assert await house.outcomes() == {"1": "provider_unavailable"}


async def test_a_chat_that_closed_costs_no_further_tokens(open_house: OpenHouse) -> None:
    from bot.core.errors import ChatClosed
    from bot.core.view import Limits
    from bot.time.clock import SystemClock
    from tests.fakes.channel import FakeChannel, Fault

    closed = FakeChannel(
        SystemClock(), Limits(4096, "utf16"), strict=False, fault=lambda number: Fault(ChatClosed("kicked out"))
    )
    async with open_house([ModelText("a long answer "), asyncio.Event()], channel=closed) as house:
        await house.say("hi")
        await house.idle()
        assert house.provider.closed_early == 1
        assert await house.outcomes() == {"1": "chat_closed"}
