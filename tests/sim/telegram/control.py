"""The control API of the process form: what the methods of TelegramSim do, as JSON over HTTP under /_sim/."""

from __future__ import annotations

import inspect
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.sim.telegram.nouns import Chat, Json, Person

if TYPE_CHECKING:
    from tests.sim.telegram.server import TelegramSim

_DEEDS = (
    "person private group topic say album paste edit press react delete stop stop_draft feed redeliver block unblock"
    " add_bot migrate fail heal revoke_token restore_token"
)
DEEDS = frozenset(_DEEDS.split())


class Control:
    """``POST /_sim/<deed>`` takes the arguments of the method of that name as a JSON object, chats and people by id
    (``fail`` also takes ``faults``, a list of such objects).
    ``GET /_sim/<view>`` answers JSON; ``chat`` in the query chooses one. A wrong argument is a 400 with the reason."""

    def __init__(self, sim: TelegramSim) -> None:
        self._sim = sim
        self._views: dict[str, Callable[[web.Request], Any]] = {
            "violations": lambda _: sim.violations,
            "visible": lambda request: [asdict(shown) for shown in sim.visible(self._chat(request))],
            "bot_texts": lambda request: sim.bot_texts(self._chat(request)),
            "drafts": lambda request: sim.drafts(self._chat(request)),
            "typing": lambda request: sim.typing(self._chat(request)),
            "pending": lambda _: sim.pending,
            "callback_answers": lambda _: sim.callback_answers,
            "calls": self._calls,
            "stats": lambda _: self.stats(),
            "report": lambda _: sim.report.to_json(),
            "firsts": lambda _: self.firsts(),
        }
        self._others: dict[str, Callable[[Json], Any]] = {
            "say_many": self.say_many,
            "latency": self._latency,
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
        if name == "feed":
            return await self._sim.feed(body.get("raw", body))
        if name == "react":
            chat, person = self._sim.chat(body["chat"]), self._sim.world.people[body["person"]]
            return await self._sim.react(chat, person, body["message_id"], *body["emoji"])
        if name == "fail" and "faults" in body:
            return [await self._deed("fail", fault) for fault in body["faults"]]
        arguments = dict(body)
        if "chat" in arguments:
            arguments["chat"] = self._sim.chat(int(arguments["chat"]))
        if "person" in arguments:
            arguments["person"] = self._sim.world.people[int(arguments["person"])]
        if "by" in arguments:
            arguments["by"] = self._sim.world.people[int(arguments["by"])]
        if "members" in arguments:
            arguments["members"] = [self._sim.world.people[int(member)] for member in arguments["members"]]
        result = getattr(self._sim, name)(**arguments)
        return _plain(await result if inspect.isawaitable(result) else result)

    def say_many(self, body: Json) -> Json:
        """``count`` people write ``text`` ({n}: their number) at once, each in a private chat of their own, with ids
        from ``first_id`` on; or ``messages``, each with ``person`` and ``text``. Whoever is missing is made up."""
        first = int(body.get("first_id", 1000))
        numbered = range(int(body.get("count", 0)))
        many = [{"person": first + n, "text": body.get("text", "hello {n}").replace("{n}", str(n))} for n in numbered]
        said: Json = {}
        for one in [*many, *body.get("messages", ())]:
            id_ = int(one["person"])
            someone = self._sim.world.people.get(id_) or self._sim.person(id_, f"Person {id_}", language="en")
            said[str(id_)] = self._sim.world.say(self._sim.private(someone), someone, one["text"])["message_id"]
        return {"at": time.perf_counter(), "said": said}

    def stats(self) -> Json:
        calls = Counter(call.method for call in self._sim.calls)
        return {
            "polls": self._sim.polls,
            "pending": len(self._sim.updates.pending),
            "calls": calls,
            "statuses": Counter(str(call.status) for call in self._sim.calls),
            "violations": len(self._sim.violations),
            "chats": len(self._sim.world.chats),
            "answered": sum(each.first_text_at is not None for each in self._sim.report.rounds.values()),
            "now": time.perf_counter(),
        }

    def firsts(self) -> Json:
        rounds = self._sim.report.rounds
        return {
            str(chat): {
                "handed": each.delivered_at,
                "first": each.first_text_at,
                "last": each.last_change_at,
                "text": each.text,
            }
            for chat, each in rounds.items()
        }

    async def _until(self, body: Json) -> web.Response:
        """All that is given must hold: ``polls`` at least so many, ``pending`` at most so many, ``answered`` chats with
        a text, ``chats`` chats whose text holds ``contains`` (with ``chat``: that one)."""
        started = time.perf_counter()
        try:
            await self._sim.until(lambda sim: self._holds(body), timeout=float(body.get("timeout", 15)))
        except TimeoutError:
            return web.json_response({"error": "it did not come to that", **self.stats()}, status=408)
        return web.json_response({"waited": time.perf_counter() - started})

    def _holds(self, body: Json) -> bool:
        sim = self._sim
        rounds = sim.report.rounds
        if sim.polls < body.get("polls", 0) or len(sim.updates.pending) > body.get("pending", len(sim.updates.pending)):
            return False
        if sum(each.first_text_at is not None for each in rounds.values()) < body.get("answered", 0):
            return False
        if "contains" not in body:
            return True
        if "chat" in body:
            return any(body["contains"] in text for text in sim.bot_texts(sim.chat(int(body["chat"]))))
        return sum(body["contains"] in each.text for each in rounds.values()) >= int(body.get("chats", 1))

    def _calls(self, request: web.Request) -> Any:
        method, chat = request.query.get("method"), request.query.get("chat")
        chosen = [
            call for call in self._sim.calls if method in (None, call.method) and chat in (None, str(call.chat_id))
        ]
        if "count" in request.query:
            return len(chosen)
        return [{**asdict(call), "params": _plain(dict(call.params))} for call in chosen]

    def _latency(self, body: Json) -> Json:
        """``seconds`` for all calls, ``methods`` for some."""
        self._sim.latency = float(body.get("seconds", self._sim.latency))
        self._sim.latencies.update({name: float(value) for name, value in body.get("methods", {}).items()})
        return {"seconds": self._sim.latency, "methods": self._sim.latencies}

    def _reset(self, body: Json) -> Json:
        """Forget calls, violations, reports and faults; people, chats and messages stay."""
        self._sim.calls.clear()
        self._sim.violations.clear()
        self._sim.report.clear()
        self._sim.heal()
        return {"reset": True}

    def _chat(self, request: web.Request) -> Chat:
        return self._sim.chat(int(request.query["chat"]))


def _plain(value: Any) -> Any:
    """A result in JSON: people and chats as the Bot API writes them, files by their size."""
    if isinstance(value, Person | Chat):
        return value.to_json()
    if hasattr(value, "content"):
        return {"file": value.name, "bytes": len(value.content)}
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | str | int | float | bool | None):
        return value
    return asdict(value)
