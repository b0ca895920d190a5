"""The words of the simulator: people, channels, messages, what is visible, calls, and how the Web API says no."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Json = dict[str, Any]
Kind = Literal["im", "mpim", "channel", "group"]
StreamState = Literal["", "open", "stopped", "stopped_by_user"]

TEAM = "T0SIM"
APP = "A0BOWER"
BOT_USER = "U0BOWER"
BOT_ID = "B0BOWER"
DOMAIN = "simworkspace"


class Refused(Exception):
    """An answer that is not ok: ``error`` is Slack's name for it, ``fields`` what else the body carries. Slack answers
    errors with status 200; 429 is a real status, with ``retry_after`` seconds in its header."""

    def __init__(self, error: str, *messages: str, status: int = 200, retry_after: int = 0, **fields: Any) -> None:
        super().__init__(error)
        self.error, self.status, self.retry_after = error, status, retry_after
        self.fields: Json = {**fields, "response_metadata": {"messages": list(messages)}} if messages else fields

    def body(self) -> Json:
        return {"ok": False, "error": self.error, **self.fields}


def missing(name: str) -> Refused:
    return Refused("invalid_arguments", f"[ERROR] missing required field: {name}")


def ratelimited(seconds: int) -> Refused:
    return Refused("ratelimited", status=429, retry_after=seconds)


@dataclass(frozen=True, slots=True)
class Person:
    """A member of the workspace. ``bot_id`` and ``app_id`` belong to other apps' bots."""

    id: str
    name: str
    language: str = "en-US"
    bot_id: str = ""
    app_id: str = ""

    @property
    def is_bot(self) -> bool:
        return bool(self.bot_id)


class SocketCount(NamedTuple):
    """Connections of Socket Mode: ``open`` now, ``opened`` in all."""

    open: int
    opened: int


@dataclass(frozen=True, slots=True)
class Button:
    label: str
    action_id: str
    value: str
    style: str = ""
    block_id: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A task card, of a stream's ``task_update`` chunks or of a ``task_card`` block."""

    id: str
    title: str
    status: str
    details: str = ""
    output: str = ""


@dataclass(frozen=True, slots=True)
class Ping:
    """What would have notified people: ``<!channel>``, ``<@U…>``, ... in what the bot wrote by ``method``."""

    method: str
    channel: str
    ts: str
    what: str


@dataclass(frozen=True, slots=True)
class Shown:
    """One message as a person sees it. ``text`` is what they read, ``raw`` the text or the streamed Markdown as sent.
    ``broken``: a stream that died and was never updated. ``ephemeral_to`` is the only person who sees it."""

    ts: str
    thread_ts: str | None
    text: str
    raw: str
    blocks: tuple[Json, ...]
    buttons: tuple[Button, ...]
    edits: int
    edited_flag: bool
    streaming: bool
    broken: bool
    from_bot: bool
    user: str
    files: tuple[str, ...] = ()
    cards: tuple[Card, ...] = ()
    plan_title: str = ""
    pings: tuple[str, ...] = ()
    reactions: tuple[tuple[str, str], ...] = ()
    ephemeral_to: str = ""
    unfurl: bool = True

    def button(self, key: str) -> Button:
        """The button of this action id, value or label. LookupError when there is none."""
        for field_ in ("action_id", "value", "label"):
            for button in self.buttons:
                if getattr(button, field_) == key:
                    return button
        raise LookupError(f"no button {key!r} at {self.ts}: {[button.label for button in self.buttons]}")


@dataclass(slots=True)
class Message:
    """One message. ``began`` is the monotonic time at which a stream began, ``mode`` what it was opened with; ``extra``
    are further fields as Slack names them."""

    ts: str
    user: str
    text: str = ""
    thread_ts: str | None = None
    blocks: list[Json] = field(default_factory=list)
    bot_id: str = ""
    app_id: str = ""
    subtype: str = ""
    edited: Json | None = None
    edits: int = 0
    files: list[Json] = field(default_factory=list)
    reactions: dict[str, list[str]] = field(default_factory=dict)
    ephemeral_to: str = ""
    metadata: Json | None = None
    pings: list[str] = field(default_factory=list)
    unfurl: bool = True
    stream: StreamState = ""
    began: float = 0.0
    mode: str = ""
    markdown: str = ""
    chunk_blocks: list[Json] = field(default_factory=list)
    cards: dict[str, Card] = field(default_factory=dict)
    plan_title: str = ""
    died: bool = False
    extra: Json = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Channel:
    """``bot_in``: the bot is a member. ``messages`` are by ts, in order of arrival; ``statuses`` (text, until) and
    ``sessions`` (status, until) by thread."""

    id: str
    kind: Kind
    name: str = ""
    members: dict[str, Person] = field(default_factory=dict)
    bot_in: bool = True
    archived: bool = False
    messages: dict[str, Message] = field(default_factory=dict)
    statuses: dict[str, tuple[str, float]] = field(default_factory=dict)
    sessions: dict[str, tuple[str, float]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    prompts: dict[str, list[Json]] = field(default_factory=dict)

    @property
    def is_dm(self) -> bool:
        return self.kind == "im"

    def replies(self, ts: str) -> list[Message]:
        return [one for one in self.messages.values() if one.thread_ts == ts and one.ts != ts and not one.ephemeral_to]


@dataclass(slots=True)
class Call:
    """One call of the bot. ``at`` is monotonic time; ``status`` is 0 while it is under way or when no answer was given,
    ``ok`` and ``error`` as in the answer's body, or how a fault cut it short."""

    method: str
    channel: str | None
    params: Json
    at: float
    status: int = 0
    ok: bool = False
    error: str = ""
