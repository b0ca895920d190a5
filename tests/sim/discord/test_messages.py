"""Messages: sending, editing, deleting, replying, reacting, files, nonces, pings and the history."""

import asyncio

import discord
import pytest

from tests.fakes.clock import FakeClock
from tests.sim.discord import Channel, DiscordSim, Person
from tests.sim.discord.conftest import TOKEN, Ask, Library, asking


async def test_what_a_person_says_reaches_the_library_and_its_answer_the_person(
    sim: DiscordSim, bot: Library, dm: Channel, general: Channel, ann: Person
) -> None:
    said = await sim.say(general, ann, "hello <@BOT>")
    await sim.say(dm, ann, "in private")
    await bot.until(sim, lambda: len(bot.texts) == 2)
    first, second = bot.told("message")
    assert (first.content, str(first.id), first.guild.name) == (f"hello <@{sim.bot.id}>", said["id"], "Team")
    assert (first.author.display_name, first.author.id, first.mentions) == ("Ann", 7001, [bot.user])
    assert (second.content, second.guild, second.channel.id) == ("in private", None, dm.id)
    sent = await first.reply("hi")
    await sent.edit(content="hi Ann")
    shown = sim.visible(general)[-1]
    assert (shown.text, shown.edits, shown.from_bot, shown.reply_to) == ("hi Ann", 1, True, int(said["id"]))
    assert sim.bot_texts(general) == ["hi Ann"]
    assert sim.violations == []


async def test_own_messages_come_back_over_the_gateway_with_their_nonce(
    sim: DiscordSim, bot: Library, dm: Channel
) -> None:
    sent = await bot.here(dm).send("one", nonce="row-1")
    await bot.until(sim, lambda: bot.told("message"))
    assert (bot.told("message")[0].id, bot.told("message")[0].nonce) == (sent.id, "row-1")


async def test_people_edit_delete_and_react_and_the_bot_hears(
    sim: DiscordSim, bot: Library, general: Channel, ann: Person
) -> None:
    said = await sim.say(general, ann, "one")
    await sim.edit(general, said["id"], "two")
    await sim.unfurl(general, said["id"], "https://example.org/")
    await sim.react(general, said["id"], ann, "👎")
    await sim.unreact(general, said["id"], ann, "👎")
    await sim.delete(general, said["id"])
    await bot.until(sim, lambda: bot.told("raw_message_delete"))
    edited, unfurled = [event.data for event in bot.told("raw_message_edit")]
    assert (edited["content"], edited["edited_timestamp"] is not None) == ("two", True)
    assert unfurled["embeds"][0]["url"] == "https://example.org/"
    added, removed = bot.told("raw_reaction_add")[0], bot.told("raw_reaction_remove")[0]
    assert (str(added.emoji), added.user_id, added.member.name, added.message_author_id) == ("👎", 7001, "ann", 7001)
    assert str(removed.emoji) == "👎"
    assert bot.told("raw_message_delete")[0].message_id == int(said["id"])


async def test_a_link_of_a_person_gets_a_preview_which_is_no_edit(
    sim: DiscordSim, bot: Library, dm: Channel, ann: Person
) -> None:
    await sim.say(dm, ann, "see https://example.org/x")
    await sim.say(dm, ann, "see <https://example.org/y>")
    await sim.say(dm, ann, "see https://example.org/z", flags=4)
    await sim.types(dm, ann)
    await bot.until(sim, lambda: bot.told("raw_typing"))
    (preview,) = [event.data for event in bot.told("raw_message_edit")]
    assert (preview["embeds"][0]["url"], preview["edited_timestamp"]) == ("https://example.org/x", None)
    assert sim.visible(dm)[0].text == "see https://example.org/x"


async def test_several_messages_deleted_at_once_are_one_event(
    sim: DiscordSim, bot: Library, general: Channel, ann: Person
) -> None:
    ids = [(await sim.say(general, ann, str(n)))["id"] for n in range(3)]
    await sim.delete_many(general, ids)
    await bot.until(sim, lambda: bot.told("raw_bulk_message_delete"))
    assert bot.told("raw_bulk_message_delete")[0].message_ids == {int(one) for one in ids}
    assert sim.visible(general) == []


async def test_stickers_voice_messages_and_forwards_come_as_discord_tells_them(
    sim: DiscordSim, bot: Library, dm: Channel, ann: Person
) -> None:
    snapshot = {"message": {"type": 0, "content": "far away", "embeds": [], "attachments": [], "flags": 0}}
    snapshot["message"] |= {"timestamp": "2026-11-30T12:00:00+00:00", "edited_timestamp": None, "mentions": []}
    reference = {"type": 1, "channel_id": "1", "message_id": "2"}
    await sim.say(dm, ann, stickers=["wave"])
    await sim.say(dm, ann, flags=8192, files=[("voice.ogg", "audio/ogg", b"OggS")])
    await sim.say(dm, ann, extra={"message_snapshots": [snapshot], "message_reference": reference})
    await sim.say(dm, ann, type=7)
    await bot.until(sim, lambda: len(bot.texts) == 4)
    sticker, voice, forward, system = bot.told("message")
    assert (sticker.stickers[0].name, sticker.content) == ("wave", "")
    assert (voice.flags.voice, voice.attachments[0].content_type) == (True, "audio/ogg")
    assert forward.message_snapshots[0].content == "far away"
    assert system.is_system()


async def test_other_bots_and_webhooks_are_marked(sim: DiscordSim, bot: Library, general: Channel, ann: Person) -> None:
    await sim.say(general, sim.person(7002, "Robot", bot=True), "beep")
    await sim.say(general, sim.person(7003, "Hook", webhook=True), "posted")
    await bot.until(sim, lambda: len(bot.texts) == 2)
    robot, hook = bot.told("message")
    assert (robot.author.bot, robot.webhook_id) == (True, None)
    assert (hook.author.bot, hook.webhook_id) == (True, 7003)


async def test_only_own_messages_are_edited_and_others_deleted_only_with_permission(
    sim: DiscordSim, bot: Library, dm: Channel, general: Channel, ann: Person
) -> None:
    theirs = await sim.say(general, ann, "mine")
    private = await sim.say(dm, ann, "mine")
    with pytest.raises(discord.Forbidden) as error:
        await bot.here(general).get_partial_message(int(theirs["id"])).edit(content="yours")
    assert error.value.code == 50005
    with pytest.raises(discord.Forbidden) as error:
        await bot.here(general).get_partial_message(int(theirs["id"])).delete()
    assert error.value.code == 50013
    with pytest.raises(discord.Forbidden) as error:
        await bot.here(dm).get_partial_message(int(private["id"])).delete()
    assert error.value.code == 50003
    sim.allow(general, "manage_messages")
    await bot.here(general).get_partial_message(int(theirs["id"])).delete()
    assert sim.visible(general) == []


async def test_a_message_that_is_gone_is_unknown(sim: DiscordSim, bot: Library, dm: Channel) -> None:
    sent = await bot.here(dm).send("x")
    await sim.delete(dm, sent.id)
    for call in (sent.edit(content="y"), sent.delete(), sent.add_reaction("👍")):
        with pytest.raises(discord.NotFound) as error:
            await call
        assert error.value.code == 10008


async def test_an_edit_leaves_what_it_does_not_name(sim: DiscordSim, dm: Channel, ask: Ask) -> None:
    row = {"type": 1, "components": [{"type": 2, "style": 1, "label": "A", "custom_id": "a"}]}
    path = f"/channels/{dm.id}/messages"
    _, sent, _ = await ask("POST", path, content="x", embeds=[{"title": "t"}], components=[row])
    await ask("PATCH", f"{path}/{sent['id']}", content="y")
    shown = sim.visible(dm)[0]
    assert (shown.content, shown.embeds[0]["title"], shown.buttons) == ("y", "t", (("A", "a", 1),))
    await ask("PATCH", f"{path}/{sent['id']}", components=[], embeds=[])
    assert (sim.visible(dm)[0].content, sim.visible(dm)[0].buttons) == ("y", ())
    status, body, _ = await ask("PATCH", f"{path}/{sent['id']}", content="")
    assert (status, body["code"]) == (400, 50006)


async def test_two_edits_of_one_message_in_flight_are_a_violation(sim: DiscordSim, dm: Channel, ask: Ask) -> None:
    _, sent, _ = await ask("POST", f"/channels/{dm.id}/messages", content="x")
    _, other, _ = await ask("POST", f"/channels/{dm.id}/messages", content="x")
    sim.latency = 0.05
    path = f"/channels/{dm.id}/messages"
    await asyncio.gather(*(ask("PATCH", f"{path}/{one['id']}", content="y") for one in (sent, other)))
    assert sim.violations == []
    await asyncio.gather(*(ask("PATCH", f"{path}/{sent['id']}", content=text) for text in ("a", "b")))
    assert sim.violations == [f"two edits at once: /channels/{dm.id}/messages/{sent['id']}"]


# replies


async def test_a_reply_to_nothing_is_refused_unless_it_may_go_without(
    sim: DiscordSim, general: Channel, ann: Person, ask: Ask
) -> None:
    path = f"/channels/{general.id}/messages"
    status, body, _ = await ask("POST", path, content="x", message_reference={"message_id": "1"})
    assert (status, body["code"]) == (400, 50035)
    assert body["errors"]["message_reference"]["_errors"][0]["code"] == "MESSAGE_REFERENCE_UNKNOWN_MESSAGE"
    reference = {"message_id": "1", "fail_if_not_exists": False}
    status, body, _ = await ask("POST", path, content="x", message_reference=reference)
    assert (status, body["type"], "message_reference" in body) == (200, 0, False)
    system = await sim.say(general, ann, type=7)
    status, body, _ = await ask("POST", path, content="x", message_reference={"message_id": system["id"]})
    assert "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE" in str(body)
    other = await sim.say(sim.dm(ann), ann, "elsewhere")
    reference = {"message_id": other["id"], "channel_id": other["channel_id"]}
    assert (await ask("POST", path, content="x", message_reference=reference))[0] == 400


async def test_a_reply_to_a_message_deleted_later_tells_that(
    sim: DiscordSim, bot: Library, general: Channel, ann: Person
) -> None:
    mine = await bot.here(general).send("question?")
    await sim.say(general, ann, "answer", reply_to=mine.id)
    await bot.until(sim, lambda: bot.texts)
    reply = next(one for one in bot.told("message") if one.author.id == ann.id)
    assert (reply.reference.resolved.content, reply.mentions) == ("question?", [bot.user])
    await sim.delete(general, mine.id)
    fetched = await bot.here(general).fetch_message(reply.id)
    assert isinstance(fetched.reference.resolved, discord.DeletedReferencedMessage)


# nonces


async def test_the_same_nonce_gives_the_first_message_for_a_few_minutes() -> None:
    clock = FakeClock()
    async with (
        DiscordSim(TOKEN, latency=0, monotonic=clock.monotonic, sleep=clock.sleep, now=clock.now) as sim,
        asking(sim) as ask,
    ):
        dm = sim.dm(sim.person(7, "Ann"))
        path = f"/channels/{dm.id}/messages"
        _, first, _ = await ask("POST", path, content="one", nonce="n", enforce_nonce=True)
        await clock.advance(170)
        status, again, _ = await ask("POST", path, content="two", nonce="n", enforce_nonce=True)
        assert (status, again["id"], again["content"], again["nonce"]) == (200, first["id"], "one", "n")
        _, free, _ = await ask("POST", path, content="three", nonce="n")
        assert free["id"] != first["id"]
        await clock.advance(181)
        _, late, _ = await ask("POST", path, content="four", nonce="n", enforce_nonce=True)
        assert sim.bot_texts(dm) == ["one", "three", "four"]
        assert late["id"] not in (first["id"], free["id"])
        assert sim.violations == []


async def test_a_message_that_was_deleted_keeps_its_nonce(sim: DiscordSim, dm: Channel, ask: Ask) -> None:
    path = f"/channels/{dm.id}/messages"
    _, first, _ = await ask("POST", path, content="one", nonce="n", enforce_nonce=True)
    await sim.delete(dm, first["id"])
    _, again, _ = await ask("POST", path, content="two", nonce="n", enforce_nonce=True)
    assert again["id"] == first["id"] and sim.bot_texts(dm) == []
    _, fresh, _ = await ask("POST", path, content="two", nonce="n.1", enforce_nonce=True)
    assert fresh["id"] != first["id"] and sim.bot_texts(dm) == ["two"]


async def test_a_nonce_is_known_in_every_channel(sim: DiscordSim, ann: Person, ask: Ask) -> None:
    one, two = sim.dm(ann), sim.dm(sim.person(7002, "Bob"))
    _, first, _ = await ask("POST", f"/channels/{one.id}/messages", content="x", nonce=5, enforce_nonce=True)
    _, same, _ = await ask("POST", f"/channels/{two.id}/messages", content="x", nonce=5, enforce_nonce=True)
    assert (same["id"], sim.bot_texts(two)) == (first["id"], [])
    assert sim.violations[0].startswith("the nonce 5 was used in another channel")


async def test_a_nonce_over_25_characters_is_refused(sim: DiscordSim, dm: Channel, ask: Ask) -> None:
    path = f"/channels/{dm.id}/messages"
    assert (await ask("POST", path, content="x", nonce="n" * 25))[0] == 200
    status, body, _ = await ask("POST", path, content="x", nonce="n" * 26)
    assert (status, body["errors"]["nonce"]["_errors"][0]["message"]) == (400, "Must be 25 or fewer in length.")


async def test_a_send_that_the_library_tries_again_is_said_once(sim: DiscordSim, bot: Library, dm: Channel) -> None:
    sim.fail("POST /channels/{id}/messages", status=500, effect="done")
    await bot.here(dm).send("once")
    assert sim.bot_texts(dm) == ["once"]
    assert [call.status for call in sim.called("POST /channels/{id}/messages")] == [500, 200]
