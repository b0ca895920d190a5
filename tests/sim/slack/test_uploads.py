"""Files of the bot's: three steps of which only the last is seen, once, in the right place, and what each refuses."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.sim.slack import Channel, Person, SlackSim
from tests.sim.slack.conftest import BOT_TOKEN, Post, Timed, error_of


async def uploaded(sim: SlackSim, client: AsyncWebClient, name: str = "a.txt", content: bytes = b"abc") -> str:
    """The id of a file whose bytes lie there, and that nobody sees."""
    place = await client.files_getUploadURLExternal(filename=name, length=len(content))
    async with aiohttp.ClientSession() as session, session.post(place["upload_url"], data=content) as answer:
        assert answer.status == 200
    return str(place["file_id"])


def completed(client: AsyncWebClient, *ids: str, **more: Any) -> Any:
    return client.files_completeUploadExternal(files=[{"id": id} for id in ids], **more)


async def test_an_upload_in_three_steps_becomes_a_message(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, ann: Person
) -> None:
    root = (await sim.say(dm, ann, "?"))["ts"]
    answer = await client.files_upload_v2(
        channel=dm.id,
        thread_ts=root,
        filename="report.txt",
        content="alles gut",
        title="Report",
        initial_comment="*see*",
    )
    (shown,) = sim.visible(dm, root)[1:]
    assert (shown.files, shown.text, shown.from_bot) == (("report.txt",), "see", True)
    id = answer["files"][0]["id"]
    file = (await client.files_info(file=id))["file"]
    assert (file["title"], file["size"], file["shares"]) == (
        "Report",
        9,
        {"private": {dm.id: [{"ts": shown.ts, "thread_ts": root}]}},
    )
    assert [call.method for call in sim.calls[:3]] == [
        "files.getUploadURLExternal",
        "upload",
        "files.completeUploadExternal",
    ]
    assert sim.violations == []


async def test_an_upload_must_be_whole_and_is_completed_once(sim: SlackSim, post: Post, dm: Channel) -> None:
    assert (await post("files.getUploadURLExternal", filename="a.txt"))["error"] == "invalid_arguments"
    place = await post("files.getUploadURLExternal", filename="a.txt", length=3)
    complete = {"files": [{"id": place["file_id"]}], "channel_id": dm.id}
    assert (await post("files.completeUploadExternal", **complete))["error"] == "file_not_found"
    async with aiohttp.ClientSession() as session:
        for content, status, said in ((b"ab", 400, "expected 3 bytes, got 2"), (b"abc", 200, "OK - 3")):
            async with session.post(place["upload_url"], data=content) as answer:
                assert (answer.status, await answer.text()) == (status, said)
        assert (await post("files.completeUploadExternal", **complete))["ok"]
        assert (await post("files.completeUploadExternal", **complete))["error"] == "file_not_found"
        form = aiohttp.FormData()
        form.add_field("file", b"abc", filename="a.txt")
        other = await post("files.getUploadURLExternal", filename="a.txt", length=3)
        async with session.post(other["upload_url"], data=form) as answer:
            assert (answer.status, await answer.text()) == (200, "OK - 3")
    assert (await post("files.completeUploadExternal", files=[]))["error"] == "invalid_arguments"


async def test_several_uploads_are_one_message(sim: SlackSim, client: AsyncWebClient, team: Channel) -> None:
    ids = [await uploaded(sim, client, name) for name in ("a.txt", "b.png")]
    answer = await completed(client, *ids, channel_id=team.id)
    assert answer["files"] == [{"id": ids[0], "title": "a.txt"}, {"id": ids[1], "title": "b.png"}]
    assert [shown.files for shown in sim.visible(team)] == [("a.txt", "b.png")]
    assert await error_of(completed(client, *ids, channel_id=team.id)) == "file_not_found"
    assert len(sim.visible(team)) == 1 and sim.violations == []


async def test_an_upload_is_known_to_nobody_before_it_is_completed(
    sim: SlackSim, client: AsyncWebClient, dm: Channel
) -> None:
    id = await uploaded(sim, client)
    assert await error_of(client.files_info(file=id)) == "file_not_found"
    assert sim.visible(dm) == []
    sim.world.files.discard()
    assert await error_of(completed(client, id, channel_id=dm.id)) == "file_not_found"
    assert await error_of(completed(client, "F0NONE", channel_id=dm.id)) == "file_not_found"


async def test_where_the_bot_may_not_be_nothing_is_shown_and_the_upload_waits(
    sim: SlackSim, client: AsyncWebClient, ann: Person, team: Channel
) -> None:
    closed = sim.channel("C0SECRET", "secret", members=[ann], bot_in=False, private=True)
    sim.kick(team)
    id = await uploaded(sim, client)
    for channel, error in ((closed, "channel_not_found"), (team, "not_in_channel")):
        assert await error_of(completed(client, id, channel_id=channel.id)) == error
    sim.invite(closed)
    assert await error_of(completed(client, id, channel_id=closed.id, thread_ts="1.0")) == "thread_not_found"
    root = (await sim.say(closed, ann, "?"))["ts"]
    assert await error_of(completed(client, id, channel_id=closed.id, thread_ts=root)) == ""
    assert [shown.files for shown in sim.visible(closed, root)[1:]] == [("a.txt",)]
    assert sim.violations == []


async def test_a_person_is_no_place_for_a_file(sim: SlackSim, client: AsyncWebClient, ann: Person) -> None:
    id = await uploaded(sim, client)
    assert await error_of(completed(client, id, channel_id=ann.id)) == "invalid_arguments"
    assert len(sim.violations) == 1 and "must match regex pattern" in sim.violations[0]


async def test_what_an_upload_must_not_be_is_noted(sim: SlackSim, post: Post) -> None:
    place = await post("files.getUploadURLExternal", filename="a.txt", length=3)
    headers = {"Authorization": f"Bearer {BOT_TOKEN}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.post(place["upload_url"], data=b"abcd") as answer:
            assert answer.status == 400
        async with session.post(f"{sim.url}/upload/v1/nowhere", data=b"abc") as answer:
            assert answer.status == 400
    assert sorted(sim.violations) == [
        "a token went along with an upload",
        "a token went along with an upload",
        "an upload that is not as announced: expected 3 bytes, got 4",
        "an upload that is not as announced: upload not found",
    ]


async def test_uploads_are_refused_without_the_scope_and_above_what_the_workspace_takes(
    sim: SlackSim, client: AsyncWebClient, dm: Channel
) -> None:
    id = await uploaded(sim, client)
    sim.world.files.most_bytes = 10
    ask = client.files_getUploadURLExternal
    assert await error_of(ask(filename="b.txt", length=11)) == "file_upload_size_restricted"
    sim.missing_scope("files:write")
    assert await error_of(ask(filename="b.txt", length=3)) == "missing_scope"
    assert await error_of(completed(client, id, channel_id=dm.id)) == "missing_scope"
    sim.grant_scope("files:write")
    assert await error_of(completed(client, id, channel_id=dm.id)) == ""


async def test_slack_may_work_on_a_file_for_a_while_before_it_is_seen(timed: Timed) -> None:
    sim, clock, client = timed
    dm = sim.dm(sim.person("U0ANN", "Ann"))
    sim.share_seconds = 4
    id = await uploaded(sim, client)
    await completed(client, id, channel_id=dm.id)
    assert sim.visible(dm) == [] and (await client.files_info(file=id))["file"]["shares"] == {}
    assert await error_of(completed(client, id, channel_id=dm.id)) == "file_not_found"
    await clock.advance(4)
    [shown] = sim.visible(dm)
    assert (await client.files_info(file=id))["file"]["shares"] == {"private": {dm.id: [{"ts": shown.ts}]}}


@pytest.mark.parametrize("method", ["files.getUploadURLExternal", "upload", "files.completeUploadExternal"])
async def test_each_step_can_be_slowed_down_and_refused(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, method: str
) -> None:
    fault = sim.fail(method, retry_after=7)
    with pytest.raises(Exception, match=r"ratelimited|429|upload"):
        await client.files_upload_v2(channel=dm.id, filename="b.txt", content="x")
    assert fault.hits == 1 and sim.visible(dm) == []


async def test_a_clip_has_what_tells_it_from_a_film(sim: SlackSim, dm: Channel, ann: Person) -> None:
    said = await sim.say(dm, ann, "", files=[("audio_message.mp4", "video/mp4", b"...")], spoken=True)
    [file] = said["files"]
    assert (file["subtype"], file["media_display_type"], file["mimetype"]) == ("slack_audio", "audio", "video/mp4")
    assert said["subtype"] == "file_share" and said["text"] == ""
