"""The gateway: identifying, resuming, close codes, heartbeats, intents, and the ways a connection falls silent."""

import discord
import pytest

from tests.fakes.clock import FakeClock
from tests.sim.discord import Channel, DiscordSim, Person
from tests.sim.discord.conftest import Ask, Connect, Library, connecting, fresh, pointed_at, running

GUILDS, MEMBERS, GUILD_MESSAGES, DIRECT, CONTENT = 1 << 0, 1 << 1, 1 << 9, 1 << 12, 1 << 15
TALK = GUILDS | GUILD_MESSAGES | DIRECT


# identifying


async def test_hello_ready_and_guild_create_come_in_this_order(
    sim: DiscordSim, connect: Connect, general: Channel
) -> None:
    wire = await connect(sim.gateway_url)
    hello = await wire.get()
    assert (hello["op"], hello["d"]["heartbeat_interval"]) == (10, 41250)
    await wire.send(1, None)
    assert (await wire.get())["op"] == 11
    properties = {"os": "linux", "browser": "x", "device": "x"}
    await wire.send(2, {"token": "sim-token", "intents": TALK, "properties": properties})
    ready, guild = await wire.get(), await wire.get()
    assert (ready["t"], ready["s"], guild["t"], guild["s"]) == ("READY", 1, "GUILD_CREATE", 2)
    assert ready["d"]["guilds"] == [{"id": "9001", "unavailable": True}]
    assert ready["d"]["resume_gateway_url"].endswith("/resume")
    assert [channel["name"] for channel in guild["d"]["channels"]] == ["general"]
    assert [member["user"]["id"] for member in guild["d"]["members"]] == [str(sim.bot.id)]


async def test_frames_are_compressed_for_who_asks(sim: DiscordSim, connect: Connect, dm: Channel, ann: Person) -> None:
    wire = await connect(sim.gateway_url, "?v=10&encoding=json&compress=zlib-stream")
    assert (await wire.ready(intents=TALK))["v"] == 10
    await sim.say(dm, ann, "packed")
    assert (await wire.event("MESSAGE_CREATE"))["d"]["content"] == "packed"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"token": "wrong"}, 4004),
        ({"intents": 1 << 30}, 4013),
        ({"intents": None}, 4013),
        ({"properties": None}, 4002),
        ({"shard": [1, 2]}, 4010),
    ],
)
async def test_a_wrong_identify_is_closed_with_its_code(
    sim: DiscordSim, connect: Connect, body: dict[str, object], code: int
) -> None:
    wire = await connect(sim.gateway_url)
    await wire.identify(**{"intents": TALK, **body})  # type: ignore[arg-type]
    assert await wire.closed() == code
    await sim.until(lambda sim: sim.connections.closes == [(code, "server")])


async def test_what_an_app_must_not_send(sim: DiscordSim, connect: Connect) -> None:
    wire = await connect(sim.gateway_url)
    await wire.ws.send_str("{")
    assert await wire.closed() == 4002
    wire = await connect(sim.gateway_url)
    await wire.ws.send_str('{"op": 3, "d": "' + "x" * 4096 + '"}')
    assert await wire.closed() == 4002
    wire = await connect(sim.gateway_url)
    await wire.send(99, None)
    assert await wire.closed() == 4001
    wire = await connect(sim.gateway_url)
    await wire.send(3, {})
    assert await wire.closed() == 4003
    wire, _ = await fresh(sim, connect)
    await wire.send(2, {"token": "sim-token", "intents": 0, "properties": {}})
    assert await wire.closed() == 4005
    wire = await connect(sim.gateway_url, "?v=6&encoding=json")
    assert await wire.closed() == 4012


async def test_more_than_120_sends_in_a_minute_are_a_violation_and_close() -> None:
    async with DiscordSim() as strict, connecting() as connect:
        wire, _ = await fresh(strict, connect)
        for _ in range(119):
            await wire.send(1, 1)
        assert strict.violations == []
        await wire.send(1, 1)
        assert await wire.closed() == 4008
        assert strict.violations == ["more than 120 gateway sends in 60 s"]


async def test_an_identify_within_five_seconds_is_sent_back_and_the_third_in_a_row_a_violation() -> None:
    clock = FakeClock()
    async with (
        DiscordSim(latency=0, monotonic=clock.monotonic, sleep=clock.sleep, now=clock.now) as sim,
        connecting() as connect,
    ):
        await fresh(sim, connect)
        for broken in ([], [], ["an IDENTIFY less than 5 s after the one before, 3 times in a row"]):
            wire = await connect(sim.gateway_url)
            await wire.identify()
            frame = await wire.get()
            assert (frame["op"], frame["d"]) == (9, False)
            assert sim.violations == broken
        await clock.advance(5)
        await fresh(sim, connect)
        assert len(sim.connections.identifies) == 2
        assert sim.connections.refused == ["identify too soon"] * 3


async def test_a_thousand_identifies_a_day_reset_the_token(sim: DiscordSim, connect: Connect, ask: Ask) -> None:
    sim.gateway.identifies.at.extend([sim.world.monotonic()] * 998)
    _, gateway, _ = await ask("GET", "/gateway/bot")
    assert (gateway["url"], gateway["session_start_limit"]["remaining"]) == (sim.gateway_url, 2)
    one, _ = await fresh(sim, connect)
    await fresh(sim, connect)
    wire = await connect(sim.gateway_url)
    await wire.identify()
    assert await wire.closed() == 4004
    assert await one.closed() == 4004
    assert sim.violations == ["more than 1000 IDENTIFYs in a day: the token is reset"]
    assert (await ask("GET", "/users/@me"))[0] == 401


async def test_a_revoked_token_ends_the_connection_and_the_library(sim: DiscordSim, dm: Channel) -> None:
    client = Library()
    async with running(sim, client):
        sim.revoke_token()
        await client.until(sim, client.is_closed)
    assert sim.connections.closes[0] == (4004, "server")
    other = Library()
    with pointed_at(sim), pytest.raises(discord.LoginFailure):
        try:
            await other.login("sim-token")
        finally:
            await other.close()
    sim.restore_token()
    async with running(sim, Library()) as again:
        assert again.is_ready()


# intents


async def test_privileged_intents_that_are_switched_off_close_with_4014(sim: DiscordSim, connect: Connect) -> None:
    sim.intents_refused = True
    wire = await connect(sim.gateway_url)
    await wire.identify(intents=TALK | CONTENT)
    assert await wire.closed() == 4014
    assert (await (await connect(sim.gateway_url)).ready(intents=TALK))["v"] == 10
    client = Library()
    with pointed_at(sim), pytest.raises(discord.PrivilegedIntentsRequired):
        try:
            await client.start("sim-token")
        finally:
            await client.close()


async def test_events_come_only_for_the_intents_asked_for(
    sim: DiscordSim, connect: Connect, dm: Channel, general: Channel, ann: Person
) -> None:
    wires = {intents: (await fresh(sim, connect, intents=intents))[0] for intents in (0, GUILD_MESSAGES, DIRECT)}
    await sim.say(dm, ann, "direct")
    await sim.say(general, ann, "<@BOT> guild")
    said = await sim.say(general, ann, "<@BOT> reacted")
    await sim.react(general, said["id"], ann, "👍")
    await sim.feed("MARK", {})
    told: dict[int, list[str]] = {}
    for intents, wire in wires.items():
        told[intents] = []
        while (frame := await wire.get())["t"] != "MARK":
            told[intents].append(frame["d"]["content"])
    words = [f"<@{sim.bot.id}> guild", f"<@{sim.bot.id}> reacted"]
    assert told == {0: [], GUILD_MESSAGES: words, DIRECT: ["direct"]}


async def test_without_message_content_guild_messages_are_empty_unless_they_mention_the_bot(
    sim: DiscordSim, connect: Connect, dm: Channel, general: Channel, ann: Person, ask: Ask
) -> None:
    wire, _ = await fresh(sim, connect, intents=TALK)
    files = [("x.txt", "text/plain", b"x")]
    _, mine, _ = await ask("POST", f"/channels/{general.id}/messages", content="my own")
    await sim.say(general, ann, "hidden", files=files, embeds=[{"title": "x"}])
    await sim.say(general, ann, "<@BOT> open", files=files)
    await sim.say(general, ann, "answer", reply_to=mine["id"])
    await sim.say(general, ann, "answer", reply_to=mine["id"], ping=False)
    await sim.say(dm, ann, "private")
    got = [(await wire.event("MESSAGE_CREATE"))["d"] for _ in range(6)]
    assert [one["content"] for one in got] == [
        "my own", "", f"<@{sim.bot.id}> open", "answer", "", "private",
    ]  # fmt: skip
    assert [len(one["attachments"]) for one in got] == [0, 0, 1, 0, 0, 0]
    assert got[1]["embeds"] == []
    assert got[4]["referenced_message"]["content"] == "my own"


async def test_rest_tells_content_by_the_portal_and_not_by_the_session(
    sim: DiscordSim, general: Channel, dm: Channel, ann: Person, ask: Ask
) -> None:
    await sim.say(general, ann, "hidden")
    await sim.say(dm, ann, "direct")
    assert (await ask("GET", f"/channels/{general.id}/messages"))[1][0]["content"] == "hidden"
    sim.intents_refused = True
    assert (await ask("GET", f"/channels/{general.id}/messages"))[1][0]["content"] == ""
    assert (await ask("GET", f"/channels/{dm.id}/messages"))[1][0]["content"] == "direct"


async def test_members_are_told_in_chunks(sim: DiscordSim, bot: Library, connect: Connect) -> None:
    assert {member.display_name for member in bot.guilds[0].members} == {"Ann", "Owner", "Bowerbird"}
    found = await bot.guilds[0].query_members("an", limit=5)
    assert [member.name for member in found] == ["ann"]
    wire, _ = await fresh(sim, connect, intents=TALK)
    await wire.send(8, {"guild_id": "9001", "query": "", "limit": 0})
    await sim.until(lambda sim: sim.violations)
    assert sim.violations == ["all members were requested without the intent GUILD_MEMBERS"]
