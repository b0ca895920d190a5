"""The bar shows how far the model is, and goes when it is there."""

from __future__ import annotations

import io

from rich.console import Console

from bot.cli.progress import show_download


def told(*states: dict[str, object]):  # type: ignore[no-untyped-def]
    left = list(states)
    return lambda: {"model": left.pop(0) if len(left) > 1 else left[0]}


DOWNLOADING = {"state": "downloading", "name": "Qwen", "done": 120_000_000, "total": 491_400_064, "demo": True}
READY = {"state": "ready", "name": "Qwen", "done": 0, "total": 0, "demo": True}


async def test_the_bar_shows_name_and_size_and_ends_when_the_model_is_there() -> None:
    out = io.StringIO()
    await show_download(told(DOWNLOADING, DOWNLOADING, READY), Console(file=out, force_terminal=True, width=100))
    assert "Fetching Qwen" in out.getvalue() and "491.4 MB" in out.getvalue()


async def test_the_bar_comes_back_when_what_failed_is_tried_again() -> None:
    out = io.StringIO()
    failed, again = {**DOWNLOADING, "state": "failed"}, {**DOWNLOADING, "name": "Qwen once more"}
    states = (DOWNLOADING, DOWNLOADING, failed, failed, again, again, READY)
    await show_download(told(*states), Console(file=out, force_terminal=True, width=100))
    assert "Fetching Qwen once more" in out.getvalue()


async def test_where_there_is_no_terminal_nothing_is_drawn() -> None:
    out = io.StringIO()
    await show_download(told(DOWNLOADING), Console(file=out, force_terminal=False))
    assert out.getvalue() == ""


async def test_with_another_model_there_is_nothing_to_wait_for() -> None:
    out = io.StringIO()
    await show_download(told({"state": "ready", "name": "x", "demo": False}), Console(file=out, force_terminal=True))
    assert "Fetching" not in out.getvalue()
