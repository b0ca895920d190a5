"""Who is pinged by the bot, its reactions, its typing."""

import discord
import pytest

from tests.fakes.clock import FakeClock
from tests.sim.discord import Channel, DiscordSim, Person
from tests.sim.discord.conftest import TOKEN, Ask, Library, asking

NOBODY: dict[str, list[str]] = {"parse": []}


# pings


@pytest.mark.parametrize("text", ["@everyone", "so @here!", "<@7001>", "<@!7001>", "<@&9001>", "`@everyone`"])
async def test_a_text_that_would_ping_is_a_violation_in_a_send_and_in_an_edit(
    sim: DiscordSim, general: Channel, ask: Ask, text: str
) -> None:
    path = f"/channels/{general.id}/messages"
    _, sent, _ = await ask("POST", path, content=text, allowed_mentions=NOBODY)
    await ask("PATCH", f"{path}/{sent['id']}", content=f"{text} again", allowed_mentions=NOBODY)
    await ask("PATCH", f"{path}/{sent['id']}", embeds=[])
    assert (sim.violations, sim.visible(general)[0].mentions) == ([], ())
    await ask("PATCH", f"{path}/{sent['id']}", content=f"{text} more")
    assert sim.violations[0].startswith("would ping ")
    assert len(sim.visible(general)[0].mentions) == 1
    await ask("POST", path, content=text)
    assert len(sim.violations) == 2


async def test_allowed_mentions_let_through_only_what_they_name(
    sim: DiscordSim, general: Channel, ann: Person, ask: Ask
) -> None:
    path = f"/channels/{general.id}/messages"
    text = f"<@7001> <@{sim.bot.id}> @everyone"
    _, body, _ = await ask("POST", path, content=text, allowed_mentions={"parse": [], "users": ["7001"]})
    assert [user["id"] for user in body["mentions"]] == ["7001"]
    assert (sim.visible(general)[0].mentions, body["mention_everyone"]) == (("<@7001>",), False)
    both = {"parse": ["users"], "users": ["7001"]}
    status, body, _ = await ask("POST", path, content=text, allowed_mentions=both)
    assert (status, "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE" in str(body)) == (400, True)
    assert (await ask("POST", path, content=text, allowed_mentions={"parse": ["all"]}))[0] == 400


async def test_the_libraries_own_setting_covers_sends_edits_and_replies(
    sim: DiscordSim, bot: Library, general: Channel, ann: Person
) -> None:
    await sim.say(general, ann, "hi")
    await bot.until(sim, lambda: bot.texts)
    sent = await bot.told("message")[0].reply("@everyone <@7001>")
    await sent.edit(content="@here <@&9001>")
    assert (sim.violations, sim.visible(general)[-1].mentions) == ([], ())


async def test_a_reply_without_allowed_mentions_pings_whom_it_answers(
    sim: DiscordSim, general: Channel, ann: Person, ask: Ask
) -> None:
    said = await sim.say(general, ann, "hi")
    path, reference = f"/channels/{general.id}/messages", {"message_id": said["id"]}
    await ask("POST", path, content="x", message_reference=reference)
    await ask("POST", path, content="x", message_reference=reference, allowed_mentions=NOBODY)
    assert [shown.mentions for shown in sim.visible(general)[1:]] == [("<@7001>",), ()]


# reactions and typing


async def test_the_bot_reacts_with_real_emoji_only_and_at_most_twenty(
    sim: DiscordSim, bot: Library, dm: Channel, ann: Person
) -> None:
    said = await sim.say(dm, ann, "x")
    message = bot.here(dm).get_partial_message(int(said["id"]))
    await message.add_reaction("👀")
    await message.add_reaction("❤️")
    await message.remove_reaction("👀", bot.user)
    assert sim.visible(dm)[0].reactions == (("❤️", 1),)
    assert (await message.fetch()).reactions[0].me
    for wrong in ("thumbsup", "好", "name:abc"):
        with pytest.raises(discord.HTTPException) as error:
            await message.add_reaction(wrong)
        assert error.value.code == 10014
    for letter in range(19):
        await message.add_reaction(chr(0x1F600 + letter))
    with pytest.raises(discord.HTTPException) as error:
        await message.add_reaction("🚀")
    assert error.value.code == 30010


async def test_typing_lasts_ten_seconds_or_until_the_message() -> None:
    clock = FakeClock()
    async with (
        DiscordSim(TOKEN, latency=0, monotonic=clock.monotonic, sleep=clock.sleep, now=clock.now) as sim,
        asking(sim) as ask,
    ):
        dm = sim.dm(sim.person(7, "Ann"))
        assert (await ask("POST", f"/channels/{dm.id}/typing"))[0] == 204
        await clock.advance(9.9)
        assert sim.typing(dm)
        await clock.advance(0.2)
        assert not sim.typing(dm)
        await ask("POST", f"/channels/{dm.id}/typing")
        await ask("POST", f"/channels/{dm.id}/messages", content="x")
        assert not sim.typing(dm)
