"""Which events reach the app: those it subscribed to, has the scope for, and sits in the channel of."""

from __future__ import annotations

import copy

from tests.sim.slack.api import WebApi
from tests.sim.slack.deliveries import Deliveries, Delivery
from tests.sim.slack.events import event_payload
from tests.sim.slack.methods import FAMILIES
from tests.sim.slack.nouns import BOT_ID, BOT_USER, Channel, Json
from tests.sim.slack.world import World

MESSAGES = {"im": "message.im", "mpim": "message.mpim", "channel": "message.channels", "group": "message.groups"}
NEEDED = {
    "app_mention": "app_mentions:read",
    "member_joined_channel": "{family}:read",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
}


class Post:
    """``echo``: the bot's own messages and changes come back to it, which Slack does and Bolt sorts out only in part."""

    def __init__(self, world: World, deliveries: Deliveries, api: WebApi, *, echo: bool) -> None:
        self._world, self._deliveries, self._api = world, deliveries, api
        self.echo = echo
        world.emit = self.emit
        deliveries.handed = self._handed

    def emit(self, event: Json, channel: Channel | None) -> None:
        if self._wanted(event, channel) and (self.echo or not _is_own(event)):
            self.send(event)

    def send(self, event: Json) -> Delivery:
        payload = event_payload(self._world, copy.deepcopy(event))
        return self._deliveries.event(payload, payload["event_id"])

    def _wanted(self, event: Json, channel: Channel | None) -> bool:
        if self._api.revoked or (channel is not None and not channel.bot_in):
            return False
        kind = str(event["type"])
        if kind != "message":
            scope = NEEDED.get(kind, "").format(family=FAMILIES[channel.kind] if channel else "")
            return kind in self._world.subscriptions and (not scope or scope in self._api.scopes)
        if channel is None:
            return True
        return MESSAGES[channel.kind] in self._world.subscriptions and (
            f"{FAMILIES[channel.kind]}:history" in self._api.scopes
        )

    def _handed(self, delivery: Delivery) -> None:
        event = delivery.payload.get("event") if isinstance(delivery.payload, dict) else None
        if isinstance(event, dict) and isinstance(event.get("channel"), str):
            self._world.report.handed(event["channel"], str(event.get("ts", "")))


def _is_own(event: Json) -> bool:
    """Its comings and goings come back in any case."""
    if event["type"] == "member_joined_channel":
        return False
    inner = event.get("message") or event.get("previous_message") or event
    return inner.get("bot_id") == BOT_ID or inner.get("user") == BOT_USER
