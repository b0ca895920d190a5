"""The simulator's control API, for a test in another process: /_sim/script, requests, violations, gate, release, reset."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.sim.llm.script import answer_from_json
from tests.sim.llm.vendors import Settings

if TYPE_CHECKING:
    from tests.sim.llm.server import LlmSim


def load(sim: "LlmSim", data: Any) -> int:
    """Add the answers of a script document, and take over its settings; returns the number of answers.

    The document is a list of answers, or an object with `answers` and any field of `Settings`.
    Raises ValueError on anything unknown, before anything is changed.
    """
    document: Mapping[str, Any] = {"answers": data} if isinstance(data, list) else data
    if not isinstance(document, Mapping):
        raise ValueError("a script is a list of answers or an object")
    known = {item.name for item in fields(Settings)}
    settings = {name: value for name, value in document.items() if name != "answers"}
    if unknown := set(settings) - known:
        raise ValueError(f"unknown settings: {', '.join(sorted(unknown))}")
    answers = [answer_from_json(item) for item in _listed(document.get("answers", []))]
    for name, value in settings.items():
        setattr(sim.settings, name, tuple(value) if isinstance(value, list) else value)
    sim.script(*answers)
    return len(answers)


def _listed(value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise ValueError("answers must be a list")
    return value


def control_routes(sim: "LlmSim") -> Iterable[web.RouteDef]:
    """Routes that do over HTTP what the methods of LlmSim do in process."""

    async def script(request: web.Request) -> web.Response:
        try:
            return web.json_response({"added": load(sim, json.loads(await request.read()))})
        except (ValueError, KeyError, TypeError) as error:
            return web.json_response({"error": str(error)}, status=400)

    async def requests(_: web.Request) -> web.Response:
        return web.json_response([seen.to_json() for seen in sim.requests])

    async def violations(_: web.Request) -> web.Response:
        return web.json_response([asdict(violation) for violation in sim.violations])

    async def at_gate(request: web.Request) -> web.Response:
        try:
            await sim.at(request.match_info["name"], float(request.query.get("timeout", "10")))
        except TimeoutError:
            return web.json_response({"error": "nobody came to the gate"}, status=408)
        return web.json_response({"reached": request.match_info["name"]})

    async def release(request: web.Request) -> web.Response:
        sim.release(request.match_info["name"])
        return web.json_response({"released": request.match_info["name"]})

    async def reset(_: web.Request) -> web.Response:
        sim.reset()
        return web.json_response({"reset": True})

    return [
        web.post("/_sim/script", script),
        web.get("/_sim/requests", requests),
        web.get("/_sim/violations", violations),
        web.get("/_sim/gate/{name}", at_gate),
        web.post("/_sim/release/{name}", release),
        web.post("/_sim/reset", reset),
    ]
