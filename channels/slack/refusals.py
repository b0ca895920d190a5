"""Slack's refusals in the house's words: one function, and the few kinds that only this channel tells apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from slack_sdk.errors import SlackApiError

from bot.core.errors import (
    ChannelError,
    ChannelUnreachable,
    ChatClosed,
    FormatRefused,
    MessageGone,
    RateLimited,
    TooLong,
    Unauthorised,
)

UNNAMED_WAIT: Final = 30.0
LONGEST_WAIT: Final = 86_400.0

_UNAUTHORISED = (
    "invalid_auth not_authed token_revoked token_expired account_inactive not_allowed_token_type team_access_not_granted"
    " app_uninstalled"
)
_OUTSIDE = "channel_not_found not_in_channel no_permission"
_CLOSED = (
    "is_archived restricted_action restricted_action_read_only_channel posting_to_channel_denied invalid_channel"
    " restricted_action_thread_only_channel restricted_action_non_threadable_channel restricted_action_thread_locked"
    " access_denied ekm_access_denied messages_tab_disabled cannot_dm_bot user_disabled user_not_found"
    " external_channel_migrating as_user_not_supported user_not_in_channel"
)
_GONE = "message_not_found cant_update_message cant_delete_message edit_window_closed message_not_owned_by_app"
_LONG = "msg_too_long msg_blocks_too_long too_many_blocks request_too_large file_upload_size_restricted"
_FORMAT = "invalid_blocks invalid_blocks_format invalid_chunks block_mismatch markdown_text_conflict"
_KIND = "blocked_file_type file_type_not_allowed file_uploads_except_images_disabled"
_NO_FILE = "file_not_found file_deleted"
_OVER = "message_not_in_streaming_state stopped_by_user"
_BROKEN = "internal_error fatal_error service_unavailable request_timeout team_added_to_org internal_failure"
_CODE = re.compile(r"[a-z][a-z0-9_]{0,60}")
_SCOPE = re.compile(r"[a-z][a-z.:_,]{0,80}")


class Hushed(ChannelError):
    """Slack asked to wait with this method, and ``retry_after`` seconds are left: the call was not made. Unlike
    ``RateLimited`` it says nothing about the conversation."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("Slack asked to wait with such calls.")
        self.retry_after = retry_after


class StreamOver(ChannelError):
    """The stream takes nothing more: it was stopped, by whomever, or has died."""


class StillOpen(ChannelError):
    """The message is a stream that has not been stopped."""


class Outside(ChatClosed):
    """The app is no member of the conversation, or never was."""


class ThreadGone(ChatClosed):
    """Its first message is gone, and there are no others."""


class TokenRefused(Unauthorised):
    """``code`` is Slack's name for what is wrong with the token."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class FileGone(ChannelError):
    """Slack knows no such file, or takes an upload only once and has taken this one."""


class Unfit(ChannelError):
    """The call is not for this app, this workspace or this place. ``missing`` is the scope that would mend it, if any."""

    def __init__(self, message: str, missing: str = "") -> None:
        super().__init__(message)
        self.missing = missing


class Lost(Exception):
    """``sent``: the request may have reached the server."""

    def __init__(self, *, sent: bool) -> None:
        super().__init__("no answer")
        self.sent = sent


_KINDS: Final[Mapping[str, tuple[type[ChannelError], str]]] = {
    code: (kind, sentence)
    for codes, kind, sentence in (
        ("thread_not_found", ThreadGone, "There is no such thread any more."),
        ("streaming_state_conflict", StillOpen, "The message is still being streamed."),
        (_OUTSIDE, Outside, "The bot is no member of this conversation."),
        (_CLOSED, ChatClosed, "The bot may not write in this conversation."),
        (_GONE, MessageGone, "The message no longer exists, or can no longer be changed."),
        (_LONG, TooLong, "The message or the file is too long."),
        (_NO_FILE, FileGone, "Slack does not know the file."),
        (_FORMAT, FormatRefused, "The formatting was refused."),
        (_KIND, FormatRefused, "Files of this kind are refused."),
        (_OVER, StreamOver, "The stream is over."),
    )
    for code in codes.split()
}
_TOKEN: Final = frozenset(_UNAUTHORISED.split())
_FAILURES: Final = frozenset(_BROKEN.split())


def translated(error: SlackApiError | Lost) -> ChannelError:
    """What the library raised, as an error of the house. Slack's names of errors and scopes get into it where nothing
    else says what is wrong; no text of Slack's does."""
    if isinstance(error, Lost):
        return ChannelUnreachable("Slack could not be reached.", maybe_done=error.sent)
    response: Any = error.response
    data: Mapping[str, Any] = response.data if isinstance(response.data, dict) else {}
    code = str(data.get("error") or "")
    if code in ("ratelimited", "rate_limited") or response.status_code == 429:
        return RateLimited("Slack asks to wait.", retry_after(response.headers))
    if code in _TOKEN:
        return TokenRefused("Slack does not accept the bot_token.", code)
    if code in _KINDS:
        kind, sentence = _KINDS[code]
        return kind(sentence)
    if code in _FAILURES or response.status_code >= 500:
        return ChannelUnreachable("Slack failed to answer.", maybe_done=True)
    if code == "missing_scope":
        return _missing(str(data.get("needed") or ""))
    return Unfit(f"Slack refused the call ({code})." if _CODE.fullmatch(code) else "Slack refused the call.")


def _missing(needed: str) -> Unfit:
    scope = needed if _SCOPE.fullmatch(needed) else "?"
    return Unfit(
        f"The Slack app lacks the scope {scope}: add it under “OAuth & Permissions” and install the app again.", scope
    )


def retry_after(headers: Mapping[str, Any]) -> float:
    """In seconds, in full."""
    try:
        seconds = float(headers.get("retry-after", UNNAMED_WAIT))
    except (TypeError, ValueError):
        seconds = UNNAMED_WAIT
    return min(max(seconds, 1.0), LONGEST_WAIT)
