"""The page's line to the server in a real browser: reloads, restarts, silence, and messages that must not be lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Page, expect

from bot.core.inbound import UserMessage
from channels.web.screen import Said
from tests.channels.web.browser import visiting
from tests.channels.web.house import House, Turn
from tests.channels.web.scenes import story, write

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


async def test_a_reload_in_the_middle_loses_nothing_and_says_nothing_twice(browser: Browser) -> None:
    house = House(script=story)
    async with house.open(), visiting(browser, house) as page:
        await write(page, "Tell me a story")
        await expect(page.locator(".answer")).to_contain_text("upon")
        await page.reload()
        await expect(page.locator(".turn footer")).to_be_visible()
        await expect(page.locator(".turn")).to_have_count(1)
        await expect(page.locator(".bubble")).to_have_count(1)
        await expect(page.locator(".answer strong")).to_have_text("upon")
        once = await page.locator(".answer").inner_html()
        await page.reload()
        await expect(page.locator(".answer li")).to_have_count(2)
        assert await page.locator(".answer").inner_html() == once


async def test_two_pages_of_a_chat_show_the_same(browser: Browser) -> None:
    house = House(script=story)
    async with house.open(), visiting(browser, house) as one, visiting(browser, house) as two:
        await write(one, "From page one")
        await expect(two.locator(".bubble p")).to_have_text("From page one")
        await expect(two.locator(".turn.live")).to_have_count(1)
        for page in (one, two):
            await expect(page.locator(".turn footer")).to_be_visible()
        assert await one.locator(".answer").inner_html() == await two.locator(".answer").inner_html()
        await expect(one.locator(".bubble")).to_have_count(1)


async def test_the_connection_is_lost_and_comes_back(browser: Browser) -> None:
    house = House(script=story)
    async with left_alone(browser, house) as page:
        box = page.get_by_role("textbox", name="Message")
        await box.fill("Written while you were away")
        await page.keyboard.press("Enter")
        await expect(page.locator(".trouble")).to_contain_text("kept here")
        await expect(page.locator(".banner.warn")).to_be_visible()
        async with house.open():
            await page.get_by_role("button", name="Try now").click()
            await expect(page.locator(".answer").last).to_contain_text("从前有一只鸟。")
            await expect(page.locator(".banner.warn")).to_have_count(0)
            await expect(page.locator(".bubble")).to_have_count(2)
            await expect(page.locator(".trouble")).to_have_count(0)
            texts = [one.text for one in house.inbound if isinstance(one, UserMessage)]
            assert texts == ["Before", "Written while you were away"]


@asynccontextmanager
async def left_alone(browser: Browser, house: House) -> AsyncIterator[Page]:
    """A page that was connected and whose server is gone now."""
    opened = house.open()
    await opened.__aenter__()
    async with visiting(browser, house) as page:
        await write(page, "Before")
        await expect(page.locator(".turn footer")).to_be_visible()
        await opened.__aexit__(None, None, None)
        yield page


async def test_a_turn_goes_on_after_a_restart_of_the_server(browser: Browser) -> None:
    house = House()
    opened = house.open()
    await opened.__aenter__()
    async with visiting(browser, house) as page:
        turn = house.start("a", "A long question")
        house.channel._hub.log("a").say(turn.id, _said(turn))
        await turn.write("The first half")
        await expect(page.locator(".answer")).to_have_text("The first half")
        turn.record(None)
        await opened.__aexit__(None, None, None)
        async with house.open():
            await expect(page.locator(".banner")).to_have_count(0)
            await turn.write(" and the second.")
            await turn.end()
            await expect(page.locator(".answer")).to_have_text("The first half and the second.")
            await expect(page.locator(".turn")).to_have_count(1)
            await expect(page.locator(".bubble")).to_have_count(1)


def _said(turn: Turn) -> Said:
    return Said(turn.message.id, turn.message.text, turn.message.sent_at)


async def test_what_the_store_cannot_take_is_kept_and_arrives_once(browser: Browser) -> None:
    house = House(script=story)
    async with house.open(), visiting(browser, house) as page:
        house.full = True
        await write(page, "Precious")
        await expect(page.locator(".trouble")).to_contain_text("the disk of the machine I run on is full")
        await expect(page.locator(".trouble")).to_contain_text("kept here")
        await page.reload()
        await expect(page.locator(".trouble")).to_contain_text("kept here")
        house.full = False
        await expect(page.locator(".answer")).to_contain_text("Once upon")
        await expect(page.locator(".bubble")).to_have_count(1)
        assert len(house.inbound) == 1
        assert await page.evaluate("JSON.parse(localStorage['bowerbird.unsent']).length") == 0


async def test_what_is_refused_for_good_can_be_taken_back(browser: Browser) -> None:
    house = House()
    house.refusal = "Not today."
    async with house.open(), visiting(browser, house) as page:
        await page.get_by_role("textbox", name="Message").fill("Please")
        async with page.expect_response("**/v1/messages"):
            await page.keyboard.press("Enter")
        await expect(page.locator(".trouble")).to_contain_text("Not sent: Not today.")
        await page.get_by_role("button", name="Discard").click()
        await expect(page.get_by_role("textbox", name="Message")).to_have_value("Please")
        await expect(page.locator(".bubble")).to_have_count(0)


async def test_without_websockets_the_page_lives_on_an_event_stream(browser: Browser) -> None:
    house = House(script=story)
    async with house.open(), visiting(browser, house) as page:
        await page.add_init_script(
            "window.WebSocket = class { constructor() { setTimeout(() => this.onclose && this.onclose(), 5); } close() {} }"
        )
        async with page.expect_request("**/v1/events?*"):
            await page.reload()
        await write(page, "Through a stubborn proxy")
        await expect(page.locator(".turn.live")).to_have_count(1)
        await expect(page.locator(".answer")).to_contain_text("从前有一只鸟。")
        await expect(page.locator(".turn footer")).to_be_visible()


async def test_a_line_that_falls_silent_is_replaced(browser: Browser) -> None:
    house = House()
    async with house.open(), visiting(browser, house) as page:
        await page.clock.install()
        await page.reload()
        await expect(page.locator("#empty")).to_be_visible()
        async with page.expect_websocket() as line:
            await page.clock.fast_forward(46_000)
            await page.clock.run_for(3_000)
        assert "after=" in (await line.value).url
        turn = house.start("a")
        await turn.write("Still connected")
        await page.clock.run_for(1_000)
        await expect(page.locator(".answer")).to_have_text("Still connected")
