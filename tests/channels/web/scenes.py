"""Answers that several tests let the house give, and how a visitor writes."""

from __future__ import annotations

from playwright.async_api import Page

from bot.core.stop import StopReason
from tests.channels.web.house import Turn

STORY = "Once **upon** a time there was a bird.\n\n- It was *blue*.\n- It liked `blue` things.\n\n从前有一只鸟。\n"


async def story(turn: Turn) -> None:
    """Grows slowly enough to be watched; ends early when it is stopped."""
    await turn.think()
    if await turn.stream(STORY, pause=0.01, size=3):
        await turn.end()
    else:
        await turn.end(StopReason.STOPPED, "Stopped.")


async def slow(turn: Turn) -> None:
    """Goes on until it is stopped."""
    await turn.write("Working on it")
    await turn.stopped.wait()
    await turn.end(StopReason.STOPPED, "Stopped.")


async def write(page: Page, text: str) -> None:
    await page.get_by_role("textbox", name="Message").fill(text)
    await page.keyboard.press("Enter")
