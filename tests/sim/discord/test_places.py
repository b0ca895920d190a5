"""Tokens and places: who the bot is, guilds, channels, threads, forums, direct messages, and what it may do where."""

from typing import Any

import aiohttp
import discord
import pytest

from tests.sim.discord import Channel, DiscordSim, Guild, Person
from tests.sim.discord.conftest import Ask, Library, asking


async def test_the_bot_learns_who_it_is(sim: DiscordSim, bot: Library, ask: Ask) -> None:
    assert bot.user is not None
    assert (bot.user.id, bot.user.name, bot.user.bot, bot.application_id) == (
        sim.bot.id, "Bowerbird", True, sim.bot.id,
    )  # fmt: skip
    assert bot.application is not None and bot.application.flags.gateway_message_content_limited
    assert (await bot.fetch_user(7001)).name == "ann"
    assert (await ask("GET", "/users/1"))[1]["code"] == 10013
    assert (await ask("GET", "/gateway"))[1] == {"url": sim.gateway_url}


async def test_a_wrong_token_an_unknown_path_or_method_and_an_old_version(sim: DiscordSim, ask: Ask) -> None:
    async with asking(sim, "wrong") as stranger:
        status, body, headers = await stranger("GET", "/users/@me")
        assert (status, body) == (401, {"message": "401: Unauthorized", "code": 0})
        assert "X-RateLimit-Limit" not in headers
    assert (await ask("GET", "/nowhere"))[:2] == (404, {"message": "404: Not Found", "code": 0})
    assert (await ask("PUT", "/users/@me"))[0] == 405
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{sim.url}/api/v6/users/@me") as answer:
            assert (answer.status, (await answer.json())["code"]) == (400, 50041)
        async with session.get(f"{sim.url}/api/users/@me", headers={"Authorization": "Bot sim-token"}) as answer:
            assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert [call.status for call in sim.calls] == [401, 404, 405, 400, 200]
    assert [call.route for call in sim.calls][:2] == ["GET /users/@me", "GET /nowhere"]


async def test_a_guild_has_channels_members_and_permissions(
    sim: DiscordSim, bot: Library, team: Guild, general: Channel
) -> None:
    guild = bot.guilds[0]
    channel = guild.get_channel(general.id)
    assert isinstance(channel, discord.TextChannel)
    allowed = channel.permissions_for(guild.me)
    assert (allowed.send_messages, allowed.send_messages_in_threads, allowed.manage_messages) == (True, True, False)
    assert (guild.owner is not None and guild.owner.name, len(guild.members)) == ("owner", 3)
    fetched = await bot.fetch_guild(9001)
    assert (fetched.name, fetched.approximate_member_count) == ("Team", 3)
    assert [one.name for one in await guild.fetch_channels()] == ["general"]
    assert (await guild.fetch_member(7001)).display_name == "Ann"
    with pytest.raises(discord.NotFound):
        await guild.fetch_member(1)
    assert [one.name async for one in bot.fetch_guilds()] == ["Team"]
    assert {role.name for role in await guild.fetch_roles()} == {"@everyone", "Bowerbird"}


async def test_the_bot_hears_of_new_guilds_channels_and_members_and_of_their_end(
    sim: DiscordSim, bot: Library, team: Guild
) -> None:
    other = sim.guild(9002, "Other")
    extra = sim.channel(team, "extra")
    await sim.say(extra, sim.person(7005, "Eve"), "hi")
    sim.remove(extra)
    sim.kick(other)
    await sim.say(sim.channel(other, "general"), sim.person(7006, "Far"), "unheard")
    await bot.until(sim, lambda: bot.told("guild_remove"))
    assert [guild.name for guild in bot.told("guild_join")] == ["Other"]
    assert [channel.name for channel in bot.told("guild_channel_create")] == ["extra"]
    assert [member.name for member in bot.told("member_join")] == ["eve"]
    assert [channel.name for channel in bot.told("guild_channel_delete")] == ["extra"]
    assert ([guild.name for guild in bot.guilds], bot.texts) == (["Team"], ["hi"])


async def test_a_guild_may_be_unavailable_for_a_while(
    sim: DiscordSim, bot: Library, team: Guild, general: Channel, ann: Person
) -> None:
    sim.outage(team)
    sim.outage(team, False)
    await sim.say(general, ann, "back")
    await bot.until(sim, lambda: bot.texts)
    assert [guild.id for guild in bot.told("guild_unavailable")] == [9001]
    assert [guild.id for guild in bot.told("guild_available")] == [9001, 9001]
    assert bot.told("guild_join") == []


async def test_a_deleted_channel_is_unknown_and_a_guild_without_the_bot_closed(
    sim: DiscordSim, team: Guild, general: Channel, ask: Ask
) -> None:
    extra = sim.channel(team, "extra")
    sim.remove(extra)
    assert (await ask("POST", f"/channels/{extra.id}/messages", content="x"))[1]["code"] == 10003
    sim.kick(team)
    assert (await ask("POST", f"/channels/{general.id}/messages", content="x"))[1]["code"] == 50001
    assert (await ask("GET", "/guilds/9001"))[1]["code"] == 10004


FORBIDDEN: list[tuple[tuple[str, ...], dict[str, Any], int]] = [
    ((), {"content": "x"}, 50013),
    (("view_channel",), {"content": "x"}, 50001),
    (("embed_links",), {"embeds": [{"title": "x"}]}, 50013),
    (("embed_links",), {"content": "x"}, 0),
]


@pytest.mark.parametrize(("permissions", "fields", "code"), FORBIDDEN)
async def test_what_the_bot_may_not_do_is_forbidden_until_it_may(
    sim: DiscordSim, general: Channel, ask: Ask, permissions: tuple[str, ...], fields: dict[str, Any], code: int
) -> None:
    path = f"/channels/{general.id}/messages"
    sim.forbid(general, *permissions)
    status, body, _ = await ask("POST", path, **fields)
    assert (status, body.get("code", 0)) == ((403, code) if code else (200, 0))
    sim.allow(general)
    assert (await ask("POST", path, **fields))[0] == 200


async def test_a_forbidden_channel_is_told_and_what_is_said_there_is_not(
    sim: DiscordSim, bot: Library, general: Channel, ann: Person
) -> None:
    sim.forbid(general)
    sim.forbid(general, "view_channel")
    await sim.say(general, ann, "secret")
    await sim.feed("MARK", {})
    await bot.until(sim, lambda: ("MARK",) in [args for name, args in bot.seen if name == "socket_event_type"])
    channel = bot.guilds[0].text_channels[0]
    allowed = channel.permissions_for(bot.guilds[0].me)
    assert (bot.texts, allowed.send_messages, allowed.view_channel) == ([], False, False)


async def test_threads_come_back_with_the_channel(sim: DiscordSim, bot: Library, general: Channel, ann: Person) -> None:
    sim.forbid(general, "view_channel")
    thread = sim.thread(general, "unseen", owner=ann)
    assert bot.guilds[0].get_thread(thread.id) is None
    sim.allow(general)
    await bot.until(sim, lambda: bot.guilds[0].get_thread(thread.id))
    await sim.say(thread, ann, "seen")
    await bot.until(sim, lambda: bot.texts == ["seen"])


async def test_a_person_who_takes_no_messages_is_50007(sim: DiscordSim, bot: Library, dm: Channel, ann: Person) -> None:
    sent = await bot.here(dm).send("x")
    sim.close_dm(ann)
    for call in (bot.here(dm).send("y"), sent.edit(content="y"), bot.here(dm).typing().wrapped_typer()):
        with pytest.raises(discord.Forbidden) as error:
            await call
        assert error.value.code == 50007
    sim.close_dm(ann, closed=False)
    await bot.here(dm).send("z")


async def test_the_bot_opens_the_same_direct_channel_as_the_person(
    sim: DiscordSim, bot: Library, dm: Channel, ask: Ask
) -> None:
    channel = await (await bot.fetch_user(7001)).create_dm()
    assert (channel.id, channel.recipient and channel.recipient.id) == (dm.id, 7001)
    assert (await ask("POST", "/users/@me/channels", recipient_id="1"))[1]["code"] == 10013
    robot = sim.person(7009, "Robot", bot=True)
    assert (await ask("POST", "/users/@me/channels", recipient_id=str(robot.id)))[1]["code"] == 50033
    fetched = await bot.fetch_channel(dm.id)
    assert isinstance(fetched, discord.DMChannel)


# threads and forums


async def test_a_persons_thread_is_heard_of_and_answered_in(
    sim: DiscordSim, bot: Library, general: Channel, ann: Person
) -> None:
    thread = sim.thread(general, "topic", owner=ann)
    await sim.say(thread, ann, "<@BOT> here?")
    await bot.until(sim, lambda: len(bot.texts) == 2)
    opened, asked = bot.told("message")
    assert (opened.type, opened.content) == (discord.MessageType.thread_created, "topic")
    assert (asked.channel.name, asked.channel.parent.id, asked.guild.id) == ("topic", general.id, 9001)
    assert [one.name for one in bot.told("thread_create")] == ["topic"]
    await asked.channel.send("yes")
    assert sim.bot_texts(thread) == ["yes"]
    assert bot.guilds[0].get_thread(thread.id) is not None


async def test_threads_of_messages_take_their_ids_and_only_one_each(
    sim: DiscordSim, bot: Library, general: Channel, ann: Person, ask: Ask
) -> None:
    said = await sim.say(general, ann, "long story")
    thread = await bot.guilds[0].text_channels[0].get_partial_message(int(said["id"])).create_thread(name="mine")
    assert (thread.id, thread.owner_id) == (int(said["id"]), sim.bot.id)
    status, body, _ = await ask("POST", f"/channels/{general.id}/messages/{said['id']}/threads", name="again")
    assert (status, body["code"]) == (400, 160004)
    status, body, _ = await ask("POST", f"/channels/{general.id}/threads", name="x" * 101, type=11)
    assert (status, body["code"]) == (400, 50035)
    assert (await ask("POST", f"/channels/{general.id}/threads", name="plain", type=11))[0] == 201
    _, active, _ = await ask("GET", "/guilds/9001/threads/active")
    assert {one["name"] for one in active["threads"]} == {"mine", "plain"}
    assert (await ask("POST", f"/channels/{thread.id}/threads", name="deep", type=11))[1]["code"] == 50024


async def test_a_thread_of_a_message_begins_with_a_pointer_to_it_and_the_message_tells_of_the_thread(
    sim: DiscordSim, bot: Library, general: Channel, ann: Person, ask: Ask
) -> None:
    said = await sim.say(general, ann, "long story")
    path = f"/channels/{general.id}/messages/{said['id']}"
    assert (await ask("POST", f"{path}/threads", name="mine"))[0] == 201
    await bot.until(sim, lambda: len(bot.told("message")) == 2)
    first = bot.told("message")[1]
    assert (first.type, first.content, first.author.id) == (discord.MessageType.thread_starter_message, "", ann.id)
    assert (first.channel.id, first.reference.message_id, first.reference.channel_id) == (
        int(said["id"]), int(said["id"]), general.id,
    )  # fmt: skip
    assert first.reference.resolved.content == "long story"
    [edit] = bot.told("raw_message_edit")
    assert (edit.message.id, edit.message.edited_at, edit.message.flags.has_thread) == (int(said["id"]), None, True)
    _, body, _ = await ask("GET", path)
    assert (body["thread"]["id"], body["thread"]["owner_id"]) == (said["id"], str(sim.bot.id))
    assert (await ask("POST", f"/channels/{said['id']}/messages/{first.id}/threads", name="x"))[1]["code"] == 50024
    await sim.delete(general, said["id"])
    assert (await ask("POST", f"{path}/threads", name="late"))[1]["code"] == 10008
    assert sim.channel_by_id(int(said["id"])).name == "mine"


async def test_the_threads_of_announcements_are_of_their_own_kind(
    sim: DiscordSim, bot: Library, team: Guild, ann: Person, ask: Ask
) -> None:
    news = sim.channel(team, "news", type=5)
    said = await sim.say(news, ann, "it is out")
    _, body, _ = await ask("POST", f"/channels/{news.id}/messages/{said['id']}/threads", name="talk")
    assert body["type"] == discord.ChannelType.news_thread.value
    sim.forbid(news, "create_public_threads")
    other = await sim.say(news, ann, "more")
    path = f"/channels/{news.id}/messages/{other['id']}/threads"
    assert (await ask("POST", path, name="talk"))[1]["code"] == 50013
    sim.allow(news)
    sim.fail("POST /channels/{id}/messages/{id}/threads", code=160006)
    assert (await ask("POST", path, name="talk"))[:2] == (
        400, {"message": "Maximum number of active threads reached", "code": 160006},
    )  # fmt: skip


async def test_a_forum_post_is_a_thread_whose_first_message_has_its_id(
    sim: DiscordSim, bot: Library, team: Guild, ann: Person, ask: Ask
) -> None:
    forum = sim.forum(team, "help")
    post = sim.forum_post(forum, ann, "It fails", "<@BOT> why?")
    await bot.until(sim, lambda: bot.texts)
    first = bot.told("message")[0]
    assert (first.id, first.channel.id, first.channel.parent.type) == (post.id, post.id, discord.ChannelType.forum)
    await first.reply("because")
    assert sim.bot_texts(post) == ["because"]
    assert (await ask("POST", f"/channels/{forum.id}/messages", content="x"))[1]["code"] == 50008
    channel = bot.guilds[0].get_channel(forum.id)
    assert isinstance(channel, discord.ForumChannel)
    made = await channel.create_thread(name="Mine", content="first")
    assert made.message.id == made.thread.id
    forum.require_tag = True
    status, body, _ = await ask("POST", f"/channels/{forum.id}/threads", name="x", message={"content": "x"})
    assert (status, body["code"]) == (400, 40067)


async def test_an_archived_thread_opens_with_a_message_but_takes_no_edits_and_a_locked_one_nothing(
    sim: DiscordSim, bot: Library, general: Channel, ann: Person
) -> None:
    thread = sim.thread(general, "topic", owner=ann)
    sent = await bot.here(thread).send("x")
    sim.archive(thread)
    with pytest.raises(discord.HTTPException) as error:
        await sent.edit(content="y")
    assert error.value.code == 50083
    await bot.here(thread).send("wakes it")
    await sent.edit(content="y")
    sim.archive(thread, locked=True)
    with pytest.raises(discord.Forbidden) as error:
        await bot.here(thread).send("z")
    assert error.value.code == 160005
    await bot.until(
        sim,
        lambda: (
            [one.data["thread_metadata"]["archived"] for one in bot.told("raw_thread_update")] == [True, False, True]
        ),
    )


async def test_a_private_thread_is_closed_until_the_bot_is_added(
    sim: DiscordSim, bot: Library, general: Channel, ann: Person
) -> None:
    thread = sim.thread(general, "secret", owner=ann, private=True)
    await sim.say(thread, ann, "hidden")
    with pytest.raises(discord.Forbidden) as error:
        await bot.here(thread).send("x")
    assert error.value.code == 50001
    sim.add_to_thread(thread, sim.bot)
    await sim.say(thread, ann, "seen")
    await bot.until(sim, lambda: bot.texts)
    assert bot.texts == ["seen"]


async def test_the_bot_closes_joins_and_leaves_its_own_thread(
    sim: DiscordSim, bot: Library, general: Channel, ann: Person, ask: Ask
) -> None:
    channel = bot.guilds[0].text_channels[0]
    mine = await channel.create_thread(name="mine", type=discord.ChannelType.public_thread)
    await mine.edit(archived=True)
    assert sim.channel_by_id(mine.id).archived
    assert [one.name async for one in channel.archived_threads()] == ["mine"]
    theirs = sim.thread(general, "theirs", owner=ann)
    assert (await ask("PATCH", f"/channels/{theirs.id}", archived=True))[1]["code"] == 50013
    assert (await ask("PUT", f"/channels/{theirs.id}/thread-members/@me"))[0] == 204
    assert (await ask("DELETE", f"/channels/{theirs.id}/thread-members/@me"))[0] == 204
    assert (await ask("PUT", f"/channels/{general.id}/thread-members/@me"))[1]["code"] == 50024
    assert (await ask("DELETE", f"/channels/{general.id}"))[1]["code"] == 50013


async def test_a_resumed_or_new_session_knows_open_threads(
    sim: DiscordSim, bot: Library, general: Channel, ann: Person
) -> None:
    thread = sim.thread(general, "topic", owner=ann)
    await sim.drop(1000)
    await bot.until(sim, lambda: len(bot.told("ready")) == 2)
    assert bot.guilds[0].get_thread(thread.id) is not None


async def test_bulk_deletion_needs_permission_and_two_to_a_hundred_messages(
    sim: DiscordSim, dm: Channel, general: Channel, ann: Person, ask: Ask
) -> None:
    ids = [(await sim.say(general, ann, str(n)))["id"] for n in range(3)]
    path = f"/channels/{general.id}/messages/bulk-delete"
    assert (await ask("POST", path, messages=ids))[1]["code"] == 50013
    sim.allow(general, "manage_messages")
    assert (await ask("POST", path, messages=ids[:1]))[1]["code"] == 50035
    assert (await ask("POST", path, messages=ids[:2]))[0] == 204
    assert len(sim.visible(general)) == 1
