"""The control API of the process form: what the methods of DiscordSim do, as JSON over HTTP under /_sim/."""

from __future__ import annotations

import base64
import inspect
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.sim.discord.faults import Fault
from tests.sim.discord.nouns import Channel, Guild, Person
from tests.sim.discord.payloads import channel_json
from tests.sim.discord.refusals import Json

if TYPE_CHECKING:
    from tests.sim.discord.server import DiscordSim

_DEEDS = (
    "person dm guild channel forum thread forum_post add_to_thread say edit unfurl types delete delete_many react unreact press"
    " slash submit feed forbid allow close_dm archive remove kick outage fail heal drop reconnect invalidate zombie deaf refuse_connections"
    " revoke_token restore_token"
)
DEEDS = frozenset(_DEEDS.split())


class Control:
    """``POST /_sim/<deed>`` takes the arguments of the method of that name as a JSON object: channels, guilds and people
    by id, files as ``{"name", "type", "text"}`` or with ``base64`` (``fail`` also takes ``faults``, a list of such
    objects). ``GET /_sim/<view>`` answers JSON; ``channel`` in the query chooses one, ``person`` whose screen it is. A
    wrong argument is a 400 with the reason."""

    def __init__(self, sim: DiscordSim) -> None:
        self._sim = sim
        self._views: dict[str, Callable[[web.Request], Any]] = {
            "violations": lambda _: sim.violations,
            "visible": self._visible,
            "bot_texts": lambda request: sim.bot_texts(self._channel(request)),
            "history": lambda request: sim.history(self._channel(request)),
            "typing": lambda request: sim.typing(self._channel(request)),
            "notice": lambda request: sim.notice(request.query["interaction"]),
            "commands": lambda _: {"commands": sim.commands.all, "syncs": sim.commands.syncs},
            "connections": lambda _: sim.connections.to_json(),
            "interaction_answers": lambda _: [asdict(answer) for answer in sim.interaction_answers],
            "calls": self._calls,
            "stats": lambda _: self.stats(),
            "report": lambda _: sim.report.to_json(),
            "firsts": lambda _: self.firsts(),
        }
        self._others: dict[str, Callable[[Json], Any]] = {
            "say_many": self.say_many,
            "latency": self._latency,
            "intents_refused": self._intents,
            "heartbeat_interval": self._heartbeat,
            "reset": self._reset,
        }

    async def serve(self, request: web.Request, name: str) -> web.Response:
        try:
            if request.method == "GET" and name in self._views:
                return web.json_response(self._views[name](request))
            if request.method != "POST":
                return web.json_response({"error": f"no view {name}"}, status=404)
            body = json.loads(await request.read() or b"{}")
            if name == "until":
                return await self._until(body)
            if name in self._others:
                return web.json_response(self._others[name](body))
            if name in DEEDS:
                return web.json_response(await self._deed(name, body))
        except (KeyError, LookupError, TypeError, ValueError) as error:
            return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=400)
        return web.json_response({"error": f"no deed {name}"}, status=404)

    async def _deed(self, name: str, body: Json) -> Any:
        if name == "fail" and "faults" in body:
            return [await self._deed("fail", fault) for fault in body["faults"]]
        arguments, positional = dict(body), list[Any]()
        for noun in ("person", "owner"):
            if noun in arguments:
                arguments[noun] = self._sim.world.people[int(arguments[noun])]
        for noun in ("channel", "thread", "forum"):
            if noun in arguments and name != "guild":
                arguments[noun] = self._sim.channel_by_id(int(arguments[noun]))
        if "guild" in arguments:
            arguments["guild"] = self._sim.guild_by_id(int(arguments["guild"]))
        if "members" in arguments:
            arguments["members"] = [self._sim.world.people[int(member)] for member in arguments["members"]]
        if name in ("forbid", "allow"):
            positional = [arguments.pop("channel"), *arguments.pop("permissions", ())]
        if arguments.get("files"):
            arguments["files"] = [_file(file) for file in arguments["files"]]
        result = getattr(self._sim, name)(*positional, **arguments)
        return self._plain(await result if inspect.isawaitable(result) else result)

    def say_many(self, body: Json) -> Json:
        """``count`` people write ``text`` ({n}: their number) at once, each in a direct message of their own, with ids
        from ``first_id`` on; or ``messages``, each with ``person`` and ``text``. Whoever is missing is made up. ``said``
        has the message by person, ``channels`` the channel."""
        first = int(body.get("first_id", 1000))
        numbered = range(int(body.get("count", 0)))
        many = [{"person": first + n, "text": body.get("text", "hello {n}").replace("{n}", str(n))} for n in numbered]
        said, channels = dict[str, str](), dict[str, str]()
        for one in [*many, *body.get("messages", ())]:
            id_ = int(one["person"])
            someone = self._sim.world.people.get(id_) or self._sim.person(id_, f"Person {id_}", language="en")
            channel = self._sim.dm(someone)
            said[str(id_)] = str(self._sim.write(channel, someone, one["text"]).id)
            channels[str(id_)] = str(channel.id)
        return {"at": time.perf_counter(), "said": said, "channels": channels}

    def stats(self) -> Json:
        sim = self._sim
        return {
            "connections": sim.connections.to_json(),
            "calls": Counter(call.route for call in sim.calls),
            "statuses": Counter(str(call.status) for call in sim.calls),
            "violations": len(sim.violations),
            "invalid_requests": sim.invalid_requests,
            "channels": len(sim.world.channels),
            "answered": sum(each.first_text_at is not None for each in sim.report.rounds.values()),
            "now": time.perf_counter(),
        }

    def firsts(self) -> Json:
        return {
            str(channel): {
                "handed": each.delivered_at,
                "first": each.first_text_at,
                "last": each.last_change_at,
                "text": each.text,
            }
            for channel, each in self._sim.report.rounds.items()
        }

    async def _until(self, body: Json) -> web.Response:
        """All that is given must hold: ``ready`` sessions at least, ``answered`` channels with a text, ``chats``
        channels whose text holds ``contains`` (with ``channel``: that one)."""
        started = time.perf_counter()
        try:
            await self._sim.until(lambda sim: self._holds(body), timeout=float(body.get("timeout", 15)))
        except TimeoutError:
            return web.json_response({"error": "it did not come to that", **self.stats()}, status=408)
        return web.json_response({"waited": time.perf_counter() - started})

    def _holds(self, body: Json) -> bool:
        sim = self._sim
        rounds = sim.report.rounds
        if sim.connections.ready < body.get("ready", 0):
            return False
        if sum(each.first_text_at is not None for each in rounds.values()) < body.get("answered", 0):
            return False
        if "contains" not in body:
            return True
        if "channel" in body:
            channel = sim.channel_by_id(int(body["channel"]))
            return any(body["contains"] in text for text in sim.bot_texts(channel))
        return sum(body["contains"] in each.text for each in rounds.values()) >= int(body.get("chats", 1))

    def _visible(self, request: web.Request) -> list[Json]:
        person = request.query.get("person")
        whose = self._sim.world.people[int(person)] if person else None
        return [asdict(shown) | {"id": str(shown.id)} for shown in self._sim.visible(self._channel(request), whose)]

    def _calls(self, request: web.Request) -> Any:
        route, channel = request.query.get("route"), request.query.get("channel")
        chosen = [
            call for call in self._sim.calls if route in (None, call.route) and channel in (None, str(call.channel_id))
        ]
        return len(chosen) if "count" in request.query else [asdict(call) for call in chosen]

    def _latency(self, body: Json) -> Json:
        """``seconds`` for all calls, ``routes`` for some."""
        self._sim.latency = float(body.get("seconds", self._sim.latency))
        self._sim.latencies.update({name: float(value) for name, value in body.get("routes", {}).items()})
        return {"seconds": self._sim.latency, "routes": self._sim.latencies}

    def _intents(self, body: Json) -> Json:
        self._sim.intents_refused = bool(body["on"])
        return {"on": self._sim.intents_refused}

    def _heartbeat(self, body: Json) -> Json:
        self._sim.heartbeat_interval = float(body["seconds"])
        return {"seconds": self._sim.heartbeat_interval}

    def _reset(self, body: Json) -> Json:
        """Forget calls, violations, reports, answers and faults; people, channels and messages stay."""
        self._sim.calls.clear()
        self._sim.violations.clear()
        self._sim.report.clear()
        self._sim.interaction_answers.clear()
        self._sim.heal()
        return {"reset": True}

    def _channel(self, request: web.Request) -> Channel:
        return self._sim.channel_by_id(int(request.query["channel"]))

    def _plain(self, value: Any) -> Any:
        """A result in JSON: people, guilds and channels as the API names them, a guild with its channels."""
        if isinstance(value, Person):
            return value.to_json()
        if isinstance(value, Channel):
            return channel_json(value, self._sim.bot)
        if isinstance(value, Guild):
            channels = [channel_json(one, self._sim.bot) for one in value.channels.values()]
            return {"id": str(value.id), "name": value.name, "channels": channels}
        return asdict(value) if isinstance(value, Fault) else value


def _file(file: Json) -> tuple[str, str, bytes]:
    content = base64.b64decode(file["base64"]) if "base64" in file else str(file.get("text", "")).encode()
    return file["name"], file.get("type", "application/octet-stream"), content
