"""Files both ways, and the history."""

import io

import aiohttp
import discord
import pytest

from tests.fakes.clock import FakeClock
from tests.sim.discord import Channel, DiscordSim, Person
from tests.sim.discord.conftest import TOKEN, Ask, Library, asking

# files


async def test_files_go_both_ways(sim: DiscordSim, bot: Library, dm: Channel, ann: Person) -> None:
    await sim.say(dm, ann, "look", files=[("note.txt", "text/plain", b"hello"), ("a b.png", "image/png", b"PNG")])
    await bot.until(sim, lambda: bot.texts)
    note, picture = bot.told("message")[0].attachments
    assert (note.filename, note.size, note.content_type, await note.read()) == ("note.txt", 5, "text/plain", b"hello")
    assert (picture.filename, await picture.read()) == ("a b.png", b"PNG")
    file = discord.File(io.BytesIO(b"answer"), "answer.md", description="mine")
    sent = await bot.here(dm).send("here", file=file)
    shown = sim.visible(dm)[-1].attachments[0]
    assert (shown["filename"], shown["size"], shown["description"]) == ("answer.md", 6, "mine")
    assert await sent.attachments[0].read() == b"answer"
    more = await sent.edit(attachments=[*sent.attachments, discord.File(io.BytesIO(b"2"), "two.txt")])
    assert [one.filename for one in more.attachments] == ["answer.md", "two.txt"]
    await more.edit(attachments=[])
    assert sim.visible(dm)[-1].attachments == ()


async def test_attachment_links_are_signed_and_end_after_a_day() -> None:
    clock = FakeClock()
    async with (
        DiscordSim(TOKEN, latency=0, monotonic=clock.monotonic, sleep=clock.sleep, now=clock.now) as sim,
        aiohttp.ClientSession() as session,
    ):
        ann = sim.person(7, "Ann")
        said = await sim.say(sim.dm(ann), ann, files=[("x.txt", "text/plain", b"x")])
        url = said["attachments"][0]["url"]

        async def status(link: str) -> int:
            async with session.get(link) as answer:
                return answer.status

        assert await status(url) == 200
        assert await status(url.partition("?")[0]) == 404
        assert await status(url.replace("ex=", "ex=f")) == 404
        await clock.advance(24 * 3600 + 1)
        assert await status(url) == 404


async def test_files_are_limited_in_size_and_number(sim: DiscordSim, bot: Library, dm: Channel) -> None:
    with pytest.raises(discord.HTTPException) as error:
        await bot.here(dm).send(file=discord.File(io.BytesIO(bytes(10 * 1024 * 1024 + 1)), "big.bin"))
    assert (error.value.status, error.value.code) == (413, 40005)
    await bot.here(dm).send(file=discord.File(io.BytesIO(bytes(10 * 1024 * 1024)), "fits.bin"))
    with pytest.raises(discord.HTTPException) as error:
        await bot.here(dm).send(files=[discord.File(io.BytesIO(bytes(9 * 1024 * 1024)), f"{n}.bin") for n in range(3)])
    assert (error.value.status, error.value.code) == (413, 40005)
    form = aiohttp.FormData(quote_fields=False)
    form.add_field("payload_json", "{}")
    for n in range(11):
        form.add_field(f"files[{n}]", b"x", filename=f"{n}.txt")
    async with asking(sim) as ask:
        status, body, _ = await ask("POST", f"/channels/{dm.id}/messages", raw=form)
        assert (status, body["code"]) == (400, 30015)
        status, body, _ = await ask("POST", f"/channels/{dm.id}/messages", content="x", attachments=[{"id": 0}])
        assert (status, body["code"]) == (400, 50146)


# the history


async def test_the_history_is_newest_first_and_pages_by_before_after_and_around(
    sim: DiscordSim, dm: Channel, ann: Person, ask: Ask
) -> None:
    ids = [(await sim.say(dm, ann, str(n)))["id"] for n in range(10)]

    async def texts(query: str) -> str:
        status, body, _ = await ask("GET", f"/channels/{dm.id}/messages{query}")
        assert status == 200
        return "".join(message["content"] for message in body)

    assert await texts("") == "9876543210"
    assert await texts("?limit=3") == "987"
    assert await texts(f"?before={ids[5]}&limit=3") == "432"
    assert await texts(f"?after={ids[5]}&limit=3") == "876"
    assert await texts(f"?after={ids[0]}&limit=3") == "321"
    assert await texts(f"?around={ids[5]}&limit=4") == "6543"
    assert await texts("?after=0") == "9876543210"
    for query in ("?limit=0", "?limit=101", "?limit=x", "?before=x"):
        assert (await ask("GET", f"/channels/{dm.id}/messages{query}"))[0] == 400


async def test_what_was_said_while_nobody_was_connected_is_only_in_the_history(
    sim: DiscordSim, bot: Library, dm: Channel, ann: Person
) -> None:
    first = await sim.say(dm, ann, "before")
    await bot.until(sim, lambda: bot.texts)
    await sim.drop(1000)
    await sim.say(dm, ann, "missed")
    await bot.until(sim, lambda: len(bot.told("ready")) == 2)
    await sim.say(dm, ann, "after")
    await bot.until(sim, lambda: len(bot.texts) == 2)
    assert bot.texts == ["before", "after"]
    after = discord.Object(int(first["id"]))
    assert [one.content async for one in bot.here(dm).history(after=after)] == ["missed", "after"]
    assert [message["content"] for message in sim.history(dm)] == ["after", "missed", "before"]


async def test_without_the_right_to_read_history_there_is_none(
    sim: DiscordSim, general: Channel, ann: Person, ask: Ask
) -> None:
    said = await sim.say(general, ann, "x")
    sim.forbid(general, "read_message_history")
    assert (await ask("GET", f"/channels/{general.id}/messages"))[1] == []
    assert (await ask("GET", f"/channels/{general.id}/messages/{said['id']}"))[1]["code"] == 50013
    reference = {"message_id": said["id"]}
    status, body, _ = await ask("POST", f"/channels/{general.id}/messages", content="x", message_reference=reference)
    assert (status, body["code"]) == (403, 160002)
