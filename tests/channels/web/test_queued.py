"""A message that waits for its turn."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.channels.web.browser import visiting
from tests.channels.web.house import House, Turn
from tests.channels.web.scenes import write

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


async def test_a_message_amid_an_answer_waits_for_its_turn_before_and_after_a_reload(browser: Browser) -> None:
    async def script(turn: Turn) -> None:
        if turn.message.text != "Second":
            await turn.write("An answer that takes its time")
        await turn.stopped.wait()

    house = House(script=script)
    async with house.open(), visiting(browser, house) as page:
        await write(page, "First")
        await expect(page.locator(".answer").first).to_contain_text("takes its time")
        await write(page, "Second")
        for _ in range(2):
            second = page.locator(".turn").nth(1)
            await expect(second).to_contain_text("Second")
            await expect(second.get_by_text("Waiting for its turn")).to_be_visible()
            await expect(page.locator(".turn .status:visible")).to_have_count(0)
            await expect(page.get_by_text("Waiting for its turn").locator("visible=true")).to_have_count(1)
            await page.reload()
        first, waiting = house.turns.values()
        await first.end()
        await expect(page.get_by_text("Waiting for its turn").locator("visible=true")).to_have_count(0)
        await waiting.think()
        await expect(page.locator(".turn").nth(1).get_by_text("Thinking")).to_be_visible()
