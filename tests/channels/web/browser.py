"""Chromium as the system has it, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from tests.channels.web.house import House

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def chromium() -> str | None:
    """Where the browser is; None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def visiting(browser: Browser, house: House, place: str = "#a", **options: Any) -> AsyncIterator[Page]:
    """A visit of its own to the page; whatever the browser complains about fails the test.

    What it says about requests that failed does not count: tests that break the line look at the page itself.
    """
    context = await browser.new_context(**{"locale": "en-GB", "viewport": {"width": 1100, "height": 800}, **options})
    context.set_default_timeout(8000)
    page = await context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
    try:
        await page.goto(f"{house.url}/{place}")
        await page.locator("body[data-line=up]").wait_for()
        yield page
        assert [one for one in complaints if not _is_about_the_line(one)] == []
    finally:
        await context.close()


def _is_about_the_line(complaint: str) -> bool:
    return "Failed to load resource" in complaint or "WebSocket connection to" in complaint
