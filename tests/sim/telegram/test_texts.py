"""Texts, entities, keyboards, edits and deletions: what the platform takes, changes, drops and refuses."""

import asyncio
from typing import Any

import aiohttp
import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity
from telegram.error import BadRequest

from tests.sim.telegram import Chat, Person, TelegramSim, units
from tests.sim.telegram.conftest import TOKEN, Post
from tests.sim.telegram.files import PIXEL


async def test_a_text_is_measured_in_utf16_units(bot: Bot, chat: Chat) -> None:
    assert units("👍🏽") == 4
    await bot.send_message(7, "👍" * 2048)
    with pytest.raises(BadRequest, match="Message is too long"):
        await bot.send_message(7, "👍" * 2048 + "a")


@pytest.mark.parametrize("text", ["", " ", "\n\t \n", "\u200b\u2060"])
async def test_a_text_without_anything_visible_is_refused(chat: Chat, post: Post, text: str) -> None:
    status, body = await post("sendMessage", chat_id=7, text=text)
    assert (status, body["description"]) == (400, "Bad Request: message text is empty")


async def test_white_space_around_a_text_is_trimmed_before_it_is_measured_and_entities_shift(
    bot: Bot, chat: Chat, sim: TelegramSim
) -> None:
    bold = MessageEntity("bold", 5, 6)
    await bot.send_message(7, "  \n👍bold  \n", entities=[bold])
    await bot.send_message(7, " " * 10 + "a" * 4096)
    first, second = sim.visible(chat)
    assert (first.text, first.entities) == ("👍bold", ({"type": "bold", "offset": 2, "length": 4},))
    assert len(second.text) == 4096


async def test_control_characters_become_spaces_and_carriage_returns_vanish(
    bot: Bot, chat: Chat, sim: TelegramSim
) -> None:
    await bot.send_message(7, "a\r\n\tb\x00c", entities=[MessageEntity("bold", 4, 3)])
    (shown,) = sim.visible(chat)
    assert (shown.text, shown.entities) == ("a\n b c", ({"type": "bold", "offset": 3, "length": 3},))


async def test_half_a_character_is_refused(chat: Chat, sim: TelegramSim, post: Post) -> None:
    url, body = f"{sim.url}/bot{TOKEN}/sendMessage", {"chat_id": 7, "text": "a\ud83d"}
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as answer:
        assert (await answer.json())["description"] == "Bad Request: strings must be encoded in UTF-8"


@pytest.mark.parametrize(
    ("offset", "length", "reason"),
    [
        (1, 1, "entity begins in a middle of a UTF-16 symbol"),
        (0, 1, "entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol"),
        (2, 9, "entity beginning at UTF-16 offset 2 ends after the end of the text at UTF-16 offset 11"),
        (9, 1, "entity begins after the end of the text at UTF-16 offset 9"),
        (-1, 1, "receive an entity with incorrect offset -1"),
        (0, -1, "receive an entity with incorrect length -1"),
    ],
)
async def test_an_entity_outside_the_text_or_inside_a_character_is_refused(
    chat: Chat, post: Post, offset: int, length: int, reason: str
) -> None:
    entities = [{"type": "bold", "offset": offset, "length": length}]
    status, body = await post("sendMessage", chat_id=7, text="👍abc", entities=entities)
    assert status == 400
    assert body["description"].startswith(f"Bad Request: {reason}")


BOLD, CODE = ("bold", 0, 8), ("code", 2, 3)


@pytest.mark.parametrize(
    ("entities", "kept", "violation"),
    [
        ([BOLD, ("italic", 2, 3)], 2, ""),
        ([BOLD, CODE], 2, "code inside another entity"),
        ([("blockquote", 0, 8), CODE], 2, ""),
        ([("pre", 0, 8), ("bold", 2, 3)], 1, "an entity inside code"),
        ([("bold", 0, 5), ("italic", 3, 5)], 2, "entities overlap"),
        ([("blockquote", 0, 8), ("expandable_blockquote", 2, 3)], 1, "a blockquote inside a blockquote"),
        ([("underlined", 0, 8)], 0, "unknown entity type"),
        ([("bold", 0, 0)], 0, ""),
    ],
)
async def test_entities_that_do_not_nest_are_noted(
    chat: Chat, sim: TelegramSim, post: Post, entities: list[Any], kept: int, violation: str
) -> None:
    raw = [{"type": kind, "offset": offset, "length": length} for kind, offset, length in entities]
    assert (await post("sendMessage", chat_id=7, text="abcdefgh", entities=raw))[0] == 200
    assert len(sim.visible(chat)[0].entities) == kept
    assert [violation in note for note in sim.violations] == ([True] if violation else [])


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://en.wikipedia.org/wiki/Mercury_(planet)", True),
        ("http://127.0.0.1:80/x?y#z", True),
        ("tg://user?id=1", True),
        ("mailto:a@example.org", True),
        ("javascript:alert(1)", False),
        ("file:///srv/report.md", False),
        ("https://e.example/a b", False),
        ("report.md/..", True),
        ("", False),
        ("http://[", False),
    ],
)
async def test_a_link_to_nowhere_is_dropped_and_noted(
    chat: Chat, sim: TelegramSim, post: Post, url: str, kept: bool
) -> None:
    link = {"type": "text_link", "offset": 0, "length": 4, "url": url}
    assert (await post("sendMessage", chat_id=7, text="link", entities=[link]))[0] == 200
    assert (len(sim.visible(chat)[0].entities), len(sim.violations)) == ((1, 0) if kept else (0, 1))


async def test_only_a_hundred_entities_are_shown(chat: Chat, sim: TelegramSim, post: Post) -> None:
    raw = [{"type": "bold", "offset": 2 * n, "length": 1} for n in range(101)]
    await post("sendMessage", chat_id=7, text="a " * 101, entities=raw)
    assert len(sim.visible(chat)[0].entities) == 100
    assert sim.violations == ["sendMessage in 7: more than 100 entities"]


async def test_markup_in_the_text_is_not_known_here(bot: Bot, chat: Chat, sim: TelegramSim) -> None:
    with pytest.raises(BadRequest, match="Unsupported parse_mode"):
        await bot.send_message(7, "<b>x</b>", parse_mode="HTML")
    assert sim.violations


async def test_an_edit_replaces_text_and_keyboard(bot: Bot, chat: Chat, sim: TelegramSim) -> None:
    keyboard = InlineKeyboardMarkup([[InlineKeyboardButton("Stop", callback_data="b:1:stop")]])
    message = await bot.send_message(7, "one", reply_markup=keyboard)
    edited = await bot.edit_message_text("two", 7, message.message_id)
    assert edited.edit_date is not None
    (shown,) = sim.visible(chat)
    assert (shown.text, shown.keyboard, shown.edits) == ("two", (), 1)
    await bot.edit_message_reply_markup(7, message.message_id, reply_markup=keyboard)
    assert sim.visible(chat)[0].buttons == {"Stop": "b:1:stop"}


async def test_an_edit_that_changes_nothing_is_refused_after_trimming(bot: Bot, chat: Chat) -> None:
    bold, keyboard = (
        [MessageEntity("bold", 0, 3)],
        InlineKeyboardMarkup([[InlineKeyboardButton("A", callback_data="a")]]),
    )
    message = await bot.send_message(7, "one", entities=bold, reply_markup=keyboard)
    with pytest.raises(BadRequest, match="Message is not modified: specified new message content"):
        await bot.edit_message_text(
            " one \n", 7, message.message_id, entities=[MessageEntity("bold", 1, 3)], reply_markup=keyboard
        )
    with pytest.raises(BadRequest, match="Message is not modified"):
        await bot.edit_message_reply_markup(7, message.message_id, reply_markup=keyboard)
    await bot.edit_message_text("one", 7, message.message_id, reply_markup=keyboard)
    await bot.edit_message_text("one", 7, message.message_id)


async def test_only_the_bots_own_standing_texts_can_be_edited(
    bot: Bot, chat: Chat, ann: Person, sim: TelegramSim
) -> None:
    theirs = await sim.say(chat, ann, "hello")
    with pytest.raises(BadRequest, match="Message can't be edited"):
        await bot.edit_message_text("x", 7, theirs["message_id"])
    with pytest.raises(BadRequest, match="Message to edit not found"):
        await bot.edit_message_text("x", 7, 999)
    mine = await bot.send_message(7, "mine")
    await sim.delete(chat, mine.message_id)
    with pytest.raises(BadRequest, match="Message to edit not found"):
        await bot.edit_message_text("x", 7, mine.message_id)
    photo = await bot.send_photo(7, PIXEL, caption="look")
    with pytest.raises(BadRequest, match="There is no text in the message to edit"):
        await bot.edit_message_text("x", 7, photo.message_id)


async def test_what_may_be_deleted(bot: Bot, chat: Chat, ann: Person, sim: TelegramSim) -> None:
    mine, theirs = await bot.send_message(7, "mine"), await sim.say(chat, ann, "hello")
    await bot.delete_message(7, mine.message_id)
    await bot.delete_message(7, theirs["message_id"])
    with pytest.raises(BadRequest, match="Message to delete not found"):
        await bot.delete_message(7, mine.message_id)
    group = sim.group(-1001, "Team", members=[ann])
    foreign = await sim.say(group, ann, "hello")
    with pytest.raises(BadRequest, match="Message can't be deleted for everyone"):
        await bot.delete_message(-1001, foreign["message_id"])


async def test_a_message_of_more_than_two_days_stays() -> None:
    moment = 1_800_000_000.0
    async with TelegramSim(now=lambda: moment, strict_rates=False) as sim:
        sim.private(sim.person(7, "Ann"))
        async with Bot(TOKEN, base_url=f"{sim.url}/bot") as bot:
            message = await bot.send_message(7, "old")
            moment += 48 * 3600 + 1
            with pytest.raises(BadRequest, match="Message can't be deleted"):
                await bot.delete_message(7, message.message_id)
            await bot.edit_message_text("edits have no such limit", 7, message.message_id)


async def test_two_edits_of_one_message_at_once_are_noted(bot: Bot, chat: Chat, sim: TelegramSim) -> None:
    one, two = await bot.send_message(7, "one"), await bot.send_message(7, "two")
    sim.latency = 0.1
    await asyncio.gather(bot.edit_message_text("a", 7, one.message_id), bot.edit_message_text("b", 7, two.message_id))
    assert sim.violations == []
    await asyncio.gather(bot.edit_message_text("c", 7, one.message_id), bot.edit_message_text("d", 7, one.message_id))
    assert sim.violations == [f"two edits at once of message {one.message_id} in 7"]


async def test_a_call_takes_effect_although_its_client_has_left(bot: Bot, chat: Chat, sim: TelegramSim) -> None:
    sim.latencies["sendMessage"] = 0.2
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await bot.send_message(7, "still said")
    await sim.until(lambda sim: sim.bot_texts(chat) == ["still said"])


@pytest.mark.parametrize(
    ("button", "reason"),
    [
        ({"text": "A", "callback_data": "é" * 32 + "a"}, "BUTTON_DATA_INVALID"),
        ({"text": "A", "callback_data": ""}, "BUTTON_DATA_INVALID"),
        ({"text": " ", "callback_data": "a"}, "inline keyboard button text must be non-empty"),
        ({"text": "A"}, "text buttons are unallowed in the inline keyboard"),
        ({"text": "A", "callback_data": "a", "style": "pink"}, "invalid button style specified"),
    ],
)
async def test_a_wrong_button_is_refused(chat: Chat, post: Post, button: dict[str, str], reason: str) -> None:
    status, body = await post("sendMessage", chat_id=7, text="x", reply_markup={"inline_keyboard": [[button]]})
    assert (status, body["description"]) == (400, f"Bad Request: {reason}")


async def test_a_payload_may_have_64_bytes_and_a_keyboard_100_buttons(chat: Chat, sim: TelegramSim, post: Post) -> None:
    def keyboard(count: int, row: int) -> Any:
        keys = [{"text": str(n), "callback_data": "é" * 32} for n in range(count)]
        return {"inline_keyboard": [keys[at : at + row] for at in range(0, count, row)]}

    assert (await post("sendMessage", chat_id=7, text="x", reply_markup=keyboard(100, 8)))[0] == 200
    status, body = await post("sendMessage", chat_id=7, text="x", reply_markup=keyboard(101, 8))
    assert (status, body["description"]) == (400, "Bad Request: reply markup is too long")
    assert sim.violations == []
    await post("sendMessage", chat_id=7, text="x", reply_markup=keyboard(9, 9))
    assert sim.violations == ["sendMessage in 7: 9 buttons in a row"]
