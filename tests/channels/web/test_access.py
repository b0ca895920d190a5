"""The page for everybody: keyboard alone, a screen reader, a phone, dark and light, less motion."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect
from pydantic import SecretStr

from bot.core.inbound import ButtonPress
from bot.core.stop import StopReason
from channels.web.channel import Config
from tests.channels.web.browser import visiting
from tests.channels.web.house import House, Turn, card
from tests.channels.web.scenes import write
from tests.channels.web.shot import ANSWER

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 640}, "is_mobile": True, "has_touch": True}


async def full(turn: Turn) -> None:
    """An answer with everything on it."""
    await turn.tool(
        "c0", "web_search", "a long query that does not fit on a narrow screen without being cut off somewhere"
    )
    await turn.tool_done("c0", 0.4)
    await turn.write(ANSWER + "\n\n" + "https://example.org/" + "a-very-long-address/" * 12)
    await turn.ask(card())
    await turn.end(StopReason.TOOL_LIMIT, "The limit of 25 tool calls was reached.")


async def focused(page: Page) -> str:
    return str(await page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))


async def test_everything_can_be_done_with_the_keyboard(browser: Browser) -> None:
    house = House(script=full)
    async with house.open(), visiting(browser, house) as page:
        first = "[...document.querySelectorAll('a, button, textarea')].find((one) => one.tabIndex >= 0)"
        await page.evaluate(f"{first}.focus()")
        assert await focused(page) == "Skip to the message box"
        await expect(page.locator(".skip")).to_be_in_viewport()
        await page.keyboard.press("Enter")
        assert await focused(page) == "message"
        await page.keyboard.type("Do something")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("button", name="Deny")).to_be_visible()
        for _ in range(40):
            await page.keyboard.press("Shift+Tab")
            if await focused(page) == "Always":
                break
        outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        await page.keyboard.press("Enter")
        await expect(page.locator(".notice")).to_be_visible()
        assert next(one for one in house.inbound if isinstance(one, ButtonPress)).payload.endswith(":always")
        await page.evaluate("document.activeElement.blur()")
        await page.keyboard.press("/")
        assert await focused(page) == "message"
        await expect(page.get_by_role("textbox", name="Message")).to_have_value("")
        await page.evaluate("document.activeElement.blur()")
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await page.keyboard.press("Control+Shift+KeyO")
        await expect(page.locator("#empty")).to_be_visible()
        await page.keyboard.press("Tab")
        await page.keyboard.press("Shift+Tab")
        assert await focused(page) == "message"


async def test_a_screen_reader_hears_the_finished_answer_and_not_every_token(browser: Browser) -> None:
    house = House()
    async with house.open(), visiting(browser, house) as page:
        spoken = page.locator("#spoken")
        await expect(spoken).to_have_attribute("aria-live", "polite")
        turn = house.start("a")
        await turn.write("The **answer** is 42")
        await expect(page.get_by_role("log", name="Conversation")).to_have_attribute("aria-live", "off")
        await expect(page.locator(".turn")).to_have_attribute("aria-busy", "true")
        await asyncio.sleep(0.1)
        await expect(spoken).to_have_text("")
        await turn.write(".")
        await turn.end()
        await expect(spoken).to_have_text("Answer: The answer is 42.")
        await expect(page.locator(".turn")).to_have_attribute("aria-busy", "false")


async def test_everything_has_a_name_and_a_place(browser: Browser) -> None:
    house = House(script=full)
    house.about["model"] = {"state": "ready", "name": "local/small", "demo": True}
    async with house.open(), visiting(browser, house) as page:
        await write(page, "All of it")
        await expect(page.get_by_role("button", name="Deny")).to_be_visible()
        nameless = await page.evaluate("""() => [...document.querySelectorAll("button, a, input, textarea, summary, [role=button]")]
          .filter((one) => one.checkVisibility())
          .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length))
          .map((one) => one.outerHTML)""")
        assert nameless == []
        assert await page.locator("h1").count() == 1
        assert await page.locator("main").count() == 1
        assert await page.locator("img:not([alt])").count() == 0
        assert await page.locator("svg:not([aria-hidden=true])").count() == 0
        assert await page.locator("[id]").evaluate_all("all => new Set(all.map(one => one.id)).size === all.length")
        assert await page.locator("[tabindex]").evaluate_all("all => all.every((one) => one.tabIndex < 1)")
        levels = await page.locator("h1, h2, h3, h4").evaluate_all("all => all.map((one) => +one.localName[1])")
        assert min(levels) == 1
        scrollable = await page.evaluate("""() => [...document.querySelectorAll("#turns *")]
          .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX === "auto" && one.tabIndex < 0)
          .map((one) => one.className)""")
        assert scrollable == []


CONTRAST = """(wanted) => {
  const rgb = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const solid = (color, under) => {
    canvas.fillStyle = under; canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (color) => {
    const [r, g, b] = color.map((part) => (part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (one) => {
    const layers = [];
    for (let at = one; at; at = at.parentElement) layers.unshift(getComputedStyle(at).backgroundColor);
    return layers.reduce((under, color) => `rgb(${solid(color, under)})`, "rgb(255,255,255)");
  };
  const bad = [];
  for (const one of document.querySelectorAll(wanted)) {
    if (!one.checkVisibility()) continue;
    const under = ground(one);
    const [a, b] = [light(solid(getComputedStyle(one).color, under)), light(rgb(under))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${one.className || one.localName} ${ratio.toFixed(2)}`);
  }
  return [...new Set(bad)];
}"""
READ = (
    ".block p, .block th, .block td, .block code, .t-comment, .t-string, .t-number, .t-word, .t-call, .bubble p, "
    ".notice, .activity .faint, .tool-name, .tool-what, .activity summary span, .card h3, .card .why, .effect, "
    ".arguments dt, .arguments dd, .answers button, .left, .status span:not(.pulse), #title, #chats a, #chats h2, "
    ".pill, .banner p, .banner button, .side-foot *, #hint, .code-name, .copy, #new-chat"
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_all_text_stands_out_from_its_ground(browser: Browser, scheme: Any) -> None:
    house = House(script=full)
    house.about["model"] = {"state": "ready", "name": "local/small", "demo": True}
    async with house.open(), visiting(browser, house, color_scheme=scheme) as page:
        await write(page, "All of it")
        await expect(page.get_by_role("button", name="Deny")).to_be_visible()
        ground = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(250, 249, 246)" if scheme == "light" else "rgb(19, 20, 28)")
        weak = await page.evaluate(CONTRAST, READ)
        assert weak == [], "\n".join(weak)


OVERFLOW = """() => [document.documentElement, ...document.querySelectorAll("#main, #scroll, #log, #empty, #below")]
  .filter((one) => one.scrollWidth > one.clientWidth && one.clientWidth).map((one) => `${one.id} ${one.scrollWidth}`)"""


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
async def test_the_first_screen_fits_every_phone(browser: Browser, locale: str) -> None:
    house = House()
    async with house.open(), visiting(browser, house, **PHONE, locale=locale) as page:
        await expect(page.locator("#ideas li")).not_to_have_count(0)
        for width in (280, 320, 360, 390, 430, 600):
            await page.set_viewport_size({"width": width, "height": 700})
            assert await page.evaluate(OVERFLOW) == [], width
            right = "all => Math.max(...all.map((one) => one.getBoundingClientRect().right))"
            assert await page.locator("#ideas li").evaluate_all(right) <= width, width


async def test_on_a_phone_everything_fits_and_nothing_zooms(browser: Browser) -> None:
    house = House(script=full)
    async with house.open(), visiting(browser, house, **PHONE) as page:
        await write(page, "All of it")
        await expect(page.get_by_role("button", name="Deny")).to_be_visible()
        assert await page.evaluate(OVERFLOW) == []
        wide = await page.evaluate("""() => [...document.querySelectorAll("#main *")]
          .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > 361)
          .filter((one) => !one.closest(".table, pre, .formula, .unseen")).map((one) => one.outerHTML.slice(0, 120))""")
        assert wide == []
        box = page.get_by_role("textbox", name="Message")
        assert await box.evaluate("one => parseFloat(getComputedStyle(one).fontSize)") >= 16
        await expect(box).to_be_in_viewport()
        assert "viewport-fit=cover" in await page.locator("meta[name=viewport]").get_attribute("content")  # type: ignore[operator]
        for name in ("Stop", "Once", "Deny", "Open the list of chats"):
            size = await page.get_by_role("button", name=name, exact=True).bounding_box()
            assert size is not None
            assert min(size["width"], size["height"]) >= 38, name


async def test_on_a_phone_the_chats_are_a_drawer(browser: Browser) -> None:
    house = House()
    async with house.open(), visiting(browser, house, **PHONE) as page:
        await expect(page.get_by_role("button", name="New chat")).to_be_hidden()
        menu = page.get_by_role("button", name="Open the list of chats")
        await menu.click()
        await expect(page.get_by_role("button", name="New chat")).to_be_focused()
        await expect(page.locator("#menu")).to_have_attribute("aria-expanded", "true")
        assert await page.locator("#main").evaluate("one => one.inert")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("button", name="New chat")).to_be_hidden()
        await expect(menu).to_be_focused()
        await menu.click()
        await page.touchscreen.tap(350, 300)
        await expect(page.locator("#veil")).to_be_hidden()


async def test_the_message_box_grows_with_its_text_and_not_for_ever(browser: Browser) -> None:
    house = House()
    async with house.open(), visiting(browser, house) as page:
        box = page.get_by_role("textbox", name="Message")
        height = "one => one.getBoundingClientRect().height"
        one = await box.evaluate(height)
        await box.fill("a\nb\nc\nd")
        four = await box.evaluate(height)
        assert four > 2.5 * one
        await box.fill("line\n" * 200)
        assert await box.evaluate(height) <= 0.42 * 800
        await expect(page.get_by_role("button", name="Send")).to_be_in_viewport()
        await box.fill("")
        assert await box.evaluate(height) == one


async def test_less_motion_is_respected(browser: Browser) -> None:
    house = House()
    async with house.open(), visiting(browser, house, reduced_motion="reduce") as page:
        turn = house.start("a")
        await turn.tool("c", "web_search", "x")
        spinner = page.locator(".spinner")
        await expect(spinner).to_be_visible()
        assert await spinner.evaluate("one => getComputedStyle(one).animationDuration") == "3s"
        assert (
            await page.locator("#side").evaluate("one => parseFloat(getComputedStyle(one).transitionDuration)") < 0.01
        )


async def test_the_token_is_asked_for_once(browser: Browser) -> None:
    house = House(Config(port=0, token=SecretStr("open sesame 12345"), loopback="token"))
    async with house.open():
        context = await browser.new_context(locale="en-GB")
        page = await context.new_page()
        await page.goto(house.url)
        await expect(page.get_by_role("heading", name="Sign in to Bowerbird")).to_be_visible()
        await page.get_by_label("Access token").fill("wrong")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_have_text("This access token is not the right one.")
        await page.get_by_label("Access token").fill("open sesame 12345")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="What can I do for you?")).to_be_visible()
        await write(page, "Hello")
        await expect(page.locator(".answer")).to_have_text("You said: Hello")
        await page.reload()
        await expect(page.locator(".answer")).to_have_text("You said: Hello")
        assert await page.evaluate("document.cookie") == ""
        await context.close()
