"""The control API of the process form: what the methods of SlackSim do, as JSON over HTTP under /_sim/."""

from __future__ import annotations

import base64
import inspect
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.sim.slack.deliveries import Delivery
from tests.sim.slack.nouns import Channel, Json, Person

if TYPE_CHECKING:
    from tests.sim.slack.server import SlackSim

_DEEDS = (
    "person dm group_dm channel say edit delete react unreact press command stop_session open_home fail heal disconnect"
    " drop deaf silent refuse_sockets redeliver_now feed event revoke_token restore_token missing_scope grant_scope archive kick"
    " invite"
)
DEEDS = frozenset(_DEEDS.split())


class Control:
    """``POST /_sim/<deed>`` takes the arguments of the method of that name as a JSON object, channels and people by id
    (``fail`` also takes ``faults``, a list of such objects; ``say`` takes files as [name, media type, base64]).
    ``GET /_sim/<view>`` answers JSON; ``channel`` and ``thread`` in the query choose. A wrong argument is a 400 with the
    reason."""

    def __init__(self, sim: SlackSim) -> None:
        self._sim = sim
        self._views: dict[str, Callable[[web.Request], Any]] = {
            "violations": lambda _: sim.violations,
            "visible": lambda request: [asdict(shown) for shown in sim.visible(*self._where(request))],
            "bot_texts": lambda request: sim.bot_texts(*self._where(request)),
            "status": lambda request: sim.status(self._where(request)[0], request.query["thread"]),
            "session": lambda request: sim.session(self._where(request)[0], request.query["thread"]),
            "sockets": lambda _: sim.sockets._asdict(),
            "acks": lambda _: [asdict(ack) for ack in sim.acks],
            "unacked": lambda _: [_plain(delivery) for delivery in sim.unacked],
            "pings": lambda _: [asdict(ping) for ping in sim.pings],
            "calls": self._calls,
            "stats": lambda _: self.stats(),
            "report": lambda _: sim.report.to_json(),
            "firsts": lambda _: self.firsts(),
        }
        self._others: dict[str, Callable[[Json], Any]] = {
            "latency": self._latency,
            "settings": self._settings,
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
            if name == "say_many":
                return web.json_response(await self.say_many(body))
            if name in self._others:
                return web.json_response(self._others[name](body))
            if name in DEEDS:
                return web.json_response(await self._deed(name, body))
        except (KeyError, LookupError, TypeError, ValueError) as error:
            return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=400)
        return web.json_response({"error": f"no deed {name}"}, status=404)

    async def _deed(self, name: str, body: Json) -> Any:
        if name == "feed":
            return await self._sim.feed(body.get("raw", body))
        if name == "fail" and "faults" in body:
            return [await self._deed("fail", fault) for fault in body["faults"]]
        arguments = dict(body)
        if "channel" in arguments and name != "channel":
            arguments["channel"] = self._sim.place(arguments["channel"])
        if "person" in arguments:
            arguments["person"] = self._sim.world.people[arguments["person"]]
        if "members" in arguments:
            arguments["members"] = [self._sim.world.people[member] for member in arguments["members"]]
        if "files" in arguments:
            arguments["files"] = [(file, kind, base64.b64decode(data)) for file, kind, data in arguments["files"]]
        people = [self._sim.world.people[one] for one in arguments.pop("people", ())]
        result = getattr(self._sim, name)(*people, **arguments)
        return _plain(await result if inspect.isawaitable(result) else result)

    async def say_many(self, body: Json) -> Json:
        """``count`` people write ``text`` ({n}: their number) at once, each in a DM of their own, with ids ``U<number>``
        from ``first_id`` on; or ``messages``, each with ``person`` and ``text``. Whoever is missing is made up."""
        first = int(body.get("first_id", 1000))
        numbered = range(int(body.get("count", 0)))
        many = [
            {"person": f"U{first + n}", "text": body.get("text", "hello {n}").replace("{n}", str(n))} for n in numbered
        ]
        said: Json = {}
        for one in [*many, *body.get("messages", ())]:
            someone = self._sim.world.people.get(one["person"]) or self._sim.person(
                one["person"], f"Person {one['person']}"
            )
            said[one["person"]] = (await self._sim.say(self._sim.dm(someone), someone, one["text"]))["ts"]
        return {"at": time.perf_counter(), "said": said}

    def stats(self) -> Json:
        sim = self._sim
        return {
            "sockets": sim.sockets._asdict(),
            "acks": len(sim.acks),
            "unacked": len(sim.unacked),
            "calls": Counter(call.method for call in sim.calls),
            "statuses": Counter(str(call.status) for call in sim.calls),
            "errors": Counter(call.error for call in sim.calls if call.error),
            "violations": len(sim.violations),
            "channels": len(sim.world.channels),
            "answered": sum(each.first_text_at is not None for each in sim.report.rounds.values()),
            "now": time.perf_counter(),
        }

    def firsts(self) -> Json:
        return {
            channel: {
                "handed": each.delivered_at,
                "first": each.first_text_at,
                "last": each.last_change_at,
                "text": self._sim.report.text(channel),
            }
            for channel, each in self._sim.report.rounds.items()
        }

    async def _until(self, body: Json) -> web.Response:
        """All that is given must hold: ``sockets`` at least so many open, ``unacked`` at most so many, ``answered``
        channels with a text, ``channels`` channels whose text holds ``contains`` (with ``channel``: that one)."""
        started = time.perf_counter()
        try:
            await self._sim.until(lambda sim: self._holds(body), timeout=float(body.get("timeout", 15)))
        except TimeoutError:
            return web.json_response({"error": "it did not come to that", **self.stats()}, status=408)
        return web.json_response({"waited": time.perf_counter() - started})

    def _holds(self, body: Json) -> bool:
        sim = self._sim
        rounds = sim.report.rounds
        if sim.sockets.open < body.get("sockets", 0) or len(sim.unacked) > body.get("unacked", len(sim.unacked)):
            return False
        if sum(each.first_text_at is not None for each in rounds.values()) < body.get("answered", 0):
            return False
        if "contains" not in body:
            return True
        if "channel" in body:
            texts = sim.bot_texts(sim.place(body["channel"]), body.get("thread"))
            return any(body["contains"] in text for text in texts)
        return sum(body["contains"] in sim.report.text(channel) for channel in rounds) >= int(body.get("channels", 1))

    def _calls(self, request: web.Request) -> Any:
        method, channel = request.query.get("method"), request.query.get("channel")
        chosen = [call for call in self._sim.calls if method in (None, call.method) and channel in (None, call.channel)]
        if "count" in request.query:
            return len(chosen)
        return [{**asdict(call), "params": _plain(dict(call.params))} for call in chosen]

    def _latency(self, body: Json) -> Json:
        """``seconds`` for all calls, ``methods`` for some."""
        self._sim.latency = float(body.get("seconds", self._sim.latency))
        self._sim.latencies.update({name: float(value) for name, value in body.get("methods", {}).items()})
        return {"seconds": self._sim.latency, "methods": self._sim.latencies}

    def _settings(self, body: Json) -> Json:
        """``agent``, ``shuffle``, ``echo``, ``stream_seconds``, ``subscriptions``: those given are set."""
        sim = self._sim
        sim.agent = bool(body.get("agent", sim.agent))
        sim.deliveries.shuffle = bool(body.get("shuffle", sim.deliveries.shuffle))
        sim.post.echo = bool(body.get("echo", sim.post.echo))
        sim.stream_seconds = float(body.get("stream_seconds", sim.stream_seconds))
        if "subscriptions" in body:
            sim.world.subscriptions = set(body["subscriptions"])
        return {
            "agent": sim.agent,
            "shuffle": sim.deliveries.shuffle,
            "echo": sim.post.echo,
            "stream_seconds": sim.stream_seconds,
            "subscriptions": sorted(sim.subscriptions),
        }

    def _reset(self, body: Json) -> Json:
        """Forget calls, violations, acks, reports and faults; people, channels and messages stay."""
        self._sim.calls.clear()
        self._sim.violations.clear()
        self._sim.acks.clear()
        self._sim.report.clear()
        self._sim.heal()
        return {"reset": True}

    def _where(self, request: web.Request) -> tuple[Channel, str | None]:
        return self._sim.place(request.query["channel"]), request.query.get("thread")


def _plain(value: Any) -> Any:
    """A result in JSON: people and channels by id and name, deliveries without their payload."""
    if isinstance(value, Person | Channel):
        return {"id": value.id, "name": value.name}
    if isinstance(value, Delivery):
        return {name: getattr(value, name) for name in ("kind", "name", "state", "attempts", "envelopes")}
    if isinstance(value, bytes):
        return {"bytes": len(value)}
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
