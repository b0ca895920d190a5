"""Pairing as the command line reaches it: through the daemon's control socket, or in the data folder while none runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.app.control_client import ControlClient, NoDaemon
from bot.app.lock import FolderLock
from bot.config.loaded import Config
from bot.core.address import Address
from bot.core.errors import AlreadyRunning
from bot.inbox.access import Access
from bot.inbox.gate import Gate
from bot.inbox.pairing import Listing, Pairing, listing_of
from bot.store.inbox import InboxRow
from bot.store.people import Person, Ruling, Stranger
from bot.store.reading import open_people
from bot.store.store import Store
from bot.time.clock import SystemClock

log = logging.getLogger(__name__)

AT_THE_MACHINE: Final = "command line"
"""Who approves and revokes there; such a person may mistype a code as often as they like."""
STARTING_SECONDS: Final = 5.0
"""How long a daemon may hold the folder before its control socket answers."""
TRY_AGAIN_SECONDS: Final = 0.2


def gate_of(config: Config, trigger: Callable[[Address], str] = lambda _: "") -> Gate:
    """``trigger`` is what was set for one chat, "" for nothing."""
    sections = {name: getattr(entry.config, "access", None) for name, entry in config.channels.items()}
    return Gate({name: access for name, access in sections.items() if isinstance(access, Access)}, trigger)


def pair_routes(pairing: Pairing) -> list[Route]:
    """``GET /pair``; ``POST /pair/approve`` with ``{"code"}`` and ``POST /pair/revoke`` with ``{"identity"}``."""

    async def listed(request: Request) -> Response:
        return JSONResponse(asdict(await pairing.listing()))

    def ruled(key: str, rule: Callable[[str], Awaitable[Ruling]]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            try:
                value = (await request.json())[key]
            except (ValueError, KeyError, TypeError):
                value = None
            if not isinstance(value, str):
                return JSONResponse({"error": f"the body is a JSON object with the text {key}"}, status_code=400)
            return JSONResponse(_plain(await rule(value)))

        return endpoint

    return [
        Route("/pair", listed),
        Route("/pair/approve", ruled("code", lambda code: _approve(pairing, code)), methods=["POST"]),
        Route("/pair/revoke", ruled("identity", lambda who: _revoke(pairing, who)), methods=["POST"]),
    ]


async def listing(config: Config) -> Listing:
    """Who waits and who may talk. Changes nothing, with or without a daemon."""
    try:
        async with ControlClient(config.data_dir) as client:
            found = await client.pair()
    except NoDaemon:
        async with open_people(config.data_dir) as rows:
            return await listing_of(rows, gate_of(config), SystemClock().now())
    return Listing(
        tuple(Stranger(**stranger) for stranger in found["waiting"]),
        tuple(Person(**person) for person in found["people"]),
    )


async def approve(config: Config, code: str, patience: float = STARTING_SECONDS) -> Ruling:
    """By the daemon, else here. Raises ``AlreadyRunning`` when somebody holds the folder for longer than ``patience``
    seconds and does not answer."""
    return await _ruled(config, patience, lambda client: client.approve(code), lambda alone: _approve(alone, code))


async def revoke(config: Config, identity: str, patience: float = STARTING_SECONDS) -> Ruling:
    """The same; ``identity`` is ``channel:id``."""
    return await _ruled(
        config, patience, lambda client: client.revoke(identity), lambda alone: _revoke(alone, identity)
    )


async def _ruled(
    config: Config,
    patience: float,
    ask: Callable[[ControlClient], Awaitable[Mapping[str, Any]]],
    rule: Callable[[Pairing], Awaitable[Ruling]],
) -> Ruling:
    clock = SystemClock()
    deadline = clock.monotonic() + patience
    while True:
        try:
            async with ControlClient(config.data_dir) as client:
                found = await ask(client)
            return Ruling(found["kind"], Person(**found["person"]) if found["person"] else None)
        except NoDaemon:
            pass
        try:
            async with _alone(config) as pairing:
                return await rule(pairing)
        except AlreadyRunning:
            if clock.monotonic() > deadline:
                raise
        await asyncio.sleep(TRY_AGAIN_SECONDS)


@asynccontextmanager
async def _alone(config: Config) -> AsyncIterator[Pairing]:
    """The store under the folder's lock. A person who is let in here is told after the next start."""
    with FolderLock(config.data_dir):
        async with Store.open(config.data_dir) as store:
            if store.loss is not None:
                log.error("%s", store.loss)
            pairing = Pairing(
                store.people, gate_of(config), SystemClock(), announce=_after_the_start, turn_out=_nothing_runs
            )
            await pairing.load()
            yield pairing


def _after_the_start(notice: InboxRow) -> None:
    log.info("turn %s waits for the next start", notice.turn)


async def _nothing_runs(identity: str) -> None:
    pass


async def _approve(pairing: Pairing, code: str) -> Ruling:
    return await pairing.approve(code, AT_THE_MACHINE, guesses=None)


async def _revoke(pairing: Pairing, identity: str) -> Ruling:
    return await pairing.revoke(identity, AT_THE_MACHINE)


def _plain(ruling: Ruling) -> dict[str, Any]:
    return {"kind": ruling.kind, "person": asdict(ruling.person) if ruling.person else None}
