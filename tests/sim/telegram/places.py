"""Which chat, topic and message a call means, and when the bot has no business there."""

from __future__ import annotations

from tests.sim.telegram.bodies import Params
from tests.sim.telegram.nouns import Chat, Message, Refused, bad
from tests.sim.telegram.world import GENERAL, World

FORBIDDEN = {
    "blocked": "bot was blocked by the user",
    "unstarted": "bot can't initiate conversation with a user",
    "kicked": "bot was kicked from the {type} chat",
    "left": "bot is not a member of the {type} chat",
}


def chat_of(world: World, params: Params) -> Chat:
    """The chat of ``chat_id``, where the bot may act."""
    raw = params.text("chat_id")
    if not raw:
        raise bad("chat_id is empty")
    chat = world.chats.get(params.integer("chat_id"))
    if chat is None and params.integer("chat_id") in world.people:
        raise Refused(403, f"Forbidden: {FORBIDDEN['unstarted']}")
    if chat is None:
        raise bad("chat not found")
    if chat.migrated_to:
        raise bad("group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.migrated_to)
    if chat.status != "fine":
        raise Refused(403, f"Forbidden: {FORBIDDEN[chat.status].format(type=chat.type)}")
    return chat


def thread_of(chat: Chat, params: Params, *, general: bool = False) -> int | None:
    """The topic. The General topic is named by no id; only chat actions (``general``) take its 1."""
    thread = params.integer("message_thread_id")
    if not thread or (general and thread == GENERAL and chat.forum):
        return None
    if thread not in chat.topics:
        raise bad("message thread not found")
    return thread


def message_of(chat: Chat, params: Params, purpose: str) -> Message:
    """The message of ``message_id``; ``purpose`` as in "message to edit not found"."""
    if not params.text("message_id"):
        raise bad("message identifier is not specified")
    message = chat.messages.get(params.integer("message_id"))
    if message is None:
        raise bad(f"message to {purpose} not found")
    return message


def quoted_by(chat: Chat, params: Params) -> Message | None:
    """The message replied to, None without one, or where it is gone and the call may go without."""
    reply = params.parsed("reply_parameters", "reply parameters")
    if reply is None and "reply_to_message_id" in params:
        reply = {"message_id": params.integer("reply_to_message_id")}
        reply["allow_sending_without_reply"] = params.flag("allow_sending_without_reply")
    if reply is None:
        return None
    if not isinstance(reply, dict) or not isinstance(reply.get("message_id"), int):
        raise bad("can't parse ReplyParameters: Can't find field \"message_id\"")
    message = chat.messages.get(reply["message_id"])
    if message is None and not reply.get("allow_sending_without_reply"):
        raise bad("message to be replied not found")
    return message
