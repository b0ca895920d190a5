"""Keeping channels alive: each runs until cancelled, and is started again after every failure."""

from __future__ import annotations

import logging
from typing import Final

from bot.core.errors import BowerbirdError, Unauthorised
from bot.core.ports import Channel, Clock, Receive

log = logging.getLogger(__name__)

FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 60.0
STEADY_SECONDS: Final = 120.0
"""A channel that ran for this long starts again with the first wait."""


async def keep_running(channel: Channel, receive: Receive, clock: Clock) -> None:
    """Until cancelled, or until the platform refuses the token for good. One log line when it goes down."""
    wait = FIRST_WAIT
    while True:
        began = clock.monotonic()
        try:
            await channel.run(receive)
            log.error("the channel %s ended by itself", channel.name)
        except Unauthorised as error:
            log.error("the channel %s is off until the configuration changes: %s", channel.name, error)
            return
        except BowerbirdError as error:
            log.warning("the channel %s is down, next try in %g s: %s", channel.name, wait, error)
        except Exception:
            log.exception("the channel %s broke, next try in %g s", channel.name, wait)
        if clock.monotonic() - began > STEADY_SECONDS:
            wait = FIRST_WAIT
        await clock.sleep(wait)
        wait = min(wait * 2, LONGEST_WAIT)
