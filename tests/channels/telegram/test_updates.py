"""What Telegram delivers, as the house reads it: every kind taken or left on purpose, and nothing breaks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.address import Address
from bot.core.inbound import ButtonPress, FileRef, MessageEdited, UserMessage
from channels.telegram.updates import Left, Me, Moving, Unreadable, inbound_of

ME = Me(99, "mybot")
ANN = {"id": 7, "is_bot": False, "first_name": "Ann", "last_name": "Lee", "language_code": "de"}
PRIVATE = {"id": 7, "type": "private", "first_name": "Ann"}
GROUP = {"id": -1001, "type": "supergroup", "title": "Team"}


def read(update: dict[str, Any]) -> Any:
    return inbound_of(update, ME, "telegram", "main")


def message(chat: dict[str, Any] = PRIVATE, **fields: Any) -> dict[str, Any]:
    return {"update_id": 1, "message": {"message_id": 5, "date": 1_800_000_000, "chat": chat, "from": ANN, **fields}}


def mention(text: str, name: str = "@mybot", kind: str = "mention") -> dict[str, Any]:
    units = len(text[: text.index(name)].encode("utf-16-le")) // 2
    return {"text": text, "entities": [{"type": kind, "offset": units, "length": len(name)}]}


def test_a_private_message() -> None:
    said = read(message(text="hello"))
    assert isinstance(said, UserMessage)
    assert (said.id, said.text, said.address) == ("5", "hello", Address("telegram", "main", "7"))
    assert (said.sender.identity, said.sender.name, said.sender.language) == ("telegram:7", "Ann Lee", "de")
    assert said.direct and said.addressed and said.sent_at == 1_800_000_000


@pytest.mark.parametrize(
    ("fields", "text", "addressed"),
    [
        ({"text": "hello all"}, "hello all", False),
        (mention("@mybot what is this?"), "what is this?", True),
        (mention("@MyBot hi", "@MyBot"), "hi", True),
        (mention("what is this, @mybot?"), "what is this, @mybot?", True),
        (mention("ask @mybot about it"), "ask @mybot about it", True),
        (mention("@otherbot hi", "@otherbot"), "@otherbot hi", False),
        (mention("/help@mybot", "/help@mybot", "bot_command"), "/help@mybot", True),
        (mention("/help", "/help", "bot_command"), "/help", True),
        (mention("/HELP me", "/HELP", "bot_command"), "/HELP me", True),
        (mention("/weather Rome", "/weather", "bot_command"), "/weather Rome", False),
        (mention("/weather@mybot Rome", "/weather@mybot", "bot_command"), "/weather@mybot Rome", True),
        (
            {"text": "and you?", "reply_to_message": {"message_id": 4, "from": {"id": 99}, "text": "I am"}},
            "and you?",
            True,
        ),
        (
            {"text": "and you?", "reply_to_message": {"message_id": 4, "from": {"id": 8}, "text": "I am"}},
            "and you?",
            False,
        ),
        (
            {
                "text": "in a topic",
                "reply_to_message": {"message_id": 4, "from": {"id": 99}, "forum_topic_created": {}},
            },
            "in a topic",
            False,
        ),
        (
            {"text": "Bot, hi", "entities": [{"type": "text_mention", "offset": 0, "length": 3, "user": {"id": 99}}]},
            "hi",
            True,
        ),
    ],
)
def test_in_a_group_it_is_meant_by_name_by_command_or_by_a_reply(fields: Any, text: str, addressed: bool) -> None:
    said = read(message(GROUP, **fields))
    assert (said.text, said.addressed, said.direct) == (text, addressed, False)


def test_another_bots_command_is_left_to_it_also_where_the_bot_answers_everything() -> None:
    assert read(message(GROUP, **mention("/help@otherbot", "/help@otherbot", "bot_command"))) == Left(
        "a command for another bot"
    )


def test_a_group_that_moves_tells_both_of_its_ids() -> None:
    assert read(message(GROUP, migrate_to_chat_id=-100200)) == Moving("-1001", "-100200")


@pytest.mark.parametrize("kind", ["checklist", "game", "giveaway", "invoice"])
def test_what_a_person_sent_without_words_is_still_a_message(kind: str) -> None:
    said = read(message(**{kind: {}}))
    assert isinstance(said, UserMessage) and said.text == ""


def test_b031_a_mention_behind_emoji_is_found_by_utf16_offsets() -> None:
    said = read(message(GROUP, text="👋👋 @mybot hi", entities=[{"type": "mention", "offset": 5, "length": 6}]))
    assert said.addressed and said.text == "👋👋 @mybot hi"


def test_b072_a_caption_is_read_as_text_is() -> None:
    photo = [{"file_id": "s", "width": 90, "height": 90}, {"file_id": "l", "width": 900, "height": 900, "file_size": 7}]
    said = read(
        message(
            GROUP,
            photo=photo,
            caption="@mybot what is this?",
            caption_entities=[{"type": "mention", "offset": 0, "length": 6}],
        )
    )
    assert said.addressed and said.text == "what is this?"
    assert [(file.id, file.media_type, file.size_bytes) for file in said.files] == [("l", "image/jpeg", 7)]


@pytest.mark.parametrize(
    "update",
    [
        {"channel_post": {"message_id": 1, "chat": {"id": -5, "type": "channel"}, "text": "x"}},
        {"my_chat_member": {"chat": PRIVATE, "from": ANN}},
        {"message_reaction": {"chat": PRIVATE, "message_id": 5}},
        {"poll_answer": {"poll_id": "1"}},
        {"stopped_message_generation": {"chat": GROUP, "draft_id": 3}},
        {"a_kind_of_next_year": {"x": 1}},
        {},
        message(GROUP, new_chat_members=[ANN])["message"] and message(GROUP, new_chat_members=[ANN]),
        message(GROUP, pinned_message={"message_id": 3}),
    ],
)
def test_b071_kinds_without_a_message_to_answer_are_left_on_purpose(update: dict[str, Any]) -> None:
    left = read({"update_id": 1, **update})
    assert isinstance(left, Left) and left.reason


def test_an_edit_names_the_message_and_is_one_of_its_own() -> None:
    edited = read({"update_id": 2, "edited_message": {**message(text="hallo")["message"], "edit_date": 1_800_000_060}})
    assert isinstance(edited, MessageEdited)
    assert (edited.id, edited.message_id, edited.text, edited.sent_at) == ("5.2", "5", "hallo", 1_800_000_060)


def test_a_reply_to_a_file_brings_the_file() -> None:
    photo = {"photo": [{"file_id": "small", "width": 9, "height": 9}, {"file_id": "large", "width": 90, "height": 90}]}
    replied = read(message(text="what is this?", reply_to_message={"message_id": 4, "from": ANN, **photo}))
    assert (replied.quote.text, replied.quote.author, [one.id for one in replied.quote.files]) == (
        "",
        "Ann Lee",
        ["large"],
    )
    file = {"document": {"file_id": "d", "file_name": "a.pdf", "mime_type": "application/pdf", "file_size": 9}}
    replied = read(message(text="and this?", reply_to_message={"message_id": 4, "caption": "the lease", **file}))
    assert replied.quote.text == "the lease" and replied.files == ()
    assert replied.quote.files == (FileRef("telegram", "d", "a.pdf", "application/pdf", 9),)
    poll = {"poll": {"question": "Pizza?", "options": [{"text": "yes"}, {"text": "no"}]}}
    replied = read(message(text="which?", reply_to_message={"message_id": 4, **poll}))
    assert replied.quote.text == "Shared poll: Pizza?\n- yes\n- no"
    assert read(message(text="so?", reply_to_message={"message_id": 4})).quote is None


def test_a_reply_across_chats_brings_the_words_and_the_files_that_telegram_gives() -> None:
    elsewhere = {"origin": {"type": "channel", "chat": {"id": -1009, "type": "channel", "title": "News"}, "date": 1}}
    replied = read(message(text="true?", external_reply={**elsewhere, "message_id": 5}, quote={"text": "Rain is dry."}))
    assert (replied.quote.text, replied.quote.author, replied.quote.message_id) == ("Rain is dry.", "News", "")
    photo = {"photo": [{"file_id": "p", "width": 9, "height": 9}]}
    replied = read(message(text="what is this?", external_reply={"origin": {"sender_user_name": "Zoe"}, **photo}))
    assert (replied.quote.text, replied.quote.author, [one.id for one in replied.quote.files]) == ("", "Zoe", ["p"])
    assert read(message(text="so?", external_reply=elsewhere)).quote is None
    assert read(message(text="so?", quote={"text": "It is so."})).quote.text == "It is so."


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            {"story": {"id": 3, "chat": {"id": 9, "title": "News"}}},
            "Shared story of News, which Telegram does not show",
        ),
        ({"game": {"title": "Chess", "description": "Two play.", "photo": []}}, "Shared game: Chess\nTwo play."),
        ({"paid_media": {"star_count": 5, "paid_media": [{"type": "preview"}]}}, "Shared media that cost 5 stars"),
        (
            {"giveaway": {"chats": [], "winner_count": 3, "prize_description": "a pen"}},
            "Shared giveaway: 3 winners\na pen",
        ),
        (
            {"invoice": {"title": "Tea", "description": "Green", "currency": "EUR", "total_amount": 450}},
            "Shared invoice: Tea",
        ),
    ],
)
def test_what_is_neither_text_nor_a_file_is_told_in_words(content: dict[str, Any], told: str) -> None:
    said = read(message(**content))
    assert said.text == "" and said.quote.forwarded and said.quote.text.startswith(told)


def test_paid_photos_that_the_bot_may_see_are_files() -> None:
    photo = {"type": "photo", "photo": [{"file_id": "p", "width": 9, "height": 9}]}
    said = read(message(paid_media={"star_count": 5, "paid_media": [{"type": "preview"}, photo]}))
    assert [one.id for one in said.files] == ["p"]


def test_a_rich_message_is_read_block_by_block() -> None:
    bold = {"type": "bold", "text": "now"}
    blocks = [{"type": "heading", "text": "Plan"}, {"type": "paragraph", "text": ["Do it ", bold, "."]}]
    blocks.append({"type": "list", "items": [{"blocks": [{"type": "paragraph", "text": "milk"}]}]})
    assert read(message(rich_message={"blocks": blocks})).text == "Plan\nDo it now.\nmilk"


def test_two_edits_within_a_second_are_two() -> None:
    raw = {**message(text="hallo")["message"], "edit_date": 1_800_000_060}
    first, second = (read({"update_id": number, "edited_message": raw}) for number in (2, 3))
    assert first.id != second.id == read({"update_id": 3, "edited_message": raw}).id


def test_a_press_carries_what_its_answer_needs() -> None:
    shown = {"message_id": 6, "date": 1, "chat": GROUP, "message_thread_id": 12, "is_topic_message": True}
    press = read({"update_id": 3, "callback_query": {"id": "77", "from": ANN, "message": shown, "data": "b:x:once"}})
    assert isinstance(press, ButtonPress)
    assert (press.id, press.token, press.payload) == ("77", "77", "b:x:once")
    assert press.address == Address("telegram", "main", "-1001", "12")


def test_a_press_on_a_message_that_is_no_longer_shown_to_bots_is_one_as_well() -> None:
    press = read({"callback_query": {"id": "7", "from": ANN, "message": {"message_id": 6, "date": 0, "chat": PRIVATE}}})
    assert press.address.chat == "7" and press.payload == ""
    assert isinstance(read({"callback_query": {"id": "7", "from": ANN, "inline_message_id": "i"}}), Left)


def test_a_topic_is_a_thread_and_the_general_one_is_none() -> None:
    assert read(message(GROUP, text="x", message_thread_id=12, is_topic_message=True)).address.thread == "12"
    assert read(message(GROUP, text="x", message_thread_id=1, is_topic_message=True)).address.thread == ""
    assert read(message(GROUP, text="x", message_thread_id=44)).address.thread == ""


def test_what_was_forwarded_or_quoted_is_from_outside() -> None:
    forwarded = read(message(text="Buy now!", forward_origin={"type": "user", "sender_user": {"first_name": "Eve"}}))
    assert forwarded.text == "" and forwarded.quote.forwarded
    assert (forwarded.quote.text, forwarded.quote.author) == ("Buy now!", "Eve")
    replied = read(message(text="why?", reply_to_message={"message_id": 4, "from": ANN, "text": "It is so."}))
    assert (replied.text, replied.quote.text, replied.quote.forwarded) == ("why?", "It is so.", False)
    part = read(message(text="why?", reply_to_message={"message_id": 4, "text": "All of it."}, quote={"text": "of it"}))
    assert part.quote.text == "of it"


def test_who_writes_in_the_name_of_a_chat_is_that_chat() -> None:
    anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group"}
    said = read(message(GROUP, text="x", **{"from": anonymous}, sender_chat=GROUP))
    assert (said.sender.id, said.sender.name, said.sender.is_bot) == ("-1001", "Team", False)


@pytest.mark.parametrize(
    "broken",
    [
        {"message": {"text": "no chat"}},
        {"message": {"message_id": "five", "chat": PRIVATE, "from": ANN, "date": 1, "text": "x"}},
        {"message": {"message_id": 5, "chat": {"type": "private"}, "from": ANN, "date": 1, "text": "x"}},
        {"message": {"message_id": 5, "chat": PRIVATE, "from": None, "date": 1, "text": "x"}},
        {
            "message": {
                "message_id": 5,
                "chat": GROUP,
                "from": ANN,
                "date": 1,
                "text": "x",
                "entities": [{"type": "mention"}],
            }
        },
        {"callback_query": {"message": {"chat": 3}}},
        {"edited_message": {"message_id": [], "text": ""}},
    ],
)
def test_a_broken_update_is_told_without_quoting_it(broken: dict[str, Any]) -> None:
    with pytest.raises(Unreadable) as told:
        read({"update_id": 4, **broken})
    assert "text" not in str(told.value) and "Ann" not in str(told.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = ["message_id", "chat", "from", "date", "text", "entities", "photo", "reply_to_message", "quote", "sender_chat"]
KEYS += ["external_reply", "rich_message", "story", "paid_media"]
KEYS += ["user", "old_reaction", "new_reaction", "draft_id", "message_thread_id", "old_chat_member", "new_chat_member"]


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6),
    st.sampled_from(
        [
            "message",
            "edited_message",
            "callback_query",
            "message_reaction",
            "stopped_message_generation",
            "my_chat_member",
        ]
    ),
)
def test_whatever_arrives_is_read_left_or_unreadable(fields: dict[str, Any], kind: str) -> None:
    whole = {**message(GROUP, text="x")["message"], "id": "1", **fields}
    try:
        inbound_of({"update_id": 1, kind: whole}, ME, "telegram", "main")
    except Unreadable:
        pass
