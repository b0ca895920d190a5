"""aimock (npm, MIT): dialogues scripted for all three vendors, and its journal of what they were asked."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from tests.providers.bench import VENDORS
from tests.referees.emulator import running, told

BINARY: Final = Path(__file__).parents[2] / ".npm" / "node_modules" / ".bin" / "aimock"
NODE: Final = (20, 15)
"""The oldest Node that aimock 1.43 names as its engine."""


class Aimock:
    """A running aimock."""

    def __init__(self, url: str) -> None:
        self._url = url

    @staticmethod
    def missing() -> str:
        """Why it cannot be started; "" when it can."""
        if shutil.which("node") is None:
            return "aimock needs Node, which is not installed"
        version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < NODE:
            return f"aimock needs Node {NODE[0]}.{NODE[1]} or newer, this is {version}"
        return "" if BINARY.exists() else "aimock is not installed: `make test` installs it into .npm"

    @classmethod
    @contextmanager
    def serving(cls, folder: Path, fixtures: Any = None) -> Iterator[Self]:
        """One that answers only what is scripted (``strict``), in small pieces.

        ``fixtures`` are there from the start: so loaded, they may hold what the control interface would refuse.
        """
        config: dict[str, Any] = {"strict": True, "llm": {"latency": 2, "chunkSize": 6}}
        if fixtures is not None:
            (folder / "fixtures.json").write_text(json.dumps({"fixtures": fixtures}))
            config["llm"]["fixtures"] = "fixtures.json"
        (folder / "aimock.json").write_text(json.dumps(config))
        command = [str(BINARY), "--config", "aimock.json", "--port", "0"]
        with running(command, folder / "aimock.log", AIMOCK_STRICT_TURN_INDEX="1") as url:
            yield cls(url)

    def base_url(self, kind: str) -> str:
        return self._url + VENDORS[kind].path

    async def script(self, *fixtures: dict[str, Any]) -> None:
        """Replace the script. Each fixture has ``match`` (nothing: any request) and ``response``, and may have what
        breaks it."""
        await told("POST", f"{self._url}/__aimock/reset")
        await told("POST", f"{self._url}/__aimock/fixtures", {"fixtures": [{"match": {}} | each for each in fixtures]})

    async def in_turn(self, *answers: dict[str, Any]) -> None:
        """Replace the script: these answers, one for each request, whatever it is."""
        await self.script(*({"match": {"sequenceIndex": place}} | each for place, each in enumerate(answers)))

    async def asked(self) -> list[dict[str, Any]]:
        """The requests since the script began, oldest first, as aimock understood them: vendors' bodies come out in
        the words of chat completions."""
        journal: list[dict[str, Any]] = await told("GET", f"{self._url}/__aimock/journal")
        return [each["body"] for each in journal]


def says(text: str, **more: Any) -> dict[str, Any]:
    return {"response": {"content": text, **more}}


def calls(*names_and_arguments: tuple[str, str, Any], **more: Any) -> dict[str, Any]:
    """Tool calls as (id, name, arguments)."""
    made = [{"id": one, "name": name, "arguments": arguments} for one, name, arguments in names_and_arguments]
    return {"response": {"toolCalls": made, **more}}


def fails(status: int, kind: str = "", message: str = "No.", **more: Any) -> dict[str, Any]:
    return {"response": {"status": status, "error": {"type": kind or "api_error", "message": message}, **more}}
