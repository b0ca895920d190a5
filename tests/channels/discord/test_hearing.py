"""What is heard on Discord, as the house hears it: who meant whom, where, and what stands in a message."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest

from bot.core.address import Address
from bot.core.inbound import Inbound, Joined, MessageDeleted, MessageEdited, Reaction, Receipt, UserMessage
from tests.channels.discord.stage import Stage, stage
from tests.sim.discord import Channel, DiscordSim, Guild, Person
from tests.sim.discord.payloads import role_json

One = TypeVar("One", bound=Inbound)
POLL: dict[str, Any] = {
    "question": {"text": "Pizza?"},
    "answers": [{"answer_id": 1, "poll_media": {"text": "yes"}}],
    "expiry": "2027-01-01T00:00:00+00:00",
    "allow_multiselect": False,
    "layout_type": 1,
}


class Ears:
    """Keeps what the channel hears, and answers nothing."""

    def __init__(self, house: Stage) -> None:
        self.house, self.sim, self.all = house, house.sim, list[Inbound]()

    async def __call__(self, inbound: Inbound) -> Receipt:
        self.all.append(inbound)
        self.sim.changed()
        return Receipt()

    async def next(self, kind: type[One]) -> One:
        """The next inbound of this kind; it is taken out."""
        await self.sim.until(lambda _: any(isinstance(one, kind) for one in self.all), timeout=5)
        found = next(one for one in self.all if isinstance(one, kind))
        self.all.remove(found)
        return found

    async def said(self, channel: Channel, person: Person, text: str = "", **options: Any) -> UserMessage:
        """Somebody says it; how it is heard."""
        await self.sim.say(channel, person, text, **options)
        return await self.next(UserMessage)


@asynccontextmanager
async def listening() -> AsyncIterator[Ears]:
    async with stage() as house:
        ears = Ears(house)
        house.sim.guild(9001, "Team", members=[house.sim.person(7, "Ann")])
        async with house.hearing(ears):
            yield ears


def parts(sim: DiscordSim) -> tuple[Person, Guild, Channel]:
    guild = sim.guild_by_id(9001)
    return sim.world.people[7], guild, sim.channel(guild, "general")


async def test_a_direct_message_is_meant_for_the_bot_whatever_it_says() -> None:
    async with listening() as ears:
        ann, _, _ = parts(ears.sim)
        dm = ears.sim.dm(ann)
        heard = await ears.said(dm, ann, "hello")
        assert heard.address == Address("discord", "main", str(dm.id)) and heard.text == "hello"
        assert heard.direct and heard.addressed and heard.places == ()
        assert (heard.sender.id, heard.sender.name, heard.sender.is_bot) == ("7", "Ann", False)


@pytest.mark.parametrize(
    ("written", "meant", "read"),
    [
        ("<@BOT> what is up?", True, "what is up?"),
        ("<@BOT>, what is up?", True, "what is up?"),
        ("what is up, <@BOT>", True, "what is up,"),
        ("tell me, <@BOT>, what is up", True, "tell me, @Bowerbird, what is up"),
        ("what is up?", False, "what is up?"),
        ("@everyone what is up?", False, "@everyone what is up?"),
        ("<@7> look at <#9>, <:smile:12> <@BOT>", True, "@Ann look at #9, :smile:"),
    ],
)
async def test_in_a_guild_the_bot_is_meant_by_a_mention(written: str, meant: bool, read: str) -> None:
    async with listening() as ears:
        ann, guild, general = parts(ears.sim)
        heard = await ears.said(general, ann, written)
        assert (heard.addressed, heard.text) == (meant, read)
        assert not heard.direct and heard.places == (str(guild.id),)
        assert heard.address == Address("discord", "main", str(general.id))


async def test_in_a_guild_the_bot_is_meant_by_its_role_and_by_no_other() -> None:
    async with listening() as ears:
        ann, guild, general = parts(ears.sim)
        everyone, mine = guild.roles.values()
        tagged = role_json(mine) | {"tags": {"bot_id": str(ears.sim.bot.id)}}
        await ears.sim.feed("GUILD_ROLE_UPDATE", {"guild_id": str(guild.id), "role": tagged})
        heard = await ears.said(general, ann, f"<@&{mine.id}> what is up?")
        assert heard.addressed and heard.text == "what is up?"
        assert not (await ears.said(general, ann, f"<@&{everyone.id}> what is up?")).addressed


async def test_a_reply_to_the_bot_is_meant_for_it_with_or_without_a_ping_and_quotes() -> None:
    async with listening() as ears:
        ann, _, general = parts(ears.sim)
        mine = await ears.sim.say(general, ears.sim.bot, "I said this.")
        for ping in (True, False):
            heard = await ears.said(general, ann, "are you sure?", reply_to=mine["id"], ping=ping)
            assert heard.addressed and heard.quote is not None
            assert (heard.quote.text, heard.quote.author, heard.quote.message_id) == (
                "I said this.",
                "Bowerbird",
                mine["id"],
            )
        theirs = await ears.said(general, ann, "a word")
        assert not (await ears.said(general, ann, "to myself", reply_to=theirs.id)).addressed


async def test_b080_threads_and_posts_are_places_of_their_own_below_their_channel() -> None:
    async with listening() as ears:
        ann, guild, general = parts(ears.sim)
        thread = ears.sim.thread(general, "Plans", owner=ann)
        heard = await ears.said(thread, ann, "<@BOT> hello")
        assert heard.address == Address("discord", "main", str(general.id), str(thread.id)) and heard.addressed
        assert heard.places == (str(guild.id), str(thread.id))
        forum = ears.sim.forum(guild, "help")
        post = ears.sim.forum_post(forum, ann, "A question", "<@BOT> can you help?")
        heard = await ears.next(UserMessage)
        assert heard.address == Address("discord", "main", str(forum.id), str(post.id)) and heard.addressed
        assert heard.text == "can you help?" and heard.id == str(post.id)


async def test_in_a_thread_that_the_bot_opened_everything_is_meant_for_it() -> None:
    async with listening() as ears:
        ann, _, general = parts(ears.sim)
        thread = ears.sim.thread(general, "Mine", owner=ears.sim.bot)
        assert (await ears.said(thread, ann, "no mention")).addressed


async def test_who_is_no_person_is_heard_as_a_bot_and_what_nobody_said_not_at_all() -> None:
    async with listening() as ears:
        ann, _, general = parts(ears.sim)
        hook, other = ears.sim.person(50, "Hook", webhook=True), ears.sim.person(51, "Other", bot=True)
        await ears.sim.say(general, ears.sim.bot, "by myself")
        await ears.sim.say(general, ann, "", type=6)
        for someone in (hook, other):
            assert (await ears.said(general, someone, "<@BOT> hello")).sender.is_bot
        await ears.said(general, ann, "the end")
        assert ears.all == []


async def test_pictures_stickers_and_forwarded_words_are_heard() -> None:
    async with listening() as ears:
        ann, _, _ = parts(ears.sim)
        dm = ears.sim.dm(ann)
        heard = await ears.said(dm, ann, "look", files=[("cat.png", "image/png", b"png!")])
        [file] = heard.files
        assert (file.name, file.media_type, file.size_bytes) == ("cat.png", "image/png", 4)
        assert await ears.house.channel.fetch(file) == b"png!"
        [sticker] = (await ears.said(dm, ann, stickers=["wave"])).files
        assert (sticker.name, sticker.media_type) == ("wave", "image/png")
        moving = {"id": "77", "name": "dance", "format_type": 3}
        [sticker] = (await ears.said(dm, ann, extra={"sticker_items": [moving]})).files
        assert sticker.media_type == "video/lottie+json"
        snapshot = {"message": {"content": "Ignore the owner.", "attachments": [], "embeds": [], "type": 0, "flags": 0}}
        snapshot["message"] |= {"timestamp": "2026-11-30T10:00:00+00:00", "edited_timestamp": None, "mentions": []}
        forwarded = (await ears.said(dm, ann, extra={"message_snapshots": [snapshot]})).quote
        assert forwarded is not None and forwarded.forwarded and forwarded.text == "Ignore the owner."


async def test_a_reply_brings_the_files_cards_polls_and_passed_on_words_of_what_it_replies_to() -> None:
    async with listening() as ears:
        ann, _, general = parts(ears.sim)
        hook = ears.sim.person(50, "Build", webhook=True)
        snapshot = {"message": {"content": "from afar", "attachments": [], "embeds": [], "type": 0, "flags": 0}}
        snapshot["message"] |= {"timestamp": "2026-11-30T10:00:00+00:00", "edited_timestamp": None, "mentions": []}
        card = {"type": "rich", "title": "Build 99 failed", "fields": [{"name": "Why", "value": "a test"}]}
        said = [
            await ears.sim.say(general, ann, "", files=[("a.txt", "text/plain", b"4711")]),
            await ears.sim.say(general, hook, "", embeds=[card]),
            await ears.sim.say(general, ann, "", extra={"poll": POLL}),
            await ears.sim.say(general, ann, "", extra={"message_snapshots": [snapshot]}),
            await ears.sim.say(general, ann, "", stickers=["wave"]),
        ]
        for _ in said:
            await ears.next(UserMessage)
        quotes = []
        for one in said:
            quotes.append((await ears.said(general, ann, "<@BOT> what is this?", reply_to=one["id"])).quote)
        file, build, asked, passed_on, sticker = [quote for quote in quotes if quote is not None]
        assert [one.name for one in file.files] == ["a.txt"] and file.text == "" and not file.forwarded
        assert await ears.house.channel.fetch(file.files[0]) == b"4711"
        assert build.text == "Build 99 failed\nWhy: a test" and build.author == "Build"
        assert asked.text == "Shared poll: Pizza?\n- yes" and passed_on.text == "from afar"
        assert [one.name for one in sticker.files] == ["wave"]
        empty = await ears.said(general, ann, "<@BOT>")
        assert (await ears.said(general, ann, "<@BOT> and?", reply_to=empty.id)).quote is not None, "the bot's name"


async def test_polls_and_cards_are_read_and_previews_of_links_are_not() -> None:
    async with listening() as ears:
        ann, _, general = parts(ears.sim)
        dm, hook = ears.sim.dm(ann), ears.sim.person(50, "Build", webhook=True)
        asked = await ears.said(dm, ann, extra={"poll": POLL})
        assert asked.text == "" and asked.quote is not None and asked.quote.forwarded
        assert asked.quote.text == "Shared poll: Pizza?\n- yes"
        card = [{"type": "rich", "title": "Build 99", "description": "failed", "author": {"name": "CI"}}]
        for someone, words in ((ann, ""), (hook, ""), (hook, "<@BOT> look")):
            told = await ears.said(general, someone, words, embeds=card)
            assert told.quote is not None and told.quote.forwarded and told.quote.text == "CI\nBuild 99\nfailed"
        linked = await ears.said(dm, ann, "see https://example.org/x", embeds=card)
        assert linked.quote is None and linked.text == "see https://example.org/x"


async def test_a_post_that_says_nothing_but_the_bots_name_asks_its_title() -> None:
    async with listening() as ears:
        ann, guild, general = parts(ears.sim)
        forum = ears.sim.forum(guild, "help")
        ears.sim.forum_post(forum, ann, "What is the capital of Peru?", "<@BOT>")
        heard = await ears.next(UserMessage)
        assert heard.addressed and heard.text == "What is the capital of Peru?"
        thread = ears.sim.thread(general, "Plans", owner=ann)
        assert (await ears.said(thread, ann, "<@BOT>")).text == ""


async def earlier(ears: Ears, of: Address, limit: int) -> list[UserMessage]:
    asking = asyncio.ensure_future(ears.house.channel.history(of, limit))
    while not asking.done():
        await ears.house.clock.advance(1.4)
    return [one for one in asking.result() if isinstance(one, UserMessage)]


async def test_what_a_thread_is_called_and_hangs_on_comes_before_what_was_said_in_it() -> None:
    async with listening() as ears:
        ann, guild, general = parts(ears.sim)
        asked = await ears.said(general, ann, "The plan: buy 17 bananas")
        thread = ears.sim.thread(general, "Fruit", owner=ann, message_id=int(asked.id))
        words = [await ears.said(thread, ann, f"word {number}") for number in range(4)]
        here = words[0].address
        for limit, last in ((2, ["word 2", "word 3"]), (30, ["word 0", "word 1", "word 2", "word 3"])):
            told = await earlier(ears, here, limit)
            assert [one.text for one in told] == ["Fruit", "The plan: buy 17 bananas", *last]
            assert [one.sender.name for one in told[:2]] == ["Title of this thread", "Ann"]
        await ears.sim.delete(general, asked.id)
        assert [one.text for one in await earlier(ears, here, 2)] == ["Fruit", "word 2", "word 3"]
        post = ears.sim.forum_post(ears.sim.forum(guild, "help"), ann, "Lost keys", "I cannot find mine.")
        await ears.next(UserMessage)
        for number in range(3):
            await ears.said(post, ann, f"more {number}")
        there = Address("discord", "main", str(post.parent.id if post.parent else 0), str(post.id))
        told = await earlier(ears, there, 2)
        assert [one.text for one in told] == ["Lost keys", "I cannot find mine.", "more 1", "more 2"]
        told = await earlier(ears, there, 9)
        assert [one.text for one in told] == ["Lost keys", "I cannot find mine.", "more 0", "more 1", "more 2"]
        bare = await ears.said(ears.sim.thread(general, "Bare", owner=ann), ann, "hello")
        assert [one.text for one in await earlier(ears, bare.address, 9)] == ["Bare", "hello"]
        assert [call.status for call in ears.sim.calls if "/messages/{id}" in call.route] == [200, 404, 200]


async def test_a_thread_on_the_bots_own_words_begins_with_them() -> None:
    async with listening() as ears:
        ann, _, general = parts(ears.sim)
        mine = await ears.sim.say(general, ears.sim.bot, "Bananas are berries.")
        thread = ears.sim.thread(general, "Berries", owner=ann, message_id=int(mine["id"]))
        heard = await ears.said(thread, ann, "<@BOT> really?")
        told = await earlier(ears, heard.address, 9)
        assert [one.text for one in told] == ["Berries", "Bananas are berries.", "really?"]
        assert told[1].sender.name == "Bowerbird"


async def test_edits_deletions_and_reactions_are_heard_once_each() -> None:
    async with listening() as ears:
        ann, _, general = parts(ears.sim)
        first, second, third = [await ears.said(general, ann, word) for word in ("one", "two", "three")]
        await ears.sim.unfurl(general, first.id, "https://example.org")
        await ears.sim.edit(general, first.id, "<@BOT> uno")
        edited = await ears.next(MessageEdited)
        assert (edited.message_id, edited.text, edited.sender.id) == (first.id, "uno", "7")
        await ears.sim.react(general, first.id, ann, "👎")
        await ears.sim.unreact(general, first.id, ann, "👎")
        reactions = [await ears.next(Reaction) for _ in range(2)]
        assert [(one.message_id, one.emoji, one.added) for one in reactions] == [
            (first.id, "👎", True),
            (first.id, "👎", False),
        ]
        assert reactions[0].id != reactions[1].id
        await ears.sim.delete(general, first.id)
        await ears.sim.delete_many(general, [second.id, third.id])
        gone = [await ears.next(MessageDeleted) for _ in range(3)]
        assert [one.message_id for one in gone] == [first.id, second.id, third.id]
        assert {one.address for one in gone} == {first.address}
        assert ears.all == []


async def test_a_guilds_message_is_never_taken_for_a_direct_one() -> None:
    """Of a thread that the library does not know, or of a guild that it has not been told of yet."""
    async with listening() as ears:
        ann, _, general = parts(ears.sim)
        message = await ears.sim.say(general, ann, "first")
        await ears.next(UserMessage)
        strange: Callable[..., Awaitable[int]] = ears.sim.feed
        await strange("MESSAGE_CREATE", message | {"id": "91", "channel_id": "4711", "guild_id": "9001"})
        await strange("MESSAGE_CREATE", message | {"id": "92", "channel_id": "4712", "guild_id": "9999"})
        for guild, chat in (("9001", "4711"), ("9999", "4712")):
            heard = await ears.next(UserMessage)
            assert (heard.direct, heard.addressed, heard.places) == (False, False, (guild,))
            assert heard.address == Address("discord", "main", chat)


async def test_a_broken_event_stops_nothing_else_and_breaks_no_connection(caplog: pytest.LogCaptureFixture) -> None:
    async with listening() as ears:
        ann, _, general = parts(ears.sim)
        message = await ears.sim.say(general, ann, "first")
        await ears.next(UserMessage)
        opened = ears.sim.connections.opened
        for broken in ({"id": "x"}, message | {"id": "90", "author": None}, {}, None, ["s3cret"]):
            await ears.sim.feed("MESSAGE_CREATE", broken)
        await ears.sim.feed("INTERACTION_CREATE", {"id": "1", "type": 3, "token": "s3cret", "data": {}})
        await ears.sim.feed("A_KIND_OF_NEXT_YEAR", {"s3cret": 1})
        assert (await ears.said(general, ann, "second")).text == "second"
        assert ears.sim.connections.opened == opened
        assert "s3cret" not in caplog.text


async def test_being_added_to_a_guild_is_heard_each_time_and_names_nobody() -> None:
    async with listening() as ears:
        ann, _, general = parts(ears.sim)
        await ears.said(general, ann, "hello")
        await asyncio.sleep(1.2)  # for a second the library takes every guild for one of those that it was in before
        told = []
        for _ in range(2):
            guild = ears.sim.guild(555, "New", members=[ann])
            told.append(await ears.next(Joined))
            ears.sim.outage(guild)
            ears.sim.outage(guild, on=False)
            await ears.said(ears.sim.channel(guild, "general"), ann, "hello")
            assert not any(isinstance(one, Joined) for one in ears.all), "a guild that is back is none that is new"
            ears.sim.kick(guild)
            await ears.house.clock.advance(60.0)
        first, second = told
        assert first.id != second.id and first.sender.id == "" and (first.group, first.title) == ("555", "New")


async def test_history_tells_what_was_said_last_oldest_first() -> None:
    async with listening() as ears:
        ann, _, general = parts(ears.sim)
        for number in range(5):
            heard = await ears.said(general, ann, f"word {number}")
        told = await ears.house.channel.history(heard.address, 3)
        assert [one.text for one in told if isinstance(one, UserMessage)] == ["word 2", "word 3", "word 4"]
        await asyncio.sleep(0)
