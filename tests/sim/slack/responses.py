"""response_url: what an app may still say to a press or a command, five times within half an hour, without a token."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.sim.slack.bodies import Params
from tests.sim.slack.chat import apply, ephemeral, read_content, remove, tell
from tests.sim.slack.nouns import TEAM, Channel, Refused
from tests.sim.slack.world import World

USES, SECONDS = 5, 1800.0


@dataclass(slots=True)
class Response:
    """``ts`` is the message that was pressed, "" for a command."""

    channel: Channel
    person: str
    ts: str
    at: float
    uses: int = 0


class Responses:
    def __init__(self, world: World, monotonic: Callable[[], float]) -> None:
        self._world, self._monotonic = world, monotonic
        self._open: dict[str, Response] = {}
        self.base = ""

    def url(self, channel: Channel, person: str, ts: str) -> str:
        key = uuid.uuid4().hex
        self._open[key] = Response(channel, person, ts, self._monotonic())
        return f"{self.base}/actions/{TEAM}/{key}"

    def channel(self, key: str) -> str | None:
        return self._open[key].channel.id if key in self._open else None

    def take(self, key: str, params: Params) -> None:
        response = self._open.get(key)
        if response is None:
            raise Refused("invalid_url", status=404)
        if self._monotonic() - response.at > SECONDS:
            raise Refused("expired_url", status=404)
        if response.uses >= USES:
            raise Refused("used_url", status=404)
        response.uses += 1
        self.answer(response.channel, response.person, response.ts, params)

    def answer(self, channel: Channel, person: str, ts: str, params: Params) -> None:
        """Replace, delete, or add: to the person alone unless ``response_type`` is in_channel."""
        world = self._world
        pressed = channel.messages.get(ts)
        if params.flag("delete_original") or params.flag("replace_original"):
            if pressed is None:
                raise Refused("message_not_found", status=404)
            if params.flag("delete_original"):
                remove(world, channel, pressed)
                return
            content = read_content(world, params, channel, update=True)
            previous = world.message_json(channel, pressed)
            apply(pressed, content)
            pressed.edits += 1
            if not pressed.ephemeral_to:
                tell(world, channel, pressed, edit=True, previous=previous)
            return
        self._add(channel, person, pressed.thread_ts if pressed else None, params)

    def _add(self, channel: Channel, person: str, thread: str | None, params: Params) -> None:
        world = self._world
        content = read_content(world, params, channel)
        named: Any = params.text("thread_ts") or thread
        if params.text("response_type") != "in_channel":
            ephemeral(world, channel, person, content, named)
            return
        message = world.add(channel, world.bot, thread_ts=named)
        apply(message, content)
        world.ping("response_url", channel, message, message.text, message.markdown, message.blocks)
        tell(world, channel, message, edit=False)


def plain(payload: Any) -> Params:
    """The parameters of an acknowledgement's payload, which is a text or a message."""
    if isinstance(payload, dict) and isinstance(payload.get("text"), list):
        payload = {**payload, "text": "".join(payload["text"])}
    return Params(payload if isinstance(payload, dict) else {"text": str(payload)})
