"""A bar on the terminal while the demo model is being fetched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

LOOK_SECONDS: Final = 0.25


async def show_download(about: Callable[[], Mapping[str, Any]], console: Console | None = None) -> None:
    """Until the model is there; on a terminal only, elsewhere the log says when it begins and ends. Where it cannot be had
    and is tried again, the bar comes back."""
    console = console or Console(stderr=True)
    while console.is_terminal and (model := about()["model"])["state"] != "ready" and model.get("demo"):
        if model["state"] == "downloading":
            await _bar(about, console)
        await asyncio.sleep(LOOK_SECONDS)


async def _bar(about: Callable[[], Mapping[str, Any]], console: Console) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as progress:
        bar = progress.add_task("", visible=False)
        while (model := about()["model"])["state"] == "downloading":
            progress.update(
                bar,
                visible=True,
                description=f"Fetching {model.get('name', '')}",
                completed=model.get("done", 0),
                total=model.get("total") or None,
            )
            await asyncio.sleep(LOOK_SECONDS)
