"""Telegram's simulator as a process of its own, by its control API, as one more platform of the suite."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.cli.programs import ROOT
from tests.crash.deeds import deed
from tests.crash.platform import Look, Seen
from tests.crash.telegram import SHOWING, TelegramPlatform, named, seen
from tests.sim.telegram import Shown
from tests.sim.telegram.updates import FIRST_UPDATE

ANN: Final = 7
TICK: Final = 0.05


class RemoteTelegram:
    """Implements ``tests.crash.platform.Platform``. Each look at it is one request, made while nothing else happens here."""

    name = TelegramPlatform.name
    idempotent = TelegramPlatform.idempotent
    rendered = staticmethod(TelegramPlatform.rendered)

    def __init__(self, url: str) -> None:
        self._url = url
        self.says = ""
        self._told: set[tuple[str, str]] = set()
        self._do("person", id=ANN, name="Ann", language="en")
        self._do("private", person=ANN)

    @property
    def section(self) -> str:
        return f'{{token: "123456:SIM", api_base: "{self._url}", access: {{owners: [{ANN}]}}}}'

    @property
    def standing(self) -> Sequence[Seen]:
        found = [Shown(**{**one, "keyboard": _rows(one["keyboard"])}) for one in self._view(f"visible?chat={ANN}")]
        return [seen(shown) for shown in found if shown.from_bot]

    @property
    def looks(self) -> Sequence[Look]:
        return [
            Look(str(call["params"].get("message_id", "")), call["params"]["text"], "reply_markup" in call["params"])
            for call in self._view(f"calls?chat={ANN}")
            if call["method"] in SHOWING and call["status"] in (0, 200)
        ]

    @property
    def notices(self) -> Sequence[str]:
        return [text for _, text, _ in self._view("callback_answers")]

    @property
    def violations(self) -> Sequence[str]:
        found: list[str] = self._view("violations")
        return found

    @property
    def heard(self) -> Set[tuple[str, str]]:
        return self._told - {named(update) for update in self._view("pending")}

    @property
    def unheard(self) -> int:
        return len(self._view("pending"))

    def under_way(self, deed_: str) -> bool:
        return any(
            not call["status"]
            and not call["answer"]
            and deed("POST", call["method"], json.dumps(call["params"])) == deed_
            for call in self._view("calls")
        )

    async def say(self, text: str) -> None:
        self.says = str(self._do("say", chat=ANN, person=ANN, text=text)["message_id"])
        self._told.add(("message", self.says))

    async def press(self, verb: str) -> bool:
        newest = [message for message in self.standing if message.label(verb)][-1]
        press = self._do("press", chat=ANN, person=ANN, message_id=int(newest.id), key=newest.label(verb))
        self._told.add(("press", str(press)))
        return True

    async def again(self) -> None:
        update = FIRST_UPDATE
        try:
            while True:
                self._do("redeliver", update_id=update)
                update += 1
        except HTTPError as error:
            if error.code != 400:
                raise

    async def until(self, holds: Callable[[], Any], timeout: float = 15.0) -> None:
        async with asyncio.timeout(timeout):
            while not holds():
                await asyncio.sleep(TICK)

    def _do(self, name: str, /, **arguments: Any) -> Any:
        body = json.dumps(arguments).encode()
        with urlopen(Request(f"{self._url}/_sim/{name}", body, method="POST"), timeout=5) as answer:
            return json.load(answer)

    def _view(self, name: str) -> Any:
        with urlopen(f"{self._url}/_sim/{name}", timeout=5) as answer:
            return json.load(answer)


def _rows(keyboard: list[list[list[str]]]) -> tuple[tuple[tuple[str, str], ...], ...]:
    return tuple(tuple((label, data) for label, data in row) for row in keyboard)


@contextmanager
def remote_telegram() -> Iterator[RemoteTelegram]:
    command = [sys.executable, "-m", "tests.sim.telegram"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
        try:
            assert process.stdout is not None
            yield RemoteTelegram(process.stdout.readline().strip())
        finally:
            process.terminate()
