"""What the page says of the tools that an answer used, through the real server and a real browser."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.async_api import Browser, expect

from tests.channels.web.browser import visiting
from tests.channels.web.house import House, Turn, card
from tests.channels.web.scenes import write

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


async def noting(turn: Turn) -> None:
    await turn.tool("c1", "note_write", "buy milk")
    verb = await turn.ask(replace(card(), tool="note_write"))
    await turn.tool_done("c1", 12.0 if verb == "deny" else 0.1, error=verb == "deny")
    await turn.end()


@pytest.mark.parametrize(("button", "told"), [("Once", "Used note_write0.1 s"), ("Deny", "note_write was not used")])
async def test_a_tool_is_said_to_be_used_only_once_it_was(browser: Browser, button: str, told: str) -> None:
    house = House(script=noting)
    async with house.open(), visiting(browser, house) as page, visiting(browser, house, locale="zh-CN") as other:
        await write(page, "Note it")
        await expect(page.locator(".activity summary")).to_have_text("Asks to use note_write")
        await expect(other.locator(".activity summary")).to_have_text("请求使用 note_write")
        await page.locator(".card").get_by_role("button", name=button, exact=True).click()
        await expect(page.locator(".turn.live")).to_have_count(0)
        await expect(page.locator(".activity summary")).to_have_text(told)
        await page.reload()
        await expect(page.locator(".activity summary")).to_have_text(told)


async def test_a_tool_that_never_ran_shows_no_time(browser: Browser) -> None:
    async def script(turn: Turn) -> None:
        await turn.tool("c1", "note_wirte", "buy milk")
        await turn.tool_done("c1", 0.001, error=True)
        await turn.tool("c2", "note_write", "buy milk")
        await turn.ask(replace(card(), call_id="c2", tool="note_write"))
        await turn.tool_done("c2", 12.0, error=True)
        await turn.tool("c3", "now", "")
        await turn.tool_done("c3", 2.5)
        await turn.end()

    house = House(script=script)
    async with house.open(), visiting(browser, house) as page:
        await write(page, "Note it")
        await page.locator(".card").get_by_role("button", name="Deny", exact=True).click()
        await expect(page.locator(".turn.live")).to_have_count(0)
        await expect(page.locator(".activity summary .faint")).to_have_text("2.5 s")
        await expect(page.locator(".activity li .faint")).to_have_text(["", "", "2.5 s"])
