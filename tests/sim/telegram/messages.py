"""The calls that show, change and remove messages. Each takes the world, the parameters and where to note a broken rule."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

from PIL import Image

from tests.sim.telegram.bodies import Params, Upload
from tests.sim.telegram.keyboards import read_markup
from tests.sim.telegram.nouns import Chat, Draft, Json, Message, Refused, bad, message_json
from tests.sim.telegram.places import chat_of, message_of, quoted_by, thread_of
from tests.sim.telegram.texts import MAX_CAPTION, MAX_TEXT, fixed
from tests.sim.telegram.world import World

Note = Callable[[str], None]

_ACTIONS = (
    "typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker"
    " find_location record_video_note upload_video_note"
)
ACTIONS = frozenset(_ACTIONS.split())
ACTION_SECONDS = 5.0
DRAFT_SECONDS = 30.0
DELETABLE_SECONDS = 48 * 3600
UPLOAD_LIMIT_BYTES = 50 * 1024 * 1024
PHOTO_LIMIT_BYTES = 10 * 1024 * 1024
PHOTO_SIDES = 10_000
PHOTO_RATIO = 20
_REACTIONS = (
    "👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤️‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻"
    " 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂️ 🤷 🤷‍♀️ 😡"
)
REACTIONS = frozenset(_REACTIONS.split())


def _text(params: Params, name: str, note: Note, *, limit: int = MAX_TEXT) -> tuple[str, list[Json]]:
    if params.text("parse_mode"):
        note("parse_mode: this simulator knows entities only")
        raise bad("unsupported parse_mode")
    field = "entities" if name == "text" else f"{name}_entities"
    return fixed(params.text(name), params.parsed(field, "entities"), note, limit=limit)


def send_message(world: World, params: Params, note: Note) -> Json:
    text, entities = _text(params, "text", note)
    markup = read_markup(params, note)
    chat = chat_of(world, params)
    fields = {"thread": thread_of(chat, params), "reply_to": quoted_by(chat, params)}
    message = world.new_message(chat, world.bot, text=text, entities=entities, markup=markup, **fields)
    world.report.shown(chat.id, text, edit=False)
    return message_json(chat, message)


def send_document(world: World, params: Params, note: Note) -> Json:
    return _send_file(world, params, note, "document")


def send_photo(world: World, params: Params, note: Note) -> Json:
    return _send_file(world, params, note, "photo")


def _send_file(world: World, params: Params, note: Note, field: str) -> Json:
    caption: tuple[str, list[Json]] = ("", [])
    if params.text("caption"):
        caption = _text(params, "caption", note, limit=MAX_CAPTION)
    markup = read_markup(params, note)
    chat = chat_of(world, params)
    fields = {"thread": thread_of(chat, params), "reply_to": quoted_by(chat, params)}
    name, extra = _file(world, params, field)
    text, entities = caption
    message = world.new_message(
        chat, world.bot, text=text, entities=entities, markup=markup, media=True, file=name, extra=extra, **fields
    )
    return message_json(chat, message)


def _file(world: World, params: Params, field: str) -> tuple[str, Json]:
    """The file's name and its fields in the message: an upload, an upload named by attach://, or a known file id."""
    raw: Any = params.get(field)
    if isinstance(raw, str) and raw.startswith("attach://"):
        raw = params.get(raw.removeprefix("attach://"))
    if isinstance(raw, Upload):
        if not raw.content:
            raise bad("file must be non-empty")
        if len(raw.content) > (PHOTO_LIMIT_BYTES if field == "photo" else UPLOAD_LIMIT_BYTES):
            raise Refused(413, "Request Entity Too Large")
        if field == "photo":
            _check_photo(raw.content)
            return raw.name, {"photo": world.files.photo_sizes(raw.content)}
        return raw.name, {"document": world.files.document(raw.name, raw.media_type, raw.content)}
    if not raw:
        raise bad(f"there is no {field} in the request")
    stored = world.files.by_id.get(str(raw))
    if stored is None:
        raise bad("wrong file identifier/HTTP URL specified")
    if field == "photo":
        return stored.path, {"photo": [{**stored.to_json(), "width": 90, "height": 67}]}
    return stored.path, {"document": stored.to_json()}


def _check_photo(content: bytes) -> None:
    """The sides of a photo add up to 10,000 at most, and are no more than 20 to 1 (Bot API, sendPhoto)."""
    try:
        with Image.open(BytesIO(content)) as image:
            width, height = image.size
    except OSError:
        raise bad("IMAGE_PROCESS_FAILED") from None
    if width + height > PHOTO_SIDES or max(width, height) > PHOTO_RATIO * min(width, height):
        raise bad("PHOTO_INVALID_DIMENSIONS")


def _own(world: World, chat: Chat, params: Params) -> Message:
    message = message_of(chat, params, "edit")
    if message.sender.id != world.bot.id:
        raise bad("message can't be edited")
    return message


NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current content"
    " and reply markup of the message"
)


def edit_message_text(world: World, params: Params, note: Note) -> Json:
    text, entities = _text(params, "text", note)
    markup = read_markup(params, note, inline_only=True)
    chat = chat_of(world, params)
    message = _own(world, chat, params)
    if message.media or not message.text:
        raise bad("there is no text in the message to edit")
    if (message.text, message.entities, message.markup) == (text, entities, markup):
        raise bad(NOT_MODIFIED)
    message.text, message.entities = text, entities
    return _edited(world, chat, message, markup)


def edit_message_reply_markup(world: World, params: Params, note: Note) -> Json:
    markup = read_markup(params, note, inline_only=True)
    chat = chat_of(world, params)
    message = _own(world, chat, params)
    if message.markup == markup:
        raise bad(NOT_MODIFIED)
    return _edited(world, chat, message, markup)


def _edited(world: World, chat: Chat, message: Message, markup: Json | None) -> Json:
    message.markup, message.edit_date = markup, world.date()
    message.edits += 1
    world.report.shown(chat.id, message.text, edit=True)
    return message_json(chat, message)


def delete_message(world: World, params: Params, note: Note) -> bool:
    chat = chat_of(world, params)
    message = message_of(chat, params, "delete")
    foreign = message.sender.id != world.bot.id and chat.is_group and not chat.admin
    if foreign or world.date() - message.date > DELETABLE_SECONDS:
        raise bad("message can't be deleted for everyone")
    del chat.messages[message.id]
    return True


def send_chat_action(world: World, params: Params, note: Note) -> bool:
    if params.text("action") not in ACTIONS:
        raise bad("wrong parameter action in request")
    chat = chat_of(world, params)
    thread_of(chat, params, general=True)
    chat.typing_until = world.monotonic() + ACTION_SECONDS
    return True


def set_message_reaction(world: World, params: Params, note: Note) -> bool:
    chosen = params.parsed("reaction", "reaction") or []
    if not isinstance(chosen, list) or not all(isinstance(one, dict) for one in chosen):
        raise bad("can't parse reaction types JSON object")
    emoji = tuple(str(one.get("emoji", "")) for one in chosen)
    if len(emoji) > 1:
        raise bad("REACTIONS_TOO_MANY")
    if not REACTIONS.issuperset(emoji):
        raise bad("REACTION_INVALID")
    chat = chat_of(world, params)
    message_of(chat, params, "react").reactions[world.bot.id] = emoji
    return True


def send_message_draft(world: World, params: Params, note: Note) -> bool:
    """A preview of an answer in a private chat; it vanishes after 30 s or with the next message there, whose ever."""
    number = params.integer("draft_id")
    text, entities = _text(params, "text", note) if params.text("text") else ("", [])
    chat = chat_of(world, params)
    if chat.is_group:
        raise bad("TEXTDRAFT_PEER_INVALID")
    if not number:
        raise bad("RANDOM_ID_INVALID")
    for useless in ("reply_markup", "reply_parameters"):
        if useless in params:
            note(f"a draft has no {useless}")
    thread, until = thread_of(chat, params), world.monotonic() + DRAFT_SECONDS
    stop, keep = params.flag("can_stop"), params.flag("keep_on_stop")
    world.draft(chat, Draft(number, text, tuple(entities), until, stop, keep), thread)
    return True
