"""Updates: offsets, long polls, conflicts, kinds, redelivery, webhooks, and what people do as the bot hears of it."""

import asyncio
from typing import Any

import pytest
from aiohttp import web
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup
from telegram.error import BadRequest, Conflict

from tests.fakes.clock import FakeClock
from tests.sim.telegram import Chat, Person, TelegramSim
from tests.sim.telegram.conftest import TOKEN, Post

ALL = [
    "message",
    "edited_message",
    "callback_query",
    "my_chat_member",
    "message_reaction",
    "stopped_message_generation",
]


async def test_an_update_stays_until_an_offset_beyond_it_confirms_it(
    bot: Bot, chat: Chat, ann: Person, sim: TelegramSim
) -> None:
    for text in ("one", "two", "three"):
        await sim.say(chat, ann, text)
    first = await bot.get_updates(limit=2)
    assert [update.message.text for update in first] == ["one", "two"]
    assert [update.message.text for update in await bot.get_updates()] == ["one", "two", "three"]
    rest = await bot.get_updates(offset=first[-1].update_id + 1)
    assert [update.message.text for update in rest] == ["three"]
    assert len(sim.pending) == 1
    assert await bot.get_updates(offset=rest[-1].update_id + 1) == ()
    assert sim.pending == []


async def test_a_negative_offset_keeps_the_newest_and_forgets_the_others(
    bot: Bot, chat: Chat, ann: Person, sim: TelegramSim
) -> None:
    for text in ("one", "two", "three"):
        await sim.say(chat, ann, text)
    assert [update.message.text for update in await bot.get_updates(offset=-1)] == ["three"]
    assert [update.message.text for update in await bot.get_updates()] == ["three"]


async def test_a_limit_outside_1_to_100_is_100(chat: Chat, ann: Person, sim: TelegramSim, post: Post) -> None:
    for n in range(101):
        await sim.say(chat, ann, str(n))
    for limit in (0, 101):
        assert len((await post("getUpdates", limit=limit))[1]["result"]) == 100


async def test_a_long_poll_returns_as_soon_as_something_happens(
    bot: Bot, chat: Chat, ann: Person, sim: TelegramSim
) -> None:
    async with asyncio.TaskGroup() as group:
        poll = group.create_task(bot.get_updates(timeout=20))
        await sim.until(lambda sim: sim.polls == 1)
        assert not poll.done()
        await sim.say(chat, ann, "hello")
    assert [update.message.text for update in poll.result()] == ["hello"]


async def test_a_poll_ends_empty_after_its_timeout_and_after_50_s_at_most() -> None:
    clock = FakeClock()
    async with (
        TelegramSim(latency=0, monotonic=clock.monotonic, sleep=clock.sleep) as sim,
        Bot(TOKEN, base_url=f"{sim.url}/bot") as bot,
        asyncio.TaskGroup() as group,
    ):
        for asked, real in ((10, 10), (300, 50)):
            polls = sim.polls
            poll = group.create_task(bot.get_updates(timeout=asked))
            await sim.until(lambda sim, polls=polls: sim.polls > polls)
            await clock.advance(real - 1)
            assert not poll.done()
            await clock.advance(1)
            assert await poll == ()


async def test_a_second_poll_sends_the_first_away(bot: Bot, chat: Chat, ann: Person, sim: TelegramSim) -> None:
    async def first() -> None:
        with pytest.raises(Conflict, match="terminated by other getUpdates request; make sure that only one bot"):
            await bot.get_updates(timeout=20)

    async with Bot(TOKEN, base_url=f"{sim.url}/bot") as other, asyncio.TaskGroup() as group:
        group.create_task(first())
        await sim.until(lambda sim: sim.polls == 1)
        second = group.create_task(other.get_updates(timeout=20))
        await sim.until(lambda sim: sim.polls == 2)
        await sim.say(chat, ann, "hello")
        assert len(await second) == 1


async def test_a_webhook_forbids_polls_until_it_is_deleted(bot: Bot) -> None:
    await bot.set_webhook("https://bot.example/hook")
    with pytest.raises(Conflict, match="can't use getUpdates method while webhook is active; use deleteWebhook"):
        await bot.get_updates()
    assert (await bot.get_webhook_info()).url == "https://bot.example/hook"
    await bot.delete_webhook()
    assert await bot.get_updates() == ()
    with pytest.raises(BadRequest, match=r"(?i)an HTTPS URL must be provided for webhook"):
        await bot.set_webhook("http://bot.example/hook")


async def test_a_webhook_gets_each_update_again_until_it_says_200_and_in_order(
    bot: Bot, chat: Chat, ann: Person, sim: TelegramSim
) -> None:
    seen: list[tuple[str, str]] = []

    async def hook(request: web.Request) -> web.Response:
        update = await request.json()
        seen.append((request.headers["X-Telegram-Bot-Api-Secret-Token"], update["message"]["text"]))
        return web.Response(status=500 if len(seen) == 1 else 200)

    app = web.Application()
    app.router.add_post("/hook", hook)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    await bot.set_webhook(f"http://127.0.0.1:{runner.addresses[0][1]}/hook", secret_token="s3cret")
    for text in ("one", "two"):
        await sim.say(chat, ann, text)
    await sim.until(lambda _: len(seen) == 3 and not sim.pending)
    await runner.cleanup()
    assert seen == [("s3cret", "one"), ("s3cret", "one"), ("s3cret", "two")]
    info = await bot.get_webhook_info()
    assert info.last_error_message == "Wrong response from the webhook: 500" and info.last_error_date is not None


async def test_only_the_kinds_asked_for_arrive_and_the_choice_lasts(
    bot: Bot, chat: Chat, ann: Person, sim: TelegramSim
) -> None:
    said = await sim.say(chat, ann, "hello")
    await sim.react(chat, ann, said["message_id"], "👍")
    assert [update.message is not None for update in await bot.get_updates(offset=-1)] == [True]
    await bot.get_updates(allowed_updates=["message_reaction"])
    await sim.react(chat, ann, said["message_id"], "👎")
    await sim.say(chat, ann, "not asked for")
    kinds = [update.message_reaction for update in await bot.get_updates()][1:]
    assert [kind.new_reaction[0].emoji for kind in kinds] == ["👎"]
    await bot.get_updates(allowed_updates=[])
    await sim.say(chat, ann, "asked for")
    assert (await bot.get_updates(offset=-1))[0].message.text == "asked for"


async def test_a_confirmed_update_can_come_again(bot: Bot, chat: Chat, ann: Person, sim: TelegramSim) -> None:
    await sim.say(chat, ann, "hello")
    (update,) = await bot.get_updates()
    assert await bot.get_updates(offset=update.update_id + 1) == ()
    sim.redeliver(update.update_id)
    (again,) = await bot.get_updates(offset=update.update_id + 1)
    assert again.update_id == update.update_id
    assert await bot.get_updates(offset=update.update_id + 1) == ()


async def test_anything_can_be_fed(sim: TelegramSim, post: Post) -> None:
    await sim.feed({"message": {"odd": True}})
    await sim.feed({"update_id": "no number"})
    await sim.feed([1, None])
    result = (await post("getUpdates"))[1]["result"]
    assert result[0]["message"] == {"odd": True}
    assert result[1:] == [{"update_id": "no number"}, [1, None]]
    assert (await post("getUpdates", offset=700_000_004))[1]["result"] == []


async def test_updates_older_than_a_day_are_gone() -> None:
    clock = FakeClock()
    async with TelegramSim(latency=0, monotonic=clock.monotonic, sleep=clock.sleep) as sim:
        ann = sim.person(7, "Ann")
        await sim.say(sim.private(ann), ann, "hello")
        await clock.advance(86_401)
        async with Bot(TOKEN, base_url=f"{sim.url}/bot") as bot:
            assert await bot.get_updates() == ()


async def test_a_message_is_what_the_platform_would_send(bot: Bot, chat: Chat, ann: Person, sim: TelegramSim) -> None:
    said = await sim.say(chat, ann, "👋👋 @bowerbird_bot /start@bowerbird_bot https://a.example/x")
    await sim.say(chat, ann, "what is this?", caption_photo=True, reply_to=said["message_id"])
    await sim.say(chat, ann, "", document=("a.txt", "text/plain", b"abc"))
    await sim.album(chat, ann, ["both", ""])
    text, photo, document, one, two = [update.message for update in await bot.get_updates()]
    assert text.from_user.language_code == "en"
    assert text.parse_entities() == dict(
        zip(text.entities, ["@bowerbird_bot", "/start@bowerbird_bot", "https://a.example/x"], strict=True)
    )
    assert (photo.text, photo.caption, photo.reply_to_message.text[-1], len(photo.photo)) == (
        None,
        "what is this?",
        "x",
        3,
    )
    assert (document.document.file_name, document.document.file_size, document.caption) == ("a.txt", 3, None)
    assert one.media_group_id == two.media_group_id != ""
    await sim.edit(chat, ann, said["message_id"], "changed")
    (edited,) = await bot.get_updates(offset=-1)
    assert (edited.edited_message.text, edited.edited_message.edit_date is not None) == ("changed", True)


PRIVACY: list[tuple[str, bool]] = [
    ("hello everybody", False),
    ("hello @bowerbird_bot", True),
    ("👋 @Bowerbird_Bot hello", True),
    ("mail me at x@bowerbird_bot.example", False),
    ("/status@Bowerbird_bot", True),
    ("/status@other_bot", False),
    ("hello @bowerbird_bot2", False),
]


@pytest.mark.parametrize(("text", "arrives"), PRIVACY)
async def test_privacy_hides_what_does_not_address_the_bot(
    bot: Bot, ann: Person, sim: TelegramSim, text: str, arrives: bool
) -> None:
    group = sim.group(-1001, "Team", members=[ann])
    await sim.say(group, ann, text)
    assert len(await bot.get_updates()) == arrives
    assert [shown.text for shown in sim.visible(group)] == [text]


async def test_privacy_hides_a_command_to_nobody_unless_the_bot_was_the_last_to_speak(
    bot: Bot, ann: Person, sim: TelegramSim
) -> None:
    group = sim.group(-1001, "Team", members=[ann])
    await sim.say(group, ann, "/status")
    assert await bot.get_updates() == ()
    await bot.send_message(-1001, "hello")
    await sim.say(group, ann, "so")
    await sim.say(group, ann, "/status")
    [heard] = await bot.get_updates()
    assert heard.message.text == "/status"
    await sim.say(group, sim.person(70, "Robot", is_bot=True), "beep")
    await sim.say(group, ann, "/status")
    assert len(await bot.get_updates(offset=heard.update_id + 1)) == 0


async def test_without_privacy_or_as_administrator_or_in_reply_everything_arrives(
    bot: Bot, ann: Person, sim: TelegramSim
) -> None:
    await sim.say(sim.group(-1001, "Open", members=[ann], bot_privacy=False), ann, "one")
    await sim.say(sim.group(-1002, "Led", members=[ann], admin=True), ann, "two")
    closed = sim.group(-1003, "Closed", members=[ann])
    mine = await bot.send_message(-1003, "mine")
    await sim.say(closed, ann, "three", reply_to=mine.message_id)
    assert [update.message.text for update in await bot.get_updates()] == ["one", "two", "three"]


async def test_topics_ride_along(bot: Bot, ann: Person, sim: TelegramSim) -> None:
    forum = sim.group(-1001, "Team", members=[ann], forum=True, bot_privacy=False)
    await sim.say(forum, ann, "in a topic", thread=sim.topic(forum, "plans"))
    await sim.say(forum, ann, "in General", thread=1)
    one, two = [update.message for update in await bot.get_updates()]
    assert (one.is_topic_message, one.message_thread_id, one.chat.is_forum) == (True, 2, True)
    assert (two.is_topic_message, two.message_thread_id) == (None, None)


async def test_a_press_carries_the_message_as_it_is_now(bot: Bot, chat: Chat, ann: Person, sim: TelegramSim) -> None:
    def keyboard(label: str, data: str) -> InlineKeyboardMarkup:
        return InlineKeyboardMarkup([[InlineKeyboardButton(label, callback_data=data)]])

    message = await bot.send_message(7, "May I?", reply_markup=keyboard("Allow once", "b:1:once"))
    press = await sim.press(chat, ann, message.message_id, "Allow once")
    await bot.edit_message_text("Sure?", 7, message.message_id, reply_markup=keyboard("Yes", "b:2:yes"))
    with pytest.raises(LookupError):
        await sim.press(chat, ann, message.message_id, "b:1:once")
    stale = await sim.press(chat, ann, message.message_id, "b:1:once", stale=True)
    first, second = [update.callback_query for update in await bot.get_updates()]
    assert (first.id, first.data, first.message.text, second.id, second.data) == (
        press, "b:1:once", "May I?", stale, "b:1:once",
    )  # fmt: skip
    assert first.message.reply_markup.inline_keyboard[0][0].text == "Allow once"
    assert first.chat_instance
    await bot.answer_callback_query(press, "done", show_alert=True)
    await bot.answer_callback_query(stale)
    assert sim.callback_answers == [(press, "done", True), (stale, "", False)]


async def test_a_press_is_answered_once_in_time_and_with_a_short_text() -> None:
    clock = FakeClock()
    async with TelegramSim(latency=0, monotonic=clock.monotonic, sleep=clock.sleep, strict_rates=False) as sim:
        ann = sim.person(7, "Ann")
        chat = sim.private(ann)
        async with Bot(TOKEN, base_url=f"{sim.url}/bot") as bot:
            markup = InlineKeyboardMarkup([[InlineKeyboardButton("A", callback_data="a")]])
            message = await bot.send_message(7, "x", reply_markup=markup)
            one, two, three = [await sim.press(chat, ann, message.message_id, "a") for _ in range(3)]
            await bot.answer_callback_query(one)
            too_old = "Query is too old and response timeout expired or query id is invalid"
            for press in (one, "12345"):
                with pytest.raises(BadRequest, match=f"(?i){too_old}"):
                    await bot.answer_callback_query(press)
            with pytest.raises(BadRequest):
                await bot.answer_callback_query(two, "a" * 201)
            await clock.advance(15.1)
            with pytest.raises(BadRequest, match=r"(?i)query is too old"):
                await bot.answer_callback_query(two)
            assert sim.violations == []
            await bot.get_updates()
            await clock.advance(10.1)
            blamed = [f"callback not answered: {press} in 7" for press in (two, three)]
            assert sim.violations == blamed
            assert sim.violations == blamed


async def test_stopped_drafts_blocks_and_reactions_are_told(
    bot: Bot, chat: Chat, ann: Person, sim: TelegramSim
) -> None:
    await bot.get_updates(allowed_updates=ALL)
    await sim.stop(chat, 42)
    sim.block(chat)
    group = sim.group(-1001, "Team", members=[ann])
    said = await sim.say(group, ann, "hidden")
    await sim.react(group, ann, said["message_id"], "👍")
    stopped, blocked = await bot.get_updates()
    assert stopped.api_kwargs["stopped_message_generation"]["draft_id"] == 42
    assert (blocked.my_chat_member.old_chat_member.status, blocked.my_chat_member.new_chat_member.status) == (
        "member",
        "kicked",
    )


async def test_who_adds_the_bot_to_a_group_is_told(post: Post, ann: Person, sim: TelegramSim) -> None:
    group = sim.group(-1001, "Team")
    sim.add_bot(group, ann, admin=True)
    _, told = await post("getUpdates")
    (change,) = [update["my_chat_member"] for update in told["result"]]
    assert (change["from"]["id"], change["chat"]["title"]) == (7, "Team")
    assert [change[key]["status"] for key in ("old_chat_member", "new_chat_member")] == ["left", "administrator"]


async def test_a_long_paste_comes_in_pieces_cut_at_the_end_of_a_line_in_their_second_half(
    chat: Chat, ann: Person, sim: TelegramSim
) -> None:
    lines = "\n".join("x" * 700 for _ in range(12))
    said = [message["text"] for message in await sim.paste(chat, ann, lines)]
    assert [len(piece) for piece in said] == [3504, 3504, 1401] and "\n".join(said) == lines
    assert [len(message["text"]) for message in await sim.paste(chat, ann, "y" * 5000)] == [4096, 904]


async def test_deleting_a_message_is_told_to_nobody(bot: Bot, chat: Chat, ann: Person, sim: TelegramSim) -> None:
    said: dict[str, Any] = await sim.say(chat, ann, "oops")
    await sim.delete(chat, said["message_id"])
    assert sim.visible(chat) == []
    assert [update.message.text for update in await bot.get_updates()] == ["oops"]
