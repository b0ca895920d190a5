"""Files between Slack and the house: what people send reaches the model, what the bot has reaches people, and once."""

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
from tests.attachments import made
from tests.channels.slack.conftest import CONFIG, StartBot
from tests.channels.slack.stage import Stage, Turn, stage
from tests.channels.slack.test_floods import sampled
from tests.sim.llm import LlmSim, answer, text
from tests.sim.slack import Call, Channel, Person, SlackSim
from tests.sim.speech import SpeechSim

TICKET, UPLOAD, COMPLETE = "files.getUploadURLExternal", "upload", "files.completeUploadExternal"
STEPS = (TICKET, UPLOAD, COMPLETE)
SEEING = CONFIG.replace("model: gpt-test,", "model: gpt-test, vision: true,")
SAID = "Here they are, as you wanted."


# in


@pytest.fixture
def ann(slack: SlackSim) -> Person:
    return slack.person("U0ANN", "Ann")


@pytest.fixture
def dm(slack: SlackSim, ann: Person) -> Channel:
    return slack.dm(ann)


def asked(llm: LlmSim) -> str:
    content: Any = llm.chats[-1].body["messages"][-1]["content"]
    return content if isinstance(content, str) else str(content)


async def test_files_of_one_message_are_read_and_seen(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, dm: Channel
) -> None:
    llm.script(answer(text("A list and a dot.")))
    files = [
        ("list.txt", "text/plain", "milk 牛奶".encode()),
        ("p.png", "image/png", made.picture(kind="PNG")),
        ("x.zip", "application/zip", made.zipped({"a": "b"})),
    ]
    async with bot(config=SEEING):
        await slack.say(dm, ann, "what are these?", files=files)
        await slack.until(lambda sim: sim.bot_texts(dm) == ["A list and a dot.\n\nI cannot open files like “x.zip”."])
    said = asked(llm)
    assert "milk 牛奶" in said and "data:image/jpeg;base64," in said and said.index("milk") < said.index("p.png")


@pytest.mark.parametrize(
    "clip", [("audio_message.webm", "audio/webm", b"\x1aE\xdf\xa3"), ("clip.mp4", "video/mp4", b"")]
)
async def test_a_clip_that_was_recorded_in_the_chat_is_heard_as_its_senders_words(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, dm: Channel, clip: tuple[str, str, bytes]
) -> None:
    """Slack may call its container a film."""
    name, kind, head = clip
    content = (head or b"\x00\x00\x00\x18ftypmp42") + bytes(90)
    llm.script(answer(text("Noon.")))
    async with SpeechSim() as speech:
        speech.say("What time is it?")
        ears = f'ears: {{{{kind: openai, api_key: {speech.key}, base_url: "{speech.url}"}}}}'
        config = CONFIG.replace("  local: off", f"  local: off\n  {ears}")
        config = config.replace("fallback: []", "fallback: [], transcribe: {{provider: ears, model: whisper-1}}")
        async with bot(config=config):
            await slack.say(dm, ann, "", files=[(name, kind, content)], spoken=True)
            await slack.until(lambda sim: sim.bot_texts(dm) == ["Noon."])
        assert len(speech.heard) == 1 and speech.violations == []
    assert asked(llm).startswith("<voice>\nWhat time is it?\n</voice>")


async def test_a_film_is_no_clip(bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, dm: Channel) -> None:
    async with bot():
        await slack.say(dm, ann, "", files=[("holiday.mp4", "video/mp4", b"\x00\x00\x00\x18ftypmp42" + bytes(90))])
        await slack.until(lambda sim: sim.bot_texts(dm) == ["I cannot open files like “holiday.mp4”."])
    assert llm.chats == []


# out


def kept(folder: Path, *names: str) -> tuple[OutFile, ...]:
    for name in names:
        (folder / name).write_bytes(f"the content of {name}".encode())
    return tuple(OutFile(name, "text/csv", str(folder / name)) for name in names)


def unsent(name: str) -> str:
    return say("file_unsent", name=name)


def steps(house: Stage) -> list[str]:
    return [call.method for call in house.sim.calls if call.method in STEPS]


async def enclosing(house: Stage, channel: Channel, *files: OutFile) -> Turn:
    """An answer whose words stand, and whose files are going to follow."""
    turn = await house.ask(channel)
    turn.say(SAID)
    turn.emit(Enclosed(files))
    turn.end()
    return turn


async def test_files_follow_the_answer_in_its_thread_each_as_a_message(tmp_path: Path) -> None:
    async with stage() as house:
        turn = await enclosing(house, house.room(), *kept(tmp_path, '表 "q".csv', "b.csv"))
        await turn.delivered(within=30)
        assert turn.said == [SAID, '表 "q".csv', "b.csv"]
        assert [message.thread_ts for message in turn.shown] == [turn.to.thread] * 3
        stored = list(house.sim.world.files.by_id.values())
        assert [one.content for one in stored] == ['the content of 表 "q".csv'.encode(), b"the content of b.csv"]
        assert [one.title for one in stored] == ['表 "q".csv', "b.csv"]
        assert steps(house) == [*STEPS, *STEPS] and house.sim.violations == []


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
        assert turn.said == [SAID, unsent("gone.csv"), unsent("empty.csv"), unsent("huge.bin"), "a.csv"]
        assert steps(house) == list(STEPS)


REFUSALS: dict[str, tuple[str, dict[str, Any]]] = {
    "the workspace takes none so large": (TICKET, {"error": "file_upload_size_restricted"}),
    "the workspace takes none": (TICKET, {"error": "file_uploads_disabled"}),
    "the workspace is full": (TICKET, {"error": "storage_limit_reached"}),
    "the address is refused": (UPLOAD, {"status": 403, "error": "no"}),
    "files need membership": (COMPLETE, {"error": "not_in_channel"}),
    "files are not for this channel": (COMPLETE, {"error": "posting_to_channel_denied"}),
    "not of this kind": (COMPLETE, {"error": "file_type_not_allowed"}),
    "something of next year": (COMPLETE, {"error": "something_of_next_year"}),
}


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_refused_file_is_a_sentence_and_the_next_one_is_tried(tmp_path: Path, refusal: str) -> None:
    async with stage() as house:
        method, fault = REFUSALS[refusal]
        house.sim.fail(method, **fault)
        turn = await enclosing(house, house.room(), *kept(tmp_path, "a.csv", "b.csv"))
        await turn.delivered(within=30)
        assert turn.said == [SAID, unsent("a.csv"), "b.csv"] and house.sim.violations == []


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
        assert sorted(turn.said) == sorted([SAID, "a.csv", "b.csv"]) and house.sim.violations == []
        looked = [call for call in house.sim.calls if call.method == "files.info"]
        assert len(looked) == (1 if method == COMPLETE else 0), "it is looked up before it is sent again, and only then"


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
        assert turn.said == [SAID, *names] and house.sim.violations == []


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
async def test_a_process_that_ends_at_any_step_leaves_one_file_for_the_next(
    tmp_path: Path, method: str, when: Literal["before", "after"]
) -> None:
    async with stage() as house:
        house.sim.fail(method, action="hang", effect="done" if when == "after" else "none")
        files = kept(tmp_path, "a.csv")
        turn = await enclosing(house, house.room(), *files)
        while not any(call.method == method and call.error for call in house.sim.calls):
            await house.clock.advance(0.2)
        turn.task.cancel()
        await asyncio.wait({turn.task})
        await house.restart()
        later = await resumed(house, turn, *files)
        await later.delivered(within=30)
        assert later.said == [SAID, "a.csv"] and house.sim.violations == []
        assert steps(house).count(UPLOAD) == (1 if method != UPLOAD else 2)


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
