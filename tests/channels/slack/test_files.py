"""Files that the bot has reach people in Slack, together where they can, and once."""

from __future__ import annotations

import asyncio
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest

from bot.core.errors import ChannelError, TooLong
from bot.core.events import Enclosed, Resumed
from bot.core.texts import say
from bot.core.view import OutFile
from channels.slack.uploads import MOST_BYTES, NOTE
from tests.channels.slack.stage import Stage, Turn, stage
from tests.channels.slack.test_floods import sampled
from tests.sim.slack import Call, Channel

TICKET, UPLOAD, COMPLETE = "files.getUploadURLExternal", "upload", "files.completeUploadExternal"
STEPS = (TICKET, UPLOAD, COMPLETE)
SAID = "Here they are, as you wanted."


def kept(folder: Path, *names: str) -> tuple[OutFile, ...]:
    for name in names:
        (folder / name).write_bytes(f"the content of {name}".encode())
    return tuple(OutFile(name, "text/csv", str(folder / name)) for name in names)


def unsent(name: str, why: str = "file_unsent") -> str:
    return say(why, name=name)


def steps(house: Stage) -> list[str]:
    return [call.method for call in house.sim.calls if call.method in STEPS]


async def enclosing(house: Stage, channel: Channel, *files: OutFile) -> Turn:
    """An answer whose words stand, and whose files are going to follow."""
    turn = await house.ask(channel)
    turn.say(SAID)
    turn.emit(Enclosed(files))
    turn.end()
    return turn


async def test_files_follow_the_answer_in_its_thread_as_one_message(tmp_path: Path) -> None:
    async with stage() as house:
        turn = await enclosing(house, house.room(), *kept(tmp_path, '表 "q".csv', "b.csv"))
        await turn.delivered(within=30)
        assert turn.said == [SAID, '表 "q".csv, b.csv']
        assert [message.thread_ts for message in turn.shown] == [turn.to.thread] * 2
        stored = list(house.sim.world.files.by_id.values())
        assert [one.content for one in stored] == ['the content of 表 "q".csv'.encode(), b"the content of b.csv"]
        assert [one.title for one in stored] == ['表 "q".csv', "b.csv"]
        assert steps(house) == [TICKET, UPLOAD, TICKET, UPLOAD, COMPLETE] and house.sim.violations == []


async def test_in_a_private_channel_and_a_direct_chat_files_are_where_the_answer_is(tmp_path: Path) -> None:
    async with stage() as house:
        ann = house.sim.person("U0001", "Ann")
        secret = house.sim.channel("G0SECRET", "secret", members=[ann], private=True)
        for channel in (secret, house.dm()):
            turn = await enclosing(house, channel, *kept(tmp_path, "a.csv"))
            await turn.delivered(within=10)
            assert turn.said == [SAID, "a.csv"]
        assert house.sim.violations == []


async def test_files_alone_are_an_answer_and_end_the_sign_of_life(tmp_path: Path) -> None:
    async with stage() as house:
        turn = await house.ask(house.room())
        await house.clock.advance(1)
        assert house.sim.status(turn.channel, turn.to.thread)
        turn.emit(Enclosed(kept(tmp_path, "a.csv")))
        turn.end()
        await turn.delivered(within=10)
        assert turn.said == ["a.csv"] and not house.sim.status(turn.channel, turn.to.thread)
        await house.clock.advance(200)
        assert len(house.sim.called("assistant.threads.setStatus")) == 1


async def test_what_is_gone_empty_or_too_large_is_a_sentence_and_nothing_is_asked_of_slack(tmp_path: Path) -> None:
    async with stage() as house:
        [empty, huge, good] = kept(tmp_path, "empty.csv", "huge.bin", "a.csv")
        Path(empty.path).write_bytes(b"")
        with Path(huge.path).open("wb") as file:
            file.truncate(MOST_BYTES + 1)
        gone = OutFile("gone.csv", "text/csv", str(tmp_path / "no"))
        with pytest.raises(TooLong):
            await house.channel.send_file(house.at(house.dm()), huge, "t.f0")
        turn = await enclosing(house, house.dm(), gone, empty, huge, good)
        await turn.delivered(within=30)
        unread = [unsent(name, "file_unreadable") for name in ("gone.csv", "empty.csv")]
        assert turn.said == [SAID, *unread, unsent("huge.bin", "file_too_large"), "a.csv"]
        assert steps(house) == list(STEPS)


REFUSALS: dict[str, tuple[str, dict[str, Any], str]] = {
    "the workspace takes none so large": (TICKET, {"error": "file_upload_size_restricted"}, "file_too_large"),
    "the workspace takes none": (TICKET, {"error": "file_uploads_disabled"}, "file_unsent"),
    "the workspace takes pictures alone": (TICKET, {"error": "file_uploads_except_images_disabled"}, "file_of_a_kind"),
    "the workspace is full": (TICKET, {"error": "storage_limit_reached"}, "file_unsent"),
    "the address is refused": (UPLOAD, {"status": 403, "error": "no"}, "file_unsent"),
}
TOGETHER: dict[str, tuple[str, str]] = {
    "files need membership": ("not_in_channel", "file_unsent"),
    "files are not for this channel": ("posting_to_channel_denied", "file_unsent"),
    "not of this kind": ("file_type_not_allowed", "file_of_a_kind"),
    "not of a kind that is blocked": ("blocked_file_type", "file_of_a_kind"),
    "something of next year": ("something_of_next_year", "file_unsent"),
}


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_refused_file_is_a_sentence_and_the_next_one_is_tried(tmp_path: Path, refusal: str) -> None:
    async with stage() as house:
        method, fault, why = REFUSALS[refusal]
        house.sim.fail(method, **fault)
        turn = await enclosing(house, house.room(), *kept(tmp_path, "a.csv", "b.csv"))
        await turn.delivered(within=30)
        assert turn.said == [SAID, unsent("a.csv", why), "b.csv"] and house.sim.violations == []


@pytest.mark.parametrize("refusal", TOGETHER)
async def test_refused_together_they_are_tried_one_by_one(tmp_path: Path, refusal: str) -> None:
    async with stage() as house:
        error, why = TOGETHER[refusal]
        for nth in (1, 2):
            house.sim.fail(COMPLETE, nth, error=error)
        turn = await enclosing(house, house.room(), *kept(tmp_path, "a.csv", "b.csv"))
        await turn.delivered(within=30)
        assert turn.said == [SAID, unsent("a.csv", why), "b.csv"] and house.sim.violations == []
        assert steps(house).count(UPLOAD) == 2, "the bytes are there"


async def test_without_the_scope_each_file_is_a_sentence_and_the_owner_can_mend_it(tmp_path: Path) -> None:
    async with stage() as house:
        house.sim.missing_scope("files:write")
        turn = await enclosing(house, house.room(), *kept(tmp_path, "a.csv", "b.csv"))
        await turn.delivered(within=30)
        assert turn.said == [SAID, unsent("a.csv"), unsent("b.csv")]
        assert house.channel.trouble("en") == say("scopes_slack", scopes="files:write")
        house.sim.grant_scope("files:write")
        turn = await enclosing(house, house.dm(), *kept(tmp_path, "a.csv"))
        await turn.delivered(within=30)
        assert turn.said == [SAID, "a.csv"] and house.channel.trouble("en") == ""


async def test_where_the_bot_was_removed_meanwhile_nothing_more_is_tried(tmp_path: Path) -> None:
    async with stage() as house:
        turn = await house.ask(house.room())
        turn.say(SAID)
        await house.clock.advance(2)
        house.sim.kick(turn.channel)
        turn.emit(Enclosed(kept(tmp_path, "a.csv", "b.csv")))
        turn.end()
        await house.clock.advance(20)
        assert turn.outcome is not None and turn.outcome.reason == "chat_closed"
        assert steps(house) == [] and "`C0001`" in house.channel.trouble("en")


# slowly, and with answers that are lost


@pytest.mark.parametrize("method", STEPS)
async def test_a_flood_wait_is_honoured_in_full_and_the_bytes_go_once(tmp_path: Path, method: str) -> None:
    async with stage() as house:
        house.sim.fail(method, retry_after=35)
        turn = await enclosing(house, house.room(), *kept(tmp_path, "a.csv"))
        other = await enclosing(house, house.dm(2), *kept(tmp_path, "b.csv"))
        await turn.delivered(within=60)
        await other.delivered(within=60)
        assert (turn.said, other.said) == ([SAID, "a.csv"], [SAID, "b.csv"])
        calls = [call for call in house.sim.calls if call.method == method]
        assert calls[0].status == 429 and calls[1].at - calls[0].at >= 35
        assert steps(house).count(UPLOAD) == (3 if method == UPLOAD else 2) and house.sim.violations == []


async def test_a_flood_wait_for_files_is_kept_by_a_later_process_too(tmp_path: Path) -> None:
    async with stage() as house:
        house.sim.fail(COMPLETE, retry_after=60)
        turn = await enclosing(house, house.room(), *kept(tmp_path, "a.csv"))
        await house.clock.advance(5)
        turn.task.cancel()
        await house.restart()
        later = await resumed(house, turn, *kept(tmp_path, "a.csv"))
        await later.delivered(within=80)
        first, second = (call for call in house.sim.calls if call.method == COMPLETE)
        assert second.at - first.at >= 60 and later.said == [SAID, "a.csv"] and house.sim.violations == []


async def resumed(house: Stage, turn: Turn, *files: OutFile) -> Turn:
    later = house.again(turn)
    later.emit(Resumed(SAID, files=files))
    later.end()
    return later


LOST = sampled(
    product(STEPS, ("drop", "garbage", "reset"), ("none", "done"), (0, 25)),
    {
        (TICKET, "drop", "done", 0),
        (UPLOAD, "garbage", "none", 0),
        (UPLOAD, "reset", "done", 25),
        *product((COMPLETE,), ("drop", "garbage"), ("none", "done"), (0, 25)),
    },
)


@pytest.mark.parametrize(("method", "action", "effect", "share_seconds"), LOST)
async def test_an_answer_that_is_lost_costs_no_file_and_doubles_none(
    tmp_path: Path,
    method: str,
    action: Literal["drop", "garbage", "reset"],
    effect: Literal["none", "done"],
    share_seconds: int,
) -> None:
    """Also where Slack takes its time before it shows what it has taken."""
    async with stage() as house:
        house.sim.share_seconds = share_seconds
        house.sim.fail(method, action=action, effect=effect, status=502 if action == "garbage" else 0)
        turn = await enclosing(house, house.room(), *kept(tmp_path, "a.csv", "b.csv"))
        await turn.delivered(within=60)
        await house.clock.advance(share_seconds)
        apart = method == COMPLETE and effect == "none"
        assert turn.said == [SAID, *(["a.csv", "b.csv"] if apart else ["a.csv, b.csv"])]
        assert house.sim.violations == []
        looked = [call for call in house.sim.calls if call.method == "files.info"]
        assert len(looked) == (2 if method == COMPLETE else 0), "it is looked up before it is sent again, and only then"


@pytest.mark.parametrize(
    "k", [2, 3, pytest.param(4, marks=pytest.mark.prove), pytest.param(5, marks=pytest.mark.prove)]
)
@pytest.mark.parametrize("effect", ["none", "done"])
async def test_every_kth_call_fails_and_every_file_is_there_once(
    tmp_path: Path, k: int, effect: Literal["none", "done"]
) -> None:
    async with stage() as house:
        for method in ("*",) if k > 2 else STEPS:
            house.sim.fail(method, k, action="drop", effect=effect, every=True)
        names = [f"{number}.csv" for number in range(4)]
        turn = await enclosing(house, house.room(), *kept(tmp_path, *names))
        await turn.delivered(within=600)
        assert turn.said[0] == SAID and ", ".join(turn.said[1:]) == ", ".join(names) and house.sim.violations == []


async def test_an_upload_that_slack_has_forgotten_goes_once_more_and_then_is_a_sentence(tmp_path: Path) -> None:
    async with stage() as house:
        house.sim.fail(COMPLETE, error="file_not_found")
        turn = await enclosing(house, house.room(), *kept(tmp_path, "a.csv"))
        await turn.delivered(within=30)
        assert turn.said == [SAID, "a.csv"] and steps(house).count(UPLOAD) == 2
        house.sim.fail(COMPLETE, error="file_not_found", every=True)
        turn = await enclosing(house, house.dm(), *kept(tmp_path, "a.csv"))
        await turn.delivered(within=30)
        assert turn.said == [SAID, unsent("a.csv")] and steps(house).count(UPLOAD) == 4


@pytest.mark.parametrize("forgotten", ["one of them", "all of them"])
async def test_of_several_uploads_only_those_that_slack_has_forgotten_go_once_more(
    tmp_path: Path, forgotten: str
) -> None:
    async with stage() as house:
        house.sim.fail(COMPLETE, action="drop")
        turn = await enclosing(house, house.room(), *kept(tmp_path, "a.csv", "b.csv"))
        while not house.sim.called(COMPLETE):
            await house.clock.advance(0.2)
        by_id = house.sim.world.files.by_id
        for id in list(by_id)[: 1 if forgotten == "one of them" else 2]:
            del by_id[id]
        await turn.delivered(within=60)
        assert turn.said == [SAID, "a.csv", "b.csv"] and house.sim.violations == []
        assert steps(house).count(UPLOAD) == (3 if forgotten == "one of them" else 4)


async def test_where_slack_lets_nobody_look_a_file_is_sent_on_under_its_id_and_never_twice(tmp_path: Path) -> None:
    async with stage() as house:
        house.sim.missing_scope("files:read")
        house.sim.fail(COMPLETE, action="drop", effect="done")
        turn = await enclosing(house, house.room(), *kept(tmp_path, "a.csv"))
        await turn.delivered(within=30)
        assert turn.said == [SAID, "a.csv"]


@pytest.mark.parametrize("effect", ["none", "done"])
async def test_a_file_is_never_taken_for_an_answer_that_was_lost(
    tmp_path: Path, effect: Literal["none", "done"]
) -> None:
    """Neither carries a mark that would tell whose it is while it is young."""
    async with stage() as house:
        first = await enclosing(house, house.dm(), *kept(tmp_path, "a.csv"))
        await first.delivered(within=30)
        house.sim.fail("chat.postMessage", action="drop", effect=effect)
        second = await house.ask(house.dm())
        second.say("And this is the second answer.")
        second.end()
        await second.delivered(within=30)
        assert second.said == [SAID, "a.csv", "And this is the second answer."] and house.sim.violations == []


# a process that ends


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("method", STEPS)
@pytest.mark.parametrize("names", [["a.csv"], ["a.csv", "b.csv", "c.csv"]])
async def test_a_process_that_ends_at_any_step_leaves_each_file_once_for_the_next(
    tmp_path: Path, method: str, when: Literal["before", "after"], names: list[str]
) -> None:
    async with stage() as house:
        house.sim.fail(method, action="hang", effect="done" if when == "after" else "none")
        files = kept(tmp_path, *names)
        turn = await enclosing(house, house.room(), *files)
        while not any(call.method == method and call.error for call in house.sim.calls):
            await house.clock.advance(0.2)
        turn.task.cancel()
        await asyncio.wait({turn.task})
        await house.restart()
        later = await resumed(house, turn, *files)
        await later.delivered(within=30)
        assert later.said == [SAID, ", ".join(names)] and house.sim.violations == []
        assert steps(house).count(UPLOAD) == len(names) + (method == UPLOAD)


async def test_what_was_recorded_is_not_asked_for_again_and_the_note_stays_small(tmp_path: Path) -> None:
    async with stage() as house:
        turn = await enclosing(house, house.room(), *kept(tmp_path, "a.csv"))
        await turn.delivered(within=30)
        await house.restart()
        later = await resumed(house, turn, *kept(tmp_path, "a.csv"))
        await later.delivered(within=30)
        assert steps(house) == list(STEPS) and house.sim.called("files.info") == []
        assert len(house.notes.values[NOTE]) < 200


async def test_a_note_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    async with stage() as house:
        house.notes.values[NOTE] = '{"not": "a list"}'
        turn = await enclosing(house, house.dm(), *kept(tmp_path, "a.csv"))
        await turn.delivered(within=30)
        assert turn.said == [SAID, "a.csv"]


async def test_a_file_goes_to_slack_alone(tmp_path: Path) -> None:
    async with stage() as house:
        house.sim.world.files.base = "https://slack.com.evil.example"
        with pytest.raises(ChannelError, match="leave Slack"):
            await house.done(house.channel.send_file(house.at(house.dm()), kept(tmp_path, "a.csv")[0], "t.f0"))
        uploads: list[Call] = house.sim.called(UPLOAD)
        assert uploads == []
