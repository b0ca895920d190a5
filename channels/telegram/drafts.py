"""Answers that are not complete yet as Telegram's drafts: previews in private chats, seen for half a minute, no messages."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from bot.core.errors import (
    ChannelError,
    ChannelUnreachable,
    ChatClosed,
    FleetingRefused,
    RateLimited,
    Unauthorised,
)
from bot.core.view import Part, Ref
from channels.telegram.content import content_of
from channels.telegram.wire import UnknownCall

log = logging.getLogger(__name__)

METHOD: Final = "sendMessageDraft"
SECONDS: Final = 30.0
"""How long a draft is seen after it was last sent (Bot API, sendMessageDraft)."""


class Drafts:
    """``on`` until the first refusal: a server that is too old for drafts is so for all chats."""

    def __init__(self, name: str, *, on: bool) -> None:
        self._name, self.on = name, on

    async def push(self, part: Part, call: Callable[..., Awaitable[object]]) -> Ref:
        """Show the part by ``call``, which takes a method and its parameters. Raises ``FleetingRefused`` where Telegram
        will not show it, and what ``call`` raises for other reasons."""
        if not self.on:
            raise FleetingRefused("Telegram shows no drafts.")
        params = draft_of(part)
        try:
            await call(METHOD, **params)
        except (RateLimited, ChatClosed, Unauthorised):
            raise
        except ChannelError as error:
            if isinstance(error, ChannelUnreachable) and not isinstance(error, UnknownCall):
                raise
            if self.on:
                log.warning("%s shows no drafts, so answers are shown by edits from now on: %s", self._name, error)
            self.on = False
            raise FleetingRefused("Telegram shows no drafts.") from None
        return Ref(f"draft {params['draft_id']}")


def draft_of(part: Part) -> dict[str, Any]:
    """What a draft shows, as parameters. It has no buttons but a Stop of its own; what was stopped stays in sight until
    the message that takes its place."""
    shown = {key: value for key, value in content_of(part).items() if key in ("text", "entities")}
    stops = any(button.payload.endswith(":stop") for button in part.buttons)
    return {"draft_id": draft_id(part.nonce), **shown, "can_stop": stops, "keep_on_stop": stops}


def draft_id(nonce: str) -> int:
    """Telegram animates what changes under one id, which is not 0."""
    return int.from_bytes(hashlib.sha256(nonce.encode()).digest()[:4], "big") // 4 + 1
