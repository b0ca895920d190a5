"""A bar on the terminal while the demo model is being fetched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

LOOK_SECONDS: Final = 0.25


async def show_download(about: Callable[[], Mapping[str, Any]], console: Console | None = None) -> None:
    """Until the model is there, or cannot be had; on a terminal only, elsewhere the log says when it begins and ends."""
    console = console or Console(stderr=True)
    if not console.is_terminal:
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as progress:
        bar = progress.add_task("", visible=False)
        while True:
            model = about()["model"]
            fetching = model["state"] == "downloading"
            progress.update(
                bar,
                visible=fetching,
                description=f"Fetching {model.get('name', '')}",
                completed=model.get("done", 0),
                total=model.get("total") or None,
            )
            if model["state"] in ("ready", "failed") or not model.get("demo"):
                return
            await asyncio.sleep(LOOK_SECONDS)
