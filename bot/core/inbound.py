"""What a channel delivers. Every inbound carries the platform's own id, which is what de-duplicates it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.core.address import Address, Sender
from bot.core.model import Message
from bot.core.tool import ToolSpec


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file that still lies on the platform; ``Channel.fetch`` gets its bytes. ``spoken``: its sender recorded it in the
    chat, in place of writing."""

    channel: str
    id: str
    name: str
    media_type: str
    size_bytes: int | None = None
    spoken: bool = False


@dataclass(frozen=True, slots=True)
class Quote:
    """A message that was replied to or forwarded. Its text and its files are from outside, whoever sent them on. A message
    with several in it has them in one, their texts one below the other."""

    text: str
    author: str = ""
    message_id: str = ""
    forwarded: bool = False
    files: tuple[FileRef, ...] = ()


@dataclass(frozen=True, slots=True)
class CallerRequest:
    """What an API client brings for one turn: its own history, its tools and its wishes about the model.

    ``model`` is the client's text ("" leaves the choice to the route). Calls of ``tools`` end the turn and are handed back.
    """

    history: tuple[Message, ...] = ()
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    model: str = ""
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class UserMessage:
    """Somebody wrote. ``id`` is unique per address; ``direct`` is a one-to-one chat; ``addressed`` means the bot was meant.
    ``places`` are other ids by which a group may have been allowed: its guild's, its thread's, the one it had before the
    platform gave it another. ``again`` is the turn whose answer this asks for once more.
    ``fragment`` names what this is a piece of (an album, a long text that the platform took apart): pieces of one name
    are one message."""

    id: str
    address: Address
    sender: Sender
    text: str
    sent_at: float
    direct: bool = True
    addressed: bool = True
    files: tuple[FileRef, ...] = ()
    quote: Quote | None = None
    caller: CallerRequest | None = None
    places: tuple[str, ...] = ()
    again: str = ""
    fragment: str = ""
    kind: Literal["message"] = "message"

    @property
    def all_files(self) -> tuple[FileRef, ...]:
        """Its own, and behind them those of what it quotes."""
        return (*self.files, *(self.quote.files if self.quote is not None else ()))


@dataclass(frozen=True, slots=True)
class MessageEdited:
    """The person changed the message ``message_id``; ``text`` is its new text. ``id`` begins with ``message_id`` and a dot."""

    id: str
    address: Address
    sender: Sender
    message_id: str
    text: str
    sent_at: float
    kind: Literal["edited"] = "edited"


@dataclass(frozen=True, slots=True)
class MessageDeleted:
    """The message ``message_id`` is gone, whose ever it was. ``id`` begins with ``message_id`` and a dot."""

    id: str
    address: Address
    message_id: str
    sent_at: float
    kind: Literal["deleted"] = "deleted"


@dataclass(frozen=True, slots=True)
class ButtonPress:
    """``payload`` is ``b:<id>:<verb>``. ``token`` is what the platform wants back with the answer ("" if nothing)."""

    id: str
    address: Address
    sender: Sender
    payload: str
    sent_at: float
    token: str = ""
    kind: Literal["press"] = "press"


@dataclass(frozen=True, slots=True)
class StopPressed:
    """A platform's own Stop (Telegram drafts, Slack sessions, the page's button, a closed API connection)."""

    id: str
    address: Address
    sender: Sender
    sent_at: float
    kind: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True)
class Reaction:
    id: str
    address: Address
    sender: Sender
    message_id: str
    emoji: str
    added: bool
    sent_at: float
    kind: Literal["reaction"] = "reaction"


@dataclass(frozen=True, slots=True)
class Joined:
    """``sender`` (whose id is "" where the platform does not tell) added the bot to a group called ``title``. ``group`` is
    the id under which it may be allowed, ``address`` where the bot would say hello."""

    id: str
    address: Address
    sender: Sender
    group: str
    title: str
    sent_at: float
    kind: Literal["joined"] = "joined"


Inbound = UserMessage | MessageEdited | MessageDeleted | ButtonPress | StopPressed | Reaction | Joined


@dataclass(frozen=True, slots=True)
class Receipt:
    """What ``receive`` returns once an inbound is stored.

    ``turn`` is the turn that will answer ("" when none will), ``duplicate`` that this id had been stored before and, for
    all but messages to be answered, dealt with,
    ``refused`` the sentence for the person when the inbound was turned away ("" otherwise).
    """

    turn: str = ""
    duplicate: bool = False
    refused: str = ""
