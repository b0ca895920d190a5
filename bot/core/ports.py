"""The seams: what the core asks of channels, vendors, tools, clocks and stores. Contracts are in the docstrings."""

from __future__ import annotations

import enum
from array import array
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from bot.core.address import Address, Sender
from bot.core.errors import ChannelError, StoreError
from bot.core.http import Http
from bot.core.inbound import ButtonPress, FileRef, Inbound, Receipt, UserMessage
from bot.core.model import Audio, ModelEvent, ModelRef, ModelRequest, Transcript
from bot.core.tool import ToolContext, ToolResult, ToolSpec
from bot.core.transcript import Row
from bot.core.view import Limits, OutFile, Part, Ref, Rendered


class Clock(Protocol):
    """Time as a parameter, so that tests never sleep."""

    def now(self) -> float:
        """Unix time in seconds."""
        ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Receive(Protocol):
    """Hand an inbound to the house. Returns once it is stored (or refused): only then may the platform be told.

    Raises ``StoreError`` when it could not be stored: the channel must then not acknowledge.
    """

    async def __call__(self, inbound: Inbound) -> Receipt: ...


class CallKind(enum.IntEnum):
    """What an outgoing platform call is for, dearest first: the governor gives way in the opposite order."""

    ANSWER = 0
    FINAL = 1
    PREVIEW = 2
    TYPING = 3


class Governor(Protocol):
    """The one place where platform rates are kept. Keys are addresses; the account is ``channel:account``. ``edit``: the
    call changes a message that is there, which some platforms count apart."""

    def has_room(self, to: Address, kind: CallKind, *, edit: bool = False) -> bool:
        """Whether ``room`` would return at once."""
        ...

    async def room(self, to: Address, kind: CallKind, *, edit: bool = False) -> None:
        """Wait until a call of this kind would be let through at once; takes nothing."""
        ...

    def call(self, to: Address, kind: CallKind, *, edit: bool = False) -> AbstractAsyncContextManager[None]:
        """Hold one platform call. Waits for its turn; a ``RateLimited`` that leaves the block is kept in full."""
        ...

    def silence(self, to: Address, seconds: float) -> None:
        """Keep a wait that is known of otherwise: an earlier process was told of it. It is no refusal of a call."""
        ...


class Channel(Protocol):
    """One platform. ``name`` is the key under ``channels:`` in the config."""

    name: str

    @property
    def limits(self) -> Limits: ...

    @property
    def connected(self) -> bool:
        """True while inbound messages would arrive."""
        ...

    def render(self, markdown: str) -> Rendered:
        """Pure and total: any text renders; paging measures the result."""
        ...

    async def run(self, receive: Receive) -> None:
        """Until cancelled; closes within 3 s. Every call it makes asks the governor."""
        ...

    async def show(self, to: Address, ref: Ref | None, part: Part) -> Ref:
        """Make the platform message equal the part: send when ``ref`` is None, else edit. Idempotent."""
        ...

    async def remove(self, to: Address, ref: Ref) -> None: ...

    async def answer(self, press: ButtonPress, notice: str) -> None:
        """Tell the presser within the platform's deadline; a late or repeated answer is not an error."""
        ...

    async def fetch(self, file: FileRef) -> bytes:
        """Bounded; raises ``ChannelError`` when the file is too large or gone."""
        ...

    async def history(self, of: Address, limit: int) -> Sequence[Inbound]:
        """The newest ``limit`` messages where the platform can tell, else nothing; before them, oldest first as well, what a
        thread is called and what it hangs on."""
        ...


class Sending(Protocol):
    """A channel that shows files as messages of their own. A structured one shows the view's files by itself."""

    async def send_file(self, to: Address, file: OutFile, nonce: str) -> Ref:
        """Asks the governor. ``nonce`` is the same for the same file across restarts. Raises ``ChannelError``; what the
        platform will not take, however often it is tried, as any other than ``RateLimited`` and ``ChannelUnreachable``."""
        ...


class SendingTogether(Sending, Protocol):
    """A channel whose messages can be several files."""

    async def send_files(self, to: Address, files: Sequence[tuple[OutFile, str]]) -> Sequence[Ref | ChannelError]:
        """As ``send_file``, each file with its nonce. What became of those that were dealt with, from the first on: one that
        cannot be sent is the last of them. Where it raises that they are refused, they may be taken one by one."""
        ...


class Unbuttoning(Protocol):
    """A channel that can take the buttons from a message whose words stay."""

    async def unbutton(self, to: Address, ref: Ref, part: Part) -> None:
        """``part`` is what the message shows. Asks the governor as for a sign of life: no text waits for it. Raises
        ``ChannelError``; a message that is gone is none."""
        ...


class Titled(Protocol):
    """A channel that knows what its groups are called."""

    async def title(self, of: Address) -> str:
        """ "" where it is called nothing. Raises ``ChannelError``."""
        ...


AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]


class Serve(Protocol):
    """Answer HTTP by ``app`` on a port of a channel's own, for as long as the context is open."""

    def __call__(self, app: AsgiApp, host: str, port: int, key: str) -> AbstractAsyncContextManager[object]:
        """Entering raises ``ConfigError`` where the port cannot be had; ``key`` is the section that named it."""
        ...


def no_ports(app: AsgiApp, host: str, port: int, key: str) -> AbstractAsyncContextManager[object]:
    """Implements ``Serve`` where no channel has a port of its own."""
    raise NotImplementedError


class Mounted(Protocol):
    """A channel that also answers HTTP: ``bot.web`` serves ``app`` for every path that it does not own itself."""

    @property
    def app(self) -> AsgiApp: ...


@dataclass(frozen=True, slots=True)
class Progress:
    """When a channel last gave a sign of life: ``at`` in the clock's monotonic seconds; it hangs ``stale_after`` seconds later.

    A sign of life is whatever a hanging adapter could not do: to hear from its platform (an empty poll, a heartbeat, a
    refusal) and also to *begin* another attempt to reach it. So a wrong token, a network that is down and a platform
    that says no never make a channel stale, since no restart would mend them; silence without attempts does.
    ``stale_after`` is longer than everything the adapter may wait for between two signs: a long poll with its time
    limit, the longest back-off, a ``retry_after``. Where that is unknown beforehand, ``progress`` is None meanwhile.
    """

    at: float
    stale_after: float


class Progressing(Protocol):
    """A channel that has something to hang on. One without this attribute lives as long as the event loop answers."""

    @property
    def progress(self) -> Progress | None:
        """None while nothing is due."""
        ...


class Troubled(Protocol):
    """A channel that can be connected and yet not do all it should: a permission is missing that only an owner can give."""

    def trouble(self, language: str) -> str:
        """What is wrong and how to mend it; "" while nothing is."""
        ...


class Provider(Protocol):
    """One model vendor."""

    def stream(self, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[ModelEvent]]:
        """Entering connects; iterating yields events and ends with ``ModelStop``, or raises ``ProviderError``.

        Leaving the context (also by cancellation) closes the connection, which is what stops the vendor's meter.
        """
        ...

    async def aclose(self) -> None: ...


@runtime_checkable
class Transcribing(Protocol):
    """A provider that also writes down what was said."""

    async def transcribe(self, model: ModelRef, audio: Audio) -> Transcript:
        """Raises ``ProviderError``."""
        ...


Vector: TypeAlias = "array[float]"
"""A text as a model sees it: single floats (``array("f")``), of length 1."""


class Embedder(Protocol):
    """Texts to vectors, so that near ones mean about the same. ``name`` says whose they are: vectors of two models are
    not to be compared."""

    @property
    def name(self) -> str: ...

    def ready(self) -> bool:
        """Whether it would answer at once. One that must be loaded first begins with that now, beside."""
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One for each text, in order; of a long text the beginning counts. Raises ``ProviderError`` where a vendor
        makes them."""
        ...

    async def aclose(self) -> None: ...


class Tool(Protocol):
    @property
    def spec(self) -> ToolSpec: ...

    def check(self, args: Mapping[str, Any]) -> str:
        """ "" when the arguments fit, else what is wrong with them, in words that the model can learn from."""
        ...

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Raises ``ToolFailed`` for what the model should read; anything else is a defect."""
        ...


@dataclass(frozen=True, slots=True)
class ChatSummary:
    """One line of a list of chats: ``title`` is the start of its first message."""

    address: Address
    title: str
    last_at: float


class Archive(Protocol):
    """What a channel may read of the past, so that a page or a terminal can show it."""

    async def chats(self, channel: str, account: str, limit: int) -> Sequence[ChatSummary]: ...

    async def rows(self, address: Address, limit: int) -> Sequence[Row]:
        """The newest ``limit`` rows, oldest first."""
        ...

    async def turn_rows(self, turn: str) -> Sequence[Row]:
        """All rows of one turn, in order."""
        ...


class Notes(Protocol):
    """A channel's own durable notes (offsets, cursors), by key."""

    async def read(self, key: str) -> str | None: ...

    async def write(self, key: str, value: str) -> None: ...


class Shelf(Protocol):
    """Files in the data folder, each once under the hash of its content. Paths are below that folder."""

    def arrivals(self) -> Path:
        """A folder on the same disk for what is still on its way. Raises ``StoreError`` where it cannot be made."""
        ...

    async def keep(self, content: bytes) -> str:
        """The path under which the content is on the disk from now on. Raises ``StoreError``."""
        ...

    async def adopt(self, arrived: Path, digest: str) -> str | None:
        """The same for a file in ``arrivals``, whose SHA-256 is ``digest``: it is moved. Where it was moved before, the
        path it has; None where neither is there. Raises ``StoreError``."""
        ...

    async def read(self, path: str) -> bytes | None:
        """None for a file that is no longer there, and for what is no path of one."""
        ...

    def place(self, path: str) -> Path | None:
        """Where a kept file lies; None for what is no path of one."""
        ...


class NoShelf:
    """Implements ``Shelf`` where nothing can be kept."""

    def arrivals(self) -> Path:
        raise StoreError("There is no folder for files here.")

    async def keep(self, content: bytes) -> str:
        raise StoreError("There is no folder for files here.")

    async def adopt(self, arrived: Path, digest: str) -> str | None:
        return None

    async def read(self, path: str) -> bytes | None:
        return None

    def place(self, path: str) -> Path | None:
        return None


class Control(Protocol):
    """What the command line may ask of a running daemon."""

    async def status(self) -> Mapping[str, Any]: ...


async def nobody_waits() -> Sequence[UserMessage]:
    return ()


@dataclass(frozen=True, slots=True)
class ChannelKit:
    """What a channel is built with, beside its own config. ``http`` is the daemon's own: not the channel's to close.
    ``shelf`` is where files are kept, ``unanswered`` the channel's messages whose turns are not over, oldest first (raises
    ``StoreError``)."""

    governor: Governor
    clock: Clock
    http: Http
    archive: Archive
    notes: Notes
    name: str
    account: str
    language: str
    about: Callable[[], Mapping[str, Any]]
    serve: Serve = no_ports
    shelf: Shelf = field(default_factory=NoShelf)
    unanswered: Callable[[], Awaitable[Sequence[UserMessage]]] = nobody_waits


OWNER_ID = "owner"
"""The id of somebody whom the adapter itself has proven to be an owner; no platform gives out such an id."""


def owner_of(channel: str) -> Sender:
    """The person at a loopback page or a terminal: an owner by being there."""
    return Sender(channel=channel, id=OWNER_ID, name="Owner")
