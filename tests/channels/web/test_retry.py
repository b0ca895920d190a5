"""The page's button below an answer that ended badly."""

from __future__ import annotations

import aiohttp
import pytest
from playwright.async_api import Browser, expect

from bot.core.inbound import ButtonPress
from bot.core.stop import StopReason
from tests.channels.web.browser import visiting
from tests.channels.web.house import House, Turn
from tests.channels.web.scenes import write

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


async def faulty(turn: Turn) -> None:
    """Fails at what is called bad."""
    if "bad" in turn.message.text:
        await turn.write("This far, and")
        await turn.end(StopReason.PROVIDER_UNAVAILABLE, "No model can be reached right now.")
    else:
        await turn.write("Gladly.")
        await turn.end()


def pressed(house: House) -> list[str]:
    return [one.payload for one in house.inbound if isinstance(one, ButtonPress)]


async def test_the_last_answer_offers_another_where_it_ended_badly(browser: Browser) -> None:
    house = House(script=faulty)
    async with house.open(), visiting(browser, house) as page:
        again = page.locator(".turn").get_by_role("button", name="Try again", exact=True)
        await write(page, "a good question")
        await expect(page.locator(".answer")).to_have_text("Gladly.")
        await expect(again).to_have_count(0)
        await write(page, "a bad question")
        await expect(again).to_be_visible()
        await page.reload()
        await expect(again).to_be_visible()
        await again.focus()
        await page.keyboard.press("Enter")
        await expect(again).to_be_disabled()
        assert pressed(house) == ["b:turn2:retry"]
        await write(page, "something newer")
        await expect(page.locator(".answer").last).to_have_text("Gladly.")
        await expect(again).to_have_count(0)  # it is there, and nobody is shown it


async def test_a_press_that_fails_says_so_and_may_be_repeated(browser: Browser) -> None:
    house = House(script=faulty)
    async with house.open(), visiting(browser, house) as page:
        again = page.locator(".turn").get_by_role("button", name="Try again", exact=True)
        await write(page, "a bad question")
        await expect(again).to_be_visible()
        house.full = True
        await again.click()
        await expect(page.locator(".notice.bad").last).to_contain_text("disk")
        house.full = False
        await again.click()
        await expect(again).to_be_disabled()
        assert pressed(house) == ["b:turn1:retry"]


async def test_the_button_reads_chinese_where_the_page_does(browser: Browser) -> None:
    house = House(script=faulty, language="zh")
    async with house.open(), visiting(browser, house, locale="zh-CN") as page:
        await page.get_by_role("textbox").fill("bad")
        await page.keyboard.press("Enter")
        await expect(page.locator(".turn").get_by_role("button", name="重试", exact=True)).to_be_visible()


async def test_the_same_by_the_api() -> None:
    house = House(script=faulty)
    async with house.open(), aiohttp.ClientSession() as http:
        for body, status in (
            ({"chat": "main", "turn": "turn9"}, 202),
            ({"chat": "main"}, 404),
            ({"turn": "turn9"}, 202),
        ):
            async with http.post(f"{house.url}/v1/retry", json=body) as answer:
                assert answer.status == status, await answer.text()
    assert pressed(house) == ["b:turn9:retry"] * 2
