"""Slack knows no idempotent send: a post whose answer was lost is looked for by the mark it carries before it goes again."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from bot.core.address import Address
from bot.core.ports import Clock
from channels.slack.events import stamp
from channels.slack.past import Past
from channels.slack.refusals import Unfit
from channels.slack.wire import Me

log = logging.getLogger(__name__)

EVENT: Final = "bowerbird_part"
KEPT: Final = 5000
LOOKED_AT: Final = 30
"""So many of the latest messages: whatever was lost is among them."""
SKEW_SECONDS: Final = 30.0


def mark(nonce: str) -> dict[str, Any]:
    """The metadata of a message that shows this part."""
    return {"event_type": EVENT, "event_payload": {"part": nonce}}


class Traces:
    """A stream gets its mark only at its end: one without a mark, and that nobody knows, is the one that was lost."""

    def __init__(self, past: Past, clock: Clock) -> None:
        self._past, self._clock = past, clock
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._doubted: OrderedDict[str, float] = OrderedDict()
        self._found: dict[str, str] = {}
        self._missing = ""

    @property
    def is_blind(self) -> bool:
        """The app may not read what was said, so that nothing lost can be found."""
        return self._past.is_closed(self._missing)

    def knows(self, to: Address, ts: str) -> None:
        """A message that stands there for certain."""
        self._known[to.chat, ts] = None
        if len(self._known) > KEPT:
            self._known.popitem(last=False)

    def doubt(self, nonce: str) -> None:
        """A send of this part may have arrived."""
        self._doubted.setdefault(nonce, self._clock.now())
        if len(self._doubted) > KEPT:
            self._doubted.popitem(last=False)

    def doubted(self, nonce: str) -> bool:
        return nonce in self._doubted or nonce in self._found

    def forget(self, nonce: str) -> None:
        """The part stands under a reference that its publisher knows, or stands no more."""
        self._doubted.pop(nonce, None)
        self._found.pop(nonce, None)

    async def find(self, to: Address, nonce: str, me: Me) -> str | None:
        """The ts of what an earlier attempt, perhaps of an earlier process, left of this part. Raises ``ChannelError``."""
        if self.is_blind or nonce in self._found:
            return self._found.get(nonce)
        try:
            latest = await self._past.latest(to.chat, to.thread, LOOKED_AT, marks=True)
        except Unfit as error:
            self._missing = error.missing or self._missing
            log.warning("whether a message was sent cannot be looked up: %s", error)
            return None
        fitting = [raw for raw in latest if self._fits(raw, to, nonce, me)]
        self._doubted.pop(nonce, None)
        if not fitting:
            return None
        log.info("a message to %s had arrived, and is gone on with", to)
        self._found[nonce] = str(fitting[-1]["ts"])
        return self._found[nonce]

    def _fits(self, raw: Mapping[str, Any], to: Address, nonce: str, me: Me) -> bool:
        if not (raw.get("user") == me.user or (me.bot and raw.get("bot_id") == me.bot)):
            return False
        metadata = raw.get("metadata")
        if isinstance(metadata, Mapping) and metadata.get("event_type") == EVENT:
            payload = metadata.get("event_payload")
            return isinstance(payload, Mapping) and payload.get("part") == nonce
        ts = str(raw.get("ts") or "")
        if (to.chat, ts) in self._known or raw.get("files"):  # a file has an id of its own, by which it is found
            return False
        since = self._doubted.get(nonce)
        return "streaming_state" in raw or (since is not None and stamp(ts)[0] >= since - SKEW_SECONDS)
