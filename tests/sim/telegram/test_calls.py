"""Calls about the bot and its chats: tokens, bodies, who can be written to, files, drafts, reactions, commands."""

import json

import aiohttp
import pytest
from telegram import Bot, BotCommand, InputFile, ReplyParameters
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken

from tests.sim.telegram import Chat, Person, TelegramSim
from tests.sim.telegram.conftest import TOKEN, Post


async def test_the_bot_learns_who_it_is(bot: Bot) -> None:
    assert (bot.bot.id, bot.bot.username, bot.bot.can_read_all_group_messages) == (123456, "bowerbird_bot", True)


async def test_a_wrong_token_is_401_and_a_malformed_one_or_an_unknown_method_404(sim: TelegramSim, post: Post) -> None:
    assert await post("getMe", "1:other") == (401, {"ok": False, "error_code": 401, "description": "Unauthorized"})
    assert (await post("getMe", "nonsense"))[0] == 404
    assert await post("sendPoll") == (404, {"ok": False, "error_code": 404, "description": "Not Found"})
    assert [call.status for call in sim.calls] == [401, 404, 404]


async def test_a_revoked_token_is_refused_until_it_is_restored(sim: TelegramSim, bot: Bot) -> None:
    sim.revoke_token()
    with pytest.raises(InvalidToken):
        await bot.get_me()
    sim.restore_token()
    assert (await bot.get_me()).id == 123456


async def test_methods_are_known_whatever_their_case(chat: Chat, sim: TelegramSim, post: Post) -> None:
    status, body = await post("SENDMESSAGE", chat_id=7, text="hi")
    assert (status, body["result"]["text"], sim.calls[-1].method) == (200, "hi", "sendMessage")


async def test_json_form_multipart_and_query_bodies_mean_the_same(chat: Chat, sim: TelegramSim) -> None:
    url = f"{sim.url}/bot{TOKEN}/sendMessage"
    entities = [{"type": "bold", "offset": 0, "length": 2}]
    fields = {"chat_id": "7", "text": "hi", "entities": json.dumps(entities)}
    multipart = aiohttp.FormData(fields)
    multipart.add_field("unused", b"x", filename="x.bin")
    async with aiohttp.ClientSession() as session:
        for options in ({"json": {**fields, "entities": entities}}, {"data": fields}, {"data": multipart}):
            async with session.post(url, **options) as answer:
                assert (await answer.json())["result"]["entities"] == entities
        async with session.get(url, params=fields) as answer:
            assert (await answer.json())["result"]["entities"] == entities


async def test_wrong_json_is_refused(chat: Chat, sim: TelegramSim, post: Post) -> None:
    assert (await post("sendMessage", chat_id=7, text="hi", entities="[{"))[0] == 400
    assert (await post("sendMessage", chat_id=7, text="hi", reply_markup="{"))[0] == 400
    url = f"{sim.url}/bot{TOKEN}/sendMessage"
    async with aiohttp.ClientSession() as session:
        for body in (b"{", b"[]"):
            async with session.post(url, data=body, headers={"Content-Type": "application/json"}) as answer:
                assert answer.status == 400
        async with session.post(url, data=b"x", headers={"Content-Type": "multipart/form-data"}) as answer:
            assert answer.status == 400
    assert sim.visible(chat) == []


async def test_who_cannot_be_written_to(bot: Bot, chat: Chat, sim: TelegramSim) -> None:
    bob = sim.person(8, "Bob")
    with pytest.raises(Forbidden, match="Forbidden: bot can't initiate conversation with a user"):
        await bot.send_message(8, "hi")
    unstarted = sim.private(bob, started=False)
    with pytest.raises(Forbidden, match="bot can't initiate conversation with a user"):
        await bot.send_message(8, "hi")
    await sim.say(unstarted, bob, "/start")
    await bot.send_message(8, "hi")
    with pytest.raises(BadRequest, match="Chat not found"):
        await bot.send_message(9, "hi")
    sim.block(chat)
    with pytest.raises(Forbidden, match="Forbidden: bot was blocked by the user"):
        await bot.send_message(7, "hi")
    sim.unblock(chat)
    await bot.send_message(7, "hi")


async def test_groups_that_threw_the_bot_out_or_that_it_left(bot: Bot, ann: Person, sim: TelegramSim) -> None:
    group = sim.group(-1001, "Team", members=[ann])
    sim.block(group)
    with pytest.raises(Forbidden, match="bot was kicked from the supergroup chat"):
        await bot.send_message(-1001, "hi")
    sim.unblock(group)
    assert await bot.leave_chat(-1001)
    with pytest.raises(Forbidden, match="bot is not a member of the supergroup chat"):
        await bot.send_chat_action(-1001, "typing")


async def test_a_group_that_became_a_supergroup_says_where_it_went(bot: Bot, ann: Person, sim: TelegramSim) -> None:
    group = sim.group(-5, "Team", members=[ann], supergroup=False)
    new = sim.migrate(group, -100200)
    with pytest.raises(ChatMigrated) as caught:
        await bot.send_message(-5, "hi")
    assert caught.value.new_chat_id == -100200
    await bot.send_message(-100200, "hi")
    assert sim.bot_texts(new) == ["hi"]
    old, moved = await bot.get_updates()
    assert (old.message.migrate_to_chat_id, moved.message.migrate_from_chat_id) == (-100200, -5)


async def test_topics_exist_or_are_not_found(bot: Bot, ann: Person, sim: TelegramSim) -> None:
    forum = sim.group(-1001, "Team", members=[ann], forum=True)
    topic = sim.topic(forum, "plans")
    message = await bot.send_message(-1001, "hi", message_thread_id=topic)
    assert (message.message_thread_id, message.is_topic_message) == (topic, True)
    for thread in (1, 999):
        with pytest.raises(BadRequest, match="Message thread not found"):
            await bot.send_message(-1001, "hi", message_thread_id=thread)
    assert await bot.send_chat_action(-1001, "typing", message_thread_id=1)
    assert [shown.thread for shown in sim.visible(forum)] == [None, topic]


async def test_a_reply_needs_its_message_unless_it_may_go_without(
    bot: Bot, chat: Chat, ann: Person, sim: TelegramSim
) -> None:
    asked = (await sim.say(chat, ann, "why?"))["message_id"]
    answer = await bot.send_message(7, "because", reply_parameters=ReplyParameters(asked))
    assert answer.reply_to_message is not None
    await sim.delete(chat, asked)
    with pytest.raises(BadRequest, match="Message to be replied not found"):
        await bot.send_message(7, "because", reply_parameters=ReplyParameters(asked))
    await bot.send_message(7, "so", reply_parameters=ReplyParameters(asked, allow_sending_without_reply=True))
    assert [shown.reply_to for shown in sim.visible(chat)] == [asked, None]


async def test_typing_lasts_five_seconds_or_until_the_next_message() -> None:
    moment = 0.0
    async with TelegramSim(monotonic=lambda: moment, strict_rates=False) as sim:
        chat = sim.private(sim.person(7, "Ann"))
        async with Bot(TOKEN, base_url=f"{sim.url}/bot") as bot:
            with pytest.raises(BadRequest, match="Wrong parameter action"):
                await bot.send_chat_action(7, "pondering")
            await bot.send_chat_action(7, "typing")
            assert sim.typing(chat)
            moment = 5.1
            assert not sim.typing(chat)
            await bot.send_chat_action(7, "typing")
            await bot.send_message(7, "hi")
            assert not sim.typing(chat)


async def test_a_bot_has_one_reaction_from_the_list(bot: Bot, chat: Chat, ann: Person, sim: TelegramSim) -> None:
    asked = (await sim.say(chat, ann, "hello"))["message_id"]
    await bot.set_message_reaction(7, asked, "👀")
    assert sim.visible(chat)[0].reactions == ("👀",)
    await bot.set_message_reaction(7, asked, [])
    assert sim.visible(chat)[0].reactions == ()
    with pytest.raises(BadRequest, match=r"(?i)reaction_invalid"):
        await bot.set_message_reaction(7, asked, "🦜")
    with pytest.raises(BadRequest, match=r"(?i)reactions_too_many"):
        await bot.set_message_reaction(7, asked, ["👀", "👍"])
    with pytest.raises(BadRequest, match="Message to react not found"):
        await bot.set_message_reaction(7, 999, "👀")


async def test_a_draft_is_no_message_and_lives_half_a_minute_in_private_chats(ann: Person) -> None:
    moment = 0.0
    async with TelegramSim(monotonic=lambda: moment, strict_rates=False) as sim:
        chat = sim.private(sim.person(7, "Ann"))
        sim.group(-1001, "Team")
        async with Bot(TOKEN, base_url=f"{sim.url}/bot") as bot:
            await bot.send_message_draft(7, 1, "grow")
            await bot.send_message_draft(7, 1, "growing")
            assert (sim.drafts(chat), sim.visible(chat)) == (["growing"], [])
            await bot.send_message_draft(7, 2, "another takes its place")
            assert sim.drafts(chat) == ["another takes its place"]
            moment = 30.1
            assert sim.drafts(chat) == []
            await bot.send_message_draft(7, 1, "again")
            await bot.send_message(7, "said")
            assert sim.drafts(chat) == []
            await bot.send_message_draft(7, 1, "and again")
            await sim.say(chat, ann, "so what?")
            assert sim.drafts(chat) == []
            with pytest.raises(BadRequest, match=r"(?i)textdraft_peer_invalid"):
                await bot.send_message_draft(-1001, 1, "x")
            with pytest.raises(BadRequest):
                await bot.send_message_draft(7, 0, "x")


@pytest.mark.parametrize("keep", [False, True])
async def test_a_draft_is_stopped_only_where_it_offers_it_and_vanishes_unless_it_is_kept(
    chat: Chat, sim: TelegramSim, post: Post, keep: bool
) -> None:
    topic = sim.topic(chat, "Work")
    await post("sendMessageDraft", chat_id=7, draft_id=1, text="no way back")
    with pytest.raises(LookupError):
        await sim.stop_draft(chat)
    await post(
        "sendMessageDraft", chat_id=7, draft_id=2, message_thread_id=topic, text="x", can_stop=True, keep_on_stop=keep
    )
    await post("getUpdates", allowed_updates=["stopped_message_generation"])
    await sim.stop_draft(chat, topic)
    assert sim.drafts(chat) == (["no way back", "x"] if keep else ["no way back"])
    _, told = await post("getUpdates")
    (stopped,) = [update["stopped_message_generation"] for update in told["result"]]
    assert (stopped["chat"]["id"], stopped["message_thread_id"], stopped["draft_id"]) == (7, topic, 2)


async def test_files_go_both_ways(bot: Bot, chat: Chat, ann: Person, sim: TelegramSim) -> None:
    sent = await bot.send_document(7, InputFile(b"a,b\n", "table.csv"), caption="here")
    assert sent.document is not None
    assert (sent.document.file_name, sent.caption, sim.visible(chat)[0].file) == ("table.csv", "here", "table.csv")
    got = await (await bot.get_file(sent.document.file_id)).download_as_bytearray()
    assert bytes(got) == b"a,b\n"
    again = await bot.send_document(7, sent.document.file_id)
    assert again.document is not None
    theirs = await sim.say(chat, ann, "what is this?", caption_photo=True)
    largest = theirs["photo"][-1]
    assert len(await (await bot.get_file(largest["file_id"])).download_as_bytearray()) == largest["file_size"]
    with pytest.raises(BadRequest, match="Message caption is too long"):
        await bot.send_document(7, InputFile(b"x", "x"), caption="a" * 1025)
    with pytest.raises(BadRequest, match="File must be non-empty"):
        await bot.send_document(7, InputFile(b"", "x"))


async def test_a_large_file_cannot_be_fetched_and_an_old_link_is_dead(bot: Bot, chat: Chat, sim: TelegramSim) -> None:
    large = sim.files.document("film.mp4", "video/mp4", b"x", size=20 * 1024 * 1024 + 1)
    with pytest.raises(BadRequest, match="File is too big"):
        await bot.get_file(large["file_id"])
    with pytest.raises(BadRequest, match="Wrong file_id or the file is temporarily unavailable"):
        await bot.get_file("nothing")
    small = await bot.get_file(sim.files.document("a.txt", "text/plain", b"x")["file_id"])
    sim.files.gone.add("documents/file_2.txt")
    with pytest.raises(InvalidToken):
        await small.download_as_bytearray()


async def test_commands_are_checked_and_kept_by_language(bot: Bot) -> None:
    await bot.set_my_commands([BotCommand("new", "Start over")])
    await bot.set_my_commands([BotCommand("new", "重新开始")], language_code="zh")
    assert [command.description for command in await bot.get_my_commands(language_code="zh")] == ["重新开始"]
    await bot.delete_my_commands()
    assert await bot.get_my_commands() == ()
    with pytest.raises(BadRequest, match=r"(?i)bot_command_invalid"):
        await bot.set_my_commands([BotCommand("New-Chat", "no")])
    with pytest.raises(BadRequest, match=r"(?i)bot_commands_too_much"):
        await bot.set_my_commands([BotCommand(f"c{n}", "x") for n in range(101)])


async def test_chats_and_members_can_be_asked_for(bot: Bot, ann: Person, sim: TelegramSim) -> None:
    sim.group(-1001, "Team", members=[ann], admin=True)
    assert (await bot.get_chat(-1001)).title == "Team"
    assert (await bot.get_chat_member(-1001, 7)).status == "member"
    assert (await bot.get_chat_member(-1001, 123456)).status == "administrator"
    with pytest.raises(BadRequest, match="Member not found"):
        await bot.get_chat_member(-1001, 8)
