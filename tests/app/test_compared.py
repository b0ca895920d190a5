from __future__ import annotations

from pathlib import Path

from bot.app.compared import DAYS, route_routes
from bot.app.control import ControlServer, control_app
from bot.app.control_client import ControlClient
from bot.app.lock import FolderLock
from bot.core.address import Address
from bot.core.stop import StopReason
from bot.core.transcript import EndRow, RouteRow
from bot.store.store import Store
from tests.app.test_control import Status
from tests.fakes.clock import FakeClock

CHAT = Address("telegram", "main", "7")


async def test_the_routes_of_the_last_days_are_told_over_the_control_socket(tmp_path: Path) -> None:
    clock = FakeClock()
    async with Store.open(tmp_path) as store:
        for turn, at in (("new", clock.now()), ("old", clock.now() - (DAYS + 1) * 86_400)):
            await store.transcript.append(
                CHAT, turn, at, RouteRow("", "", "", "default", ("a/b",)), EndRow(StopReason.ANSWERED)
            )
        app = control_app(Status({}), store.transcript, None, route_routes(store.routes, clock))
        with FolderLock(tmp_path) as lock:
            async with ControlServer(lock, app), ControlClient(tmp_path) as client:
                told = await client.routes()
    assert told["days"] == DAYS
    (route,) = told["routes"]
    assert (route["rule"], route["turns"], route["answered"], route["seconds"]) == ("default", 1, 1, 0.0)
