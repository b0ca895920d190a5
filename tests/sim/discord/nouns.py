"""The words of the simulator: people, guilds, channels, messages, what is visible, and calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.sim.discord.refusals import Json

TEXT, DM, NEWS, NEWS_THREAD, PUBLIC_THREAD, PRIVATE_THREAD, FORUM = 0, 1, 5, 10, 11, 12, 15
THREADS = frozenset({NEWS_THREAD, PUBLIC_THREAD, PRIVATE_THREAD})
DEFAULT, THREAD_CREATED, REPLY, CHAT_INPUT_COMMAND, THREAD_STARTER = 0, 18, 19, 20, 21
CHATTY = frozenset({DEFAULT, REPLY, CHAT_INPUT_COMMAND, 23})
"""The types of message that somebody wrote; all others are the system's."""
SUPPRESS_EMBEDS, HAS_THREAD, EPHEMERAL, LOADING, SILENT, VOICE_MESSAGE, V2 = 4, 32, 64, 128, 4096, 8192, 32768
EPOCH_MS = 1_420_070_400_000
LOCALES = {"en": "en-US", "zh": "zh-CN", "es": "es-ES", "pt": "pt-BR", "sv": "sv-SE"}


class Snowflakes:
    """Ids that grow with time: milliseconds since 2015 above 22 bits of counter."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now, self._last = now, 0

    def next(self) -> int:
        self._last = max(self._last + 1, (int(self._now() * 1000) - EPOCH_MS) << 22)
        return self._last


@dataclass(frozen=True, slots=True)
class Person:
    """Who writes: a person, another bot, or a webhook. ``language`` as in "en" or "zh-CN"."""

    id: int
    name: str
    language: str = "en"
    bot: bool = False
    webhook: bool = False

    @property
    def locale(self) -> str:
        return LOCALES.get(self.language, self.language or "en-US")

    def to_json(self) -> Json:
        return {
            "id": str(self.id),
            "username": self.name if self.bot or self.webhook else "".join(self.name.lower().split()),
            "discriminator": "0000" if self.webhook else "4242" if self.bot else "0",
            "global_name": None if self.bot or self.webhook else self.name,
            "avatar": None,
            "bot": self.bot or self.webhook,
            "system": False,
            "public_flags": 0,
            "banner": None,
            "accent_color": None,
            "avatar_decoration_data": None,
            "collectibles": None,
            "primary_guild": None,
        }


@dataclass(slots=True)
class Role:
    id: int
    name: str
    permissions: int
    position: int = 0
    managed: bool = False


@dataclass(slots=True)
class Member:
    person: Person
    joined: float
    roles: list[int] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Guild:
    """``bot_in`` is False once the bot was thrown out."""

    id: int
    name: str
    owner_id: int
    members: dict[int, Member] = field(default_factory=dict, repr=False)
    roles: dict[int, Role] = field(default_factory=dict, repr=False)
    channels: dict[int, Channel] = field(default_factory=dict, repr=False)
    bot_in: bool = True


@dataclass(eq=False, slots=True)
class Channel:
    """A text channel, a DM (``person``), a forum, or a thread (``parent``, ``owner_id``). ``overwrites`` are
    (kind, allow, deny) by the id of a role (kind 0) or a member (kind 1); ``closed`` is a DM that takes nothing."""

    id: int
    type: int
    name: str = ""
    guild: Guild | None = None
    person: Person | None = None
    parent: Channel | None = None
    owner_id: int = 0
    topic: str | None = None
    overwrites: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    members: dict[int, float] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict, repr=False)
    archived: bool = False
    locked: bool = False
    auto_archive: int = 4320
    since: float = 0.0
    closed: bool = False
    require_tag: bool = False
    last_message_id: int | None = None
    sent: int = 0
    typing_until: float = 0.0

    @property
    def is_thread(self) -> bool:
        return self.type in THREADS


@dataclass(slots=True)
class Message:
    """One message. ``pings`` are whom it notified, ``extra`` further fields as the API names them. A message with
    ``only_for`` is ephemeral: that person sees it, and it is in no history."""

    id: int
    channel: Channel
    author: Person
    created: float
    content: str = ""
    type: int = DEFAULT
    flags: int = 0
    embeds: list[Json] = field(default_factory=list)
    components: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    stickers: list[Json] = field(default_factory=list)
    mentions: list[int] = field(default_factory=list)
    mention_roles: list[int] = field(default_factory=list)
    mention_everyone: bool = False
    pings: list[str] = field(default_factory=list)
    reply_to: Message | None = None
    reference: Json | None = None
    reactions: dict[str, list[int]] = field(default_factory=dict)
    nonce: int | str | None = None
    pinned: bool = False
    edited: float | None = None
    edits: int = 0
    only_for: int | None = None
    gone: bool = False
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shown:
    """One message as a person sees it. ``buttons`` are (label, custom_id, style) of those that can be pressed, ``text``
    is everything there is to read, ``mentions`` are the pings it gave, ``thinking`` a deferred answer still open."""

    id: int
    content: str
    text: str
    embeds: tuple[Json, ...]
    components: tuple[Json, ...]
    buttons: tuple[tuple[str, str, int], ...]
    attachments: tuple[Json, ...]
    edits: int
    from_bot: bool
    flags: int
    mentions: tuple[str, ...]
    author: str
    date: float
    type: int
    reply_to: int | None
    reactions: tuple[tuple[str, int], ...]
    thinking: bool
    ephemeral: bool


@dataclass(slots=True)
class Call:
    """One call of the bot. ``route`` is as ``fail`` takes it ("PATCH /channels/{id}/messages/{id}"), ``at`` monotonic
    time; ``status`` 0 while it is under way or when no answer was given; ``answer`` tells a refusal or a fault."""

    method: str
    route: str
    path: str
    channel_id: int | None
    body: Json
    at: float
    status: int = 0
    answer: str = ""


def walk(components: Sequence[Any]) -> list[Json]:
    """All components, each before those inside it."""
    found: list[Json] = []
    for component in components:
        if not isinstance(component, dict):
            continue
        found.append(component)
        inner: list[Any] = [*component.get("components", ())]
        inner += [component[name] for name in ("accessory", "component") if isinstance(component.get(name), dict)]
        found += walk(inner)
    return found
