"""Discord knows a nonce for a few minutes: what was perhaps sent longer ago is looked for before it goes again."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from bot.core.errors import ChannelError, ChannelUnreachable, RateLimited, StoreError, Unauthorised
from bot.core.ports import Clock, Notes
from channels.discord.places import snowflake
from channels.discord.rest import Rest

log = logging.getLogger(__name__)

NOTE: Final = "sending"
NONCE_SECONDS: Final = 120.0
"""For so long a repeated send is surely the same message ("the past few minutes", discord-api-docs, create message)."""
SKEW_SECONDS: Final = 30.0
OLDEST_SECONDS: Final = 7 * 86_400.0
LOOKED_AT: Final = 100
"""So many of the latest messages, as many as one call tells."""
KEPT: Final = 200
KNOWN_KEPT: Final = 5000
LOOKS_KEPT: Final = 8


@dataclass(frozen=True, slots=True)
class _Sending:
    """``at`` is the Unix time of the first attempt of which nothing was heard, ``after`` an id that was given before it,
    ``looks`` what each attempt looked like."""

    at: float
    after: int
    looks: tuple[str, ...]


class Traces:
    """By nonce: written down before a message is sent, so that a later process knows of it as well. Of what was accepted or
    certainly refused since, nothing has to be known any more."""

    def __init__(self, rest: Rest, notes: Notes, clock: Clock) -> None:
        self._rest, self._notes, self._clock = rest, notes, clock
        self._open: OrderedDict[str, _Sending] | None = None
        self._known: OrderedDict[str, None] = OrderedDict()
        self._me = ""
        self._newest = 0

    async def lost(self, chat: str, nonce: str) -> str:
        """The id of the message that an earlier attempt, too old for its nonce, has left in this channel; "" where there is
        none. Raises ``ChannelError``."""
        sending = (await self._loaded()).get(nonce)
        if sending is None or self._clock.now() - sending.at < NONCE_SECONDS:
            return ""
        try:
            self._me = self._me or str((await self._rest.call("GET", "/users/@me")).get("id"))
            path = f"/channels/{chat}/messages?limit={LOOKED_AT}"
            latest = await self._rest.call("GET", path, bucket=f"history {chat}")
        except ChannelUnreachable as error:  # only asked
            raise ChannelUnreachable(str(error), maybe_done=False) from None
        except (RateLimited, Unauthorised):
            raise
        except ChannelError as error:
            log.warning("whether a message was sent to %s cannot be looked up: %s", chat, error)
            return ""
        fitting = [int(raw["id"]) for raw in latest or () if self._fits(raw, nonce, sending)]
        if fitting:
            log.info("a message to %s had arrived, and is gone on with", chat)
        return str(max(fitting)) if fitting else ""

    def _fits(self, raw: Mapping[str, Any], nonce: str, sending: _Sending) -> bool:
        if (raw.get("author") or {}).get("id") != self._me or raw["id"] in self._known:
            return False
        if int(raw["id"]) <= sending.after:
            return False
        if raw.get("nonce") is not None:
            return str(raw["nonce"]) == nonce
        files = [str(file.get("size")) for file in raw.get("attachments") or ()]
        return looks(str(raw.get("content") or ""), *files) in sending.looks

    async def begin(self, nonce: str, look: str) -> bool:
        """Before it is sent. Whether an earlier attempt may have arrived."""
        open_, now = await self._loaded(), self._clock.now()
        before = open_.pop(nonce, None)
        if before is None:
            before = _Sending(now, self._newest or snowflake(now - SKEW_SECONDS), ())
        open_[nonce] = replace(before, looks=(*before.looks, look)[-LOOKS_KEPT:])
        while len(open_) > KEPT or next(iter(open_.values())).at < now - OLDEST_SECONDS:
            open_.popitem(last=False)
        try:
            told = {one: [sending.at, sending.after, *sending.looks] for one, sending in open_.items()}
            await self._notes.write(NOTE, json.dumps(told))
        except StoreError as error:
            log.warning("a restart would not know what was being sent: %s", error)
        return bool(before.looks)

    def over(self, nonce: str, message_id: str = "") -> None:
        """It stands under this id, or certainly does not stand."""
        if self._open is not None:
            self._open.pop(nonce, None)
        if message_id:
            self._known[message_id] = None
            self._newest = max(self._newest, int(message_id))
            if len(self._known) > KNOWN_KEPT:
                self._known.popitem(last=False)

    async def _loaded(self) -> OrderedDict[str, _Sending]:
        if self._open is None:
            told = _read(await self._notes.read(NOTE))
            if self._open is None:  # two may have looked at once
                self._open = told
        return self._open


def looks(text: str, *files: str) -> str:
    """A message as it is recognised: by its text, and by the sizes of its files."""
    return hashlib.sha256("\0".join((text.strip(), *files)).encode()).hexdigest()[:24]


def _read(told: str | None) -> OrderedDict[str, _Sending]:
    try:
        noted = json.loads(told or "{}")
        return OrderedDict(
            (str(nonce), _Sending(float(at), int(after), tuple(map(str, found))))
            for nonce, (at, after, *found) in noted.items()
        )
    except (ValueError, TypeError, AttributeError):
        log.warning("the note of what was being sent cannot be read")
        return OrderedDict()
