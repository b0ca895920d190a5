"""The methods of the Bot API that the simulator knows, by name; any other is not found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.sim.telegram.account import (
    answer_callback_query,
    delete_my_commands,
    delete_webhook,
    get_chat,
    get_chat_member,
    get_file,
    get_me,
    get_my_commands,
    get_webhook_info,
    leave_chat,
    set_my_commands,
    set_webhook,
)
from tests.sim.telegram.bodies import Params
from tests.sim.telegram.messages import (
    delete_message,
    edit_message_reply_markup,
    edit_message_text,
    send_chat_action,
    send_document,
    send_message,
    send_message_draft,
    send_photo,
    set_message_reaction,
)
from tests.sim.telegram.world import World

Method = Callable[[World, Params, Callable[[str], None]], Any]


METHODS: dict[str, tuple[str, Method]] = {
    name.lower(): (name, method)
    for name, method in {
        "sendMessage": send_message,
        "editMessageText": edit_message_text,
        "editMessageReplyMarkup": edit_message_reply_markup,
        "deleteMessage": delete_message,
        "sendChatAction": send_chat_action,
        "sendDocument": send_document,
        "sendPhoto": send_photo,
        "sendMessageDraft": send_message_draft,
        "setMessageReaction": set_message_reaction,
        "answerCallbackQuery": answer_callback_query,
        "getMe": get_me,
        "setMyCommands": set_my_commands,
        "getMyCommands": get_my_commands,
        "deleteMyCommands": delete_my_commands,
        "setWebhook": set_webhook,
        "deleteWebhook": delete_webhook,
        "getWebhookInfo": get_webhook_info,
        "getFile": get_file,
        "getChat": get_chat,
        "getChatMember": get_chat_member,
        "leaveChat": leave_chat,
    }.items()
}
"""By lower-case name: the server does not mind the case."""
