"""The error tree. Policy sits on the class; vendors' errors are translated into it at the edge that meets them.

BowerbirdError
├── ConfigError                 wrong configuration: file, line, key (exit status 78)
├── AlreadyRunning              another daemon owns the data folder
├── StoreError                  what outlives the process cannot be written or read
│   ├── StoreFull               no room left on the disk
│   ├── StoreBusy               another program holds the file
│   ├── StoreReadOnly           the folder or the file cannot be written
│   └── StoreDamaged            the file is not a sound database
├── TransportError              the network, below any vendor (`sent`: the request may have arrived)
│   └── TransportTimeout
├── ChannelError                a platform refused or could not be reached
│   ├── RateLimited             wait `retry_after` seconds, in full
│   ├── FormatRefused           the markup was refused; once more as plain text
│   ├── TooLong                 longer than the platform takes
│   ├── FileUnreadable          a file that is to be sent is gone, or there is nothing in it
│   ├── MessageGone             the message to be edited no longer exists
│   ├── FleetingRefused         nothing fleeting can be shown there; as a message from now on
│   ├── ChatClosed              blocked, kicked, or not allowed to write there
│   ├── Unauthorised            the token is not accepted
│   └── ChannelUnreachable      no answer; the call may have had its effect (`maybe_done`)
├── ProviderError               a model call failed (`retryable`: the same model may work; `next_model`: another may)
│   ├── KeyRefused              401
│   │   └── ModelForbidden      403: the key is good, but not for this model
│   ├── NoCredit                402, spent quota
│   ├── ModelMissing            404
│   │   └── ModelNotHere        the weights of the embedded model are not on this machine
│   ├── RequestRefused          400, 422: the request itself is wrong
│   ├── ContextTooLong          the prompt does not fit the window
│   ├── ContentRefused          a content filter: told, never asked again, of no other model either
│   ├── ProviderBusy            429, 503, 529: come back after `retry_after`
│   ├── ProviderFailed          other 5xx, an error event inside the stream
│   ├── ProviderUnreachable     no connection
│   ├── StreamStalled           silence on an open stream
│   ├── StreamCut               the stream ended without saying why
│   ├── StreamGarbled           the stream was not what the vendor documents
│   └── ModelResting            not asked at all: it failed just now, or its key is parked (`cause`, `until`)
├── StructuredFailed            a model gave no usable object, though it was shown its mistake
└── ToolFailed                  a tool's own failure, in words for the model
"""

from __future__ import annotations

from typing import ClassVar


class BowerbirdError(Exception):
    """``str()`` is a sentence for the person who can act on it; it never holds a secret, a prompt or a traceback."""

    exit_status: ClassVar[int] = 1


class ConfigError(BowerbirdError):
    """``where`` is ``file:line``, ``key`` the dotted path as a person would write it."""

    exit_status = 78

    def __init__(self, message: str, *, file: str = "", line: int | None = None, key: str = "") -> None:
        where = f"{file}:{line}" if file and line else file
        super().__init__(": ".join(part for part in (where, key, message) if part))
        self.file, self.line, self.key, self.message = file, line, key, message


class AlreadyRunning(BowerbirdError):
    pass


class StoreError(BowerbirdError):
    pass


class StoreFull(StoreError):
    pass


class StoreBusy(StoreError):
    pass


class StoreReadOnly(StoreError):
    pass


class StoreDamaged(StoreError):
    pass


class TransportError(BowerbirdError):
    """``sent``: the request may have reached the server, so its effect is unknown."""

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent


class TransportTimeout(TransportError):
    pass


class ChannelError(BowerbirdError):
    pass


class RateLimited(ChannelError):
    """``retry_after`` in seconds. ``everywhere``: the platform punishes the whole account, not this chat alone."""

    def __init__(self, message: str, retry_after: float, *, everywhere: bool = False) -> None:
        super().__init__(message)
        self.retry_after, self.everywhere = retry_after, everywhere


class FormatRefused(ChannelError):
    pass


class TooLong(ChannelError):
    pass


class FileUnreadable(ChannelError):
    pass


class MessageGone(ChannelError):
    pass


class FleetingRefused(ChannelError):
    pass


class ChatClosed(ChannelError):
    pass


class Unauthorised(ChannelError):
    pass


class ChannelUnreachable(ChannelError):
    """``maybe_done``: the request left, so its effect is unknown."""

    def __init__(self, message: str, *, maybe_done: bool) -> None:
        super().__init__(message)
        self.maybe_done = maybe_done


class ProviderError(BowerbirdError):
    """``detail`` goes to the log (redacted), never to a chat. ``retry_after`` in seconds is the vendor's own wish.

    On its way up the error learns more: ``attempt``, how often the step has asked its model by now (0: not known), and
    ``until`` (Unix time), before which the model will not be asked again (None: nothing keeps it from being asked).
    """

    retryable: ClassVar[bool] = False
    next_model: ClassVar[bool] = True

    def __init__(self, message: str, *, detail: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.detail, self.retry_after = detail, retry_after
        self.attempt = 0
        self.until: float | None = None


class KeyRefused(ProviderError):
    pass


class ModelForbidden(KeyRefused):
    pass


class NoCredit(ProviderError):
    pass


class ModelMissing(ProviderError):
    pass


class ModelNotHere(ModelMissing):
    pass


class RequestRefused(ProviderError):
    pass


class ContextTooLong(ProviderError):
    pass


class ContentRefused(ProviderError):
    next_model = False


class ProviderBusy(ProviderError):
    retryable = True


class ProviderFailed(ProviderError):
    retryable = True


class ProviderUnreachable(ProviderError):
    retryable = True


class StreamStalled(ProviderError):
    retryable = True


class StreamCut(ProviderError):
    retryable = True


class StreamGarbled(ProviderError):
    retryable = True


class ModelResting(ProviderError):
    """``cause`` is what the model met last. ``parked``: the owner has to mend that, time alone does not. ``yields``: the
    rest is our own caution, so that it is asked after all where nobody else answers (``ModelRequest.insist``)."""

    def __init__(
        self, message: str, cause: ProviderError, until: float, *, parked: bool = False, yields: bool = False
    ) -> None:
        super().__init__(message, detail=cause.detail)
        self.cause, self.until, self.parked, self.yields = cause, until, parked, yields


class StructuredFailed(BowerbirdError):
    """``cause`` is what kept the model from answering, None where it answered and nothing could be made of that."""

    def __init__(self, message: str, cause: ProviderError | None = None) -> None:
        super().__init__(message)
        self.cause = cause


class ToolFailed(BowerbirdError):
    pass
