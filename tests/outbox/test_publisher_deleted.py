"""Messages that somebody deletes while they are still of use: where the platform tells, and where it does not."""

from __future__ import annotations

from dataclasses import replace

from bot.core.events import ApprovalAsked, ApprovalDecided
from bot.core.view import ApprovalCard, Limits
from tests.outbox.stage import Stage
from tests.outbox.test_publisher_faults import SMALL, TEXT, TOKENS

CARD = ApprovalCard("c1", "1", "shell", "run", "why", '{"cmd": "ls"}', 2_000_000_000.0)


async def test_a_question_that_is_deleted_is_asked_again_at_once() -> None:
    stage = Stage()
    async with stage.running():
        stage.say("I note it for you.")
        stage.emit(ApprovalAsked(CARD))
        await stage.clock.advance(2)
        (first,) = stage.channel.messages
        stage.channel.delete(first)
        stage.publisher.deleted("another message")
        await stage.clock.advance(5)
        assert stage.channel.texts == []
        stage.publisher.deleted(first)
        await stage.clock.advance(2)
        (again,) = stage.channel.messages.values()
        assert again.id != first and again.part.buttons and stage.channel.count("edit") == 0
        stage.emit(ApprovalDecided(replace(CARD, decision="once", decided_by="Ann")))
        stage.end()
        await stage.clock.advance(5)
    assert stage.result() == "delivered" and len(stage.channel.texts) == 1


async def test_a_growing_part_that_is_deleted_goes_on_in_a_new_message_and_complete_ones_stay_away() -> None:
    stage = Stage(limits=SMALL)
    async with stage.running():
        await stage.stream(TOKENS[:70], 20)
        await stage.clock.advance(3)
        sealed, growing = stage.channel.messages
        for message_id in (sealed, growing):
            stage.channel.delete(message_id)
            stage.publisher.deleted(message_id)
        await stage.clock.advance(3)
        assert len(stage.channel.texts) == 1, "before anything more is said"
        await stage.stream(TOKENS[70:], 20)
        stage.end()
        await stage.clock.advance(30)
    assert stage.result() == "delivered" and not any(call.error for call in stage.channel.calls)
    told = " ".join(stage.channel.texts)
    assert TEXT.endswith(told) and TOKENS[60].strip() in told and TOKENS[0].strip() not in told.split()


async def test_where_the_platform_tells_of_no_deletion_a_question_is_looked_after() -> None:
    stage = Stage(limits=Limits(size=4096, unit="utf16", pace=1.0, recheck=60.0))
    async with stage.running():
        stage.say("I note it for you.")
        stage.emit(ApprovalAsked(CARD))
        await stage.clock.advance(130)
        assert stage.channel.count("edit") == 2 and stage.channel.count("send") == 1
        stage.channel.delete("1")
        await stage.clock.advance(62)
        (again,) = stage.channel.messages.values()
        assert again.part.buttons
        stage.emit(ApprovalDecided(replace(CARD, decision="once", decided_by="Ann")))
        await stage.clock.advance(5)
        calls = len(stage.channel.calls)
        await stage.clock.advance(200)
        assert len(stage.channel.calls) == calls, "nobody is asked any more"
