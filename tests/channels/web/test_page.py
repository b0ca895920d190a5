"""The page in a real browser: writing, watching, deciding, leaving and coming back."""

from __future__ import annotations

import asyncio
import re

import pytest
from playwright.async_api import Browser, expect

from bot.core.inbound import ButtonPress, StopPressed, UserMessage
from bot.core.stop import StopReason
from bot.core.view import Phase
from channels.web.screen import Said
from tests.channels.web.browser import visiting
from tests.channels.web.house import House, Turn, card
from tests.channels.web.scenes import slow, story, write

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


async def test_a_message_is_typed_and_its_answer_grows(browser: Browser) -> None:
    house = House(script=story)
    async with house.open(), visiting(browser, house) as page:
        await expect(page.get_by_role("heading", name="What can I do for you?")).to_be_visible()
        box = page.get_by_role("textbox", name="Message")
        await expect(box).to_be_focused()
        await box.press_sequentially("Tell me")
        await page.keyboard.press("Shift+Enter")
        await box.press_sequentially("a story")
        await page.keyboard.press("Enter")
        await expect(box).to_have_value("")
        await expect(page.locator(".bubble p")).to_have_text("Tell me\na story")
        await expect(page.locator(".answer")).to_contain_text("Once upon")
        await expect(page.locator(".turn.live")).to_have_count(1)
        await expect(page.locator(".turn.live")).to_have_count(0)
        await expect(page.locator(".answer strong")).to_have_text("upon")
        await expect(page.locator(".answer li")).to_have_count(2)
        await expect(page.locator(".answer")).to_contain_text("从前有一只鸟。")
        await expect(page.locator("#empty")).to_be_hidden()
        message = house.inbound[0]
        assert isinstance(message, UserMessage)
        assert message.text == "Tell me\na story"


async def test_an_input_method_can_use_enter_without_sending(browser: Browser) -> None:
    house = House(script=story)
    async with house.open(), visiting(browser, house, locale="zh-CN") as page:
        box = page.get_by_role("textbox", name="消息")
        await box.fill("你好")
        for event in ("{key:'Enter',isComposing:true,", "{key:'Enter',keyCode:229,"):
            await box.evaluate(
                f"box => box.dispatchEvent(new KeyboardEvent('keydown', {event}bubbles:true,cancelable:true}}))"
            )
        await asyncio.sleep(0.1)
        assert house.inbound == []
        await expect(page.get_by_text("我能为你做些什么？")).to_be_visible()
        await box.press("Enter")
        await expect(page.locator(".bubble p")).to_have_text("你好")
        assert await page.evaluate("document.documentElement.lang") == "zh-Hans"
        await expect(page.locator(".turn.live")).to_have_count(0)


async def asking(turn: Turn) -> None:
    await turn.write("I need to run something.")
    verb = await turn.ask(card())
    await turn.write(f"\n\nYou said {verb}.")
    await turn.end()


@pytest.mark.parametrize(
    ("button", "verb", "told"),
    [
        ("Once", "once", "Allowed once"),
        ("This chat", "chat", "Allowed for this chat"),
        ("Always", "always", "Always allowed"),
        ("Deny", "deny", "Denied"),
    ],
)
async def test_an_approval_is_decided_with_a_button(browser: Browser, button: str, verb: str, told: str) -> None:
    house = House(script=asking)
    async with house.open(), visiting(browser, house) as page, visiting(browser, house) as other:
        await write(page, "Do it")
        asked = page.get_by_role("region", name="May I do this? shell")
        await expect(asked.get_by_text("runs a program", exact=True)).to_be_visible()
        await expect(asked.locator("dd").first).to_have_text("ls -la")
        await expect(page.get_by_text("Waiting for your decision")).to_be_visible()
        await expect(page.get_by_role("status")).to_contain_text("shell asks for your approval")
        await asked.get_by_role("button", name=button, exact=True).click()
        await expect(page.locator(".card")).to_contain_text(f"{told}shellby Owner")
        await expect(other.locator(".card")).to_contain_text(told)
        await expect(page.locator(".answer")).to_contain_text(f"You said {verb}.")
        press = next(one for one in house.inbound if isinstance(one, ButtonPress))
        assert press.payload == f"b:card1:{verb}"


ACTIVE = (
    "document.activeElement.closest('.card') ? document.activeElement.tagName : document.activeElement.id || 'BODY'"
)


@pytest.mark.parametrize("button", ["Once", "Deny"])
async def test_the_keyboard_stays_at_the_question_after_it_was_answered(browser: Browser, button: str) -> None:
    house = House(script=asking)
    async with house.open(), visiting(browser, house) as page:
        await write(page, "Do it")
        await page.locator(".card").get_by_role("button", name=button, exact=True).focus()
        await page.keyboard.press("Enter")
        await expect(page.locator(".answer")).to_contain_text("You said")
        assert await page.evaluate(ACTIVE) == "SUMMARY"


async def test_a_decision_made_elsewhere_leaves_the_keyboard_where_it_is(browser: Browser) -> None:
    house = House(script=asking)
    async with house.open(), visiting(browser, house) as page, visiting(browser, house) as other:
        await write(page, "Do it")
        await page.get_by_role("textbox", name="Message").focus()
        await other.locator(".card").get_by_role("button", name="Deny", exact=True).click()
        await expect(page.locator(".card")).to_contain_text("Denied")
        assert await page.evaluate(ACTIVE) == "message"


async def test_a_press_that_fails_gives_the_keyboard_back_to_its_button(browser: Browser) -> None:
    house = House(script=asking)
    async with house.open(), visiting(browser, house) as page:
        await write(page, "Do it")
        deny = page.locator(".card").get_by_role("button", name="Deny", exact=True)
        await deny.focus()
        house.full = True
        await page.keyboard.press("Enter")
        await expect(page.locator(".card .told")).not_to_be_empty()
        await expect(deny).to_be_focused()


async def test_an_open_question_survives_a_reconnection_once_and_with_its_focus(browser: Browser) -> None:
    house = House(script=asking)
    async with house.open(), visiting(browser, house) as page:
        await write(page, "Do it")
        deny = page.locator(".card").get_by_role("button", name="Deny", exact=True)
        await deny.focus()
        log = house.channel._hub.log(house.inbound[0].address.chat)
        log._append(log.screens["turn1"].snapshot())  # what a page gets that was away for longer than the log remembers
        await house.turns["turn1"].write(" Still here.")
        await expect(page.locator(".answer")).to_contain_text("Still here.")
        await expect(page.locator(".card")).to_have_count(1)
        await expect(deny).to_be_focused()


async def test_stop_is_there_while_something_runs(browser: Browser) -> None:
    house = House(script=slow)
    async with house.open(), visiting(browser, house) as page:
        await expect(page.get_by_role("button", name="Stop")).to_be_hidden()
        await write(page, "Take your time")
        await page.get_by_role("button", name="Stop").click()
        await expect(page.locator(".notice")).to_have_text("Stopped.")
        await expect(page.get_by_role("button", name="Stop")).to_be_hidden()
        assert isinstance(house.inbound[-1], StopPressed)
        await write(page, "Again")
        await expect(page.get_by_role("button", name="Stop")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.locator(".notice")).to_have_count(2)


async def test_tools_show_what_runs_and_fold_afterwards(browser: Browser) -> None:
    async def script(turn: Turn) -> None:
        await turn.think()
        await turn.tool("c1", "web_search", "satin bowerbird")
        await turn.stopped.wait()
        await turn.tool_done("c1", 1.25)
        await turn.tool("c2", "web_fetch", "https://example.org")
        await turn.tool_done("c2", 0.5, error=True)
        await turn.write("Found it.")
        await turn.end()

    house = House(script=script)
    async with house.open(), visiting(browser, house) as page:
        await write(page, "Search")
        line = page.locator(".activity li")
        await expect(line).to_contain_text("web_search")
        await expect(line).to_contain_text("satin bowerbird")
        await expect(line.locator(".spinner")).to_be_visible()
        await expect(line).to_contain_text(re.compile(r"[2-5] s"))
        house.turns["turn1"].stopped.set()
        await expect(page.locator(".activity summary")).to_have_text("Used 2 tools1.8 s")
        await expect(line.first).to_be_hidden()
        await page.locator(".activity summary").click()
        await expect(line.nth(1)).to_have_class("failed")


async def test_chats_are_listed_switched_and_begun(browser: Browser) -> None:
    house = House(script=story)
    async with house.open(), visiting(browser, house, "#first") as page:
        await write(page, "The first chat")
        await expect(page.locator(".turn footer")).to_be_visible()
        await expect(page.get_by_role("heading", level=1)).to_have_text("The first chat")
        await page.get_by_role("button", name="New chat").click()
        await expect(page.locator("#empty")).to_be_visible()
        assert re.fullmatch(r"#[a-z0-9]{12}", await page.evaluate("location.hash"))
        await write(page, "The second chat")
        links = page.get_by_role("navigation", name="Chats").get_by_role("link")
        await expect(links).to_have_count(2)
        await expect(links.first).to_have_attribute("aria-current", "page")
        await page.get_by_role("link", name="The first chat").click()
        await expect(page.locator(".bubble p")).to_have_text("The first chat")
        assert await page.evaluate("location.hash") == "#first"
        assert await page.title() == "The first chat · Bowerbird"
        await page.go_back()
        await expect(page.locator(".bubble p")).to_have_text("The second chat")
        await page.keyboard.press("Alt+ArrowDown")
        await expect(page.locator(".bubble p")).to_have_text("The first chat")
        await page.goto(house.url)
        await expect(page.locator(".bubble p")).to_have_text("The first chat")


async def test_a_draft_stays_with_its_chat(browser: Browser) -> None:
    house = House()
    async with house.open(), visiting(browser, house, "#one") as page:
        box = page.get_by_role("textbox", name="Message")
        await box.fill("Half a thought")
        await page.goto(f"{house.url}/#two")
        await expect(box).to_have_value("")
        await page.goto(f"{house.url}/#one")
        await expect(box).to_have_value("Half a thought")


async def test_the_view_follows_the_end_until_the_reader_looks_back(browser: Browser) -> None:
    house = House()
    async with house.open(), visiting(browser, house) as page:
        turn = house.start("a")
        lines = "".join(f"Paragraph number {n} with a few words.\n\n" for n in range(60))
        await turn.write(lines)
        scroll = page.locator("#scroll")
        gap = "box => box.scrollHeight - box.scrollTop - box.clientHeight"
        await expect(page.get_by_text("Paragraph number 59")).to_be_in_viewport()
        await expect(page.locator("#latest")).to_be_hidden()
        await scroll.hover()
        await page.mouse.wheel(0, -900)
        await expect(page.locator("#latest")).to_be_visible()
        before = await scroll.evaluate("box => box.scrollTop")
        await turn.write("More and more.\n\n" * 20)
        await asyncio.sleep(0.2)
        assert await scroll.evaluate("box => box.scrollTop") == before
        await page.locator("#latest").click()
        await expect(page.locator("#latest")).to_be_hidden()
        await page.wait_for_function(f"() => ({gap})(document.querySelector('#scroll')) < 4")
        await turn.write("And on it goes.\n\n" * 20)
        await expect(page.get_by_text("And on it goes.").last).to_be_in_viewport()
        assert await scroll.evaluate(gap) < 80


async def test_a_selection_survives_the_growing_text(browser: Browser) -> None:
    house = House()
    async with house.open(), visiting(browser, house) as page:
        turn = house.start("a")
        await turn.write("Keep this sentence selected. And")
        await expect(page.locator(".answer p")).to_contain_text("And")
        await page.evaluate("""() => {
          const text = document.querySelector('.answer p').firstChild;
          getSelection().setBaseAndExtent(text, 0, text, 28);
        }""")
        await turn.write(" more **words** arrive")
        await expect(page.locator(".answer strong")).to_have_text("words")
        assert await page.evaluate("getSelection().toString()") == "Keep this sentence selected."


async def test_a_text_that_is_taken_back_disappears(browser: Browser) -> None:
    house = House()
    async with house.open(), visiting(browser, house) as page:
        turn = house.start("a")
        await turn.write("First 👩‍👩‍👧 attempt\n\nwith two paragraphs")
        await expect(page.locator(".answer p")).to_have_count(2)
        await turn.show(text="First 👩‍👩‍👧 try")
        await expect(page.locator(".answer")).to_have_text("First 👩‍👩‍👧 try")
        await turn.write(", better")
        await turn.end()
        await expect(page.locator(".answer")).to_have_text("First 👩‍👩‍👧 try, better")
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await page.get_by_role("button", name="Copy the answer").click()
        assert await page.evaluate("navigator.clipboard.readText()") == "First 👩‍👩‍👧 try, better"


async def test_a_failure_is_told_and_marked(browser: Browser) -> None:
    async def script(turn: Turn) -> None:
        await turn.end(StopReason.PROVIDER_UNAVAILABLE, "No model can be reached right now.")

    house = House(script=script)
    async with house.open(), visiting(browser, house) as page:
        await write(page, "Hello?")
        await expect(page.locator(".notice.bad")).to_have_text("No model can be reached right now.")
        await expect(page.get_by_role("button", name="Copy the answer")).to_have_count(0)


async def test_code_is_coloured_and_copied(browser: Browser) -> None:
    async def script(turn: Turn) -> None:
        await turn.stream('Look:\n\n```python\ndef f(x):\n    return "<b>"  # note\n```\n\nDone', size=5)
        await turn.end()

    house = House(script=script)
    async with house.open(), visiting(browser, house) as page:
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await write(page, "Code")
        await expect(page.locator(".code .t-word").first).to_have_text("def")
        await expect(page.locator(".code .t-comment")).to_have_text("# note")
        copy = page.get_by_role("button", name="Copy the code")
        await copy.click()
        await expect(copy).to_contain_text("Copied")
        assert await page.evaluate("navigator.clipboard.readText()") == 'def f(x):\n    return "<b>"  # note\n'


async def test_a_message_added_meanwhile_stands_where_it_was_said(browser: Browser) -> None:
    house = House()
    async with house.open(), visiting(browser, house) as page:
        turn = house.start("a")
        await turn.write("First part.\n\n")
        await expect(page.locator(".answer")).to_contain_text("First part.")
        house.channel._hub.log("a").say(turn.id, Said("mx", "One more thing", 1_800_000_000.0, 1))
        await turn.write("Second part.")
        await turn.end()
        await expect(page.locator(".answer")).to_contain_text("Second part.")
        kinds = await page.locator(".answer > *").evaluate_all("all => all.map((one) => one.className.trim())")
        assert kinds == ["block", "bubble", "block"]


async def test_the_model_that_answers_is_named(browser: Browser) -> None:
    house = House()
    house.about["model"] = {"state": "downloading", "name": "local/small", "done": 43, "total": 100, "demo": True}
    async with house.open(), visiting(browser, house) as page:
        await expect(page.locator(".banner")).to_contain_text("Fetching the model local/small · 43 %")
        house.about["model"] = {"state": "loading", "name": "local/small", "demo": True}
        await expect(page.locator(".banner")).to_contain_text("Loading the model")
        house.about["model"] = {"state": "ready", "name": "local/small", "demo": True}
        await expect(page.locator(".banner")).to_contain_text("small built-in model")
        await page.get_by_role("button", name="How to plug in a better one").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("ANTHROPIC_API_KEY")
        await expect(dialog).to_contain_text("ollama pull")
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Hide this").click()
        await expect(page.locator(".banner")).to_have_count(0)
        await expect(page.locator("#model")).to_have_text("Demo model")
        house.about["model"] = {"state": "ready", "name": "anthropic/claude", "demo": False}
        await expect(page.locator("#model")).to_have_text("claude")
        await expect(page.get_by_role("button", name="Model: claude", exact=True)).to_be_visible()
        house.about["trouble"] = "The disk is full."
        await expect(page.get_by_role("alert")).to_have_text("The disk is full.")


async def test_what_is_wrong_is_told_in_the_language_of_the_page(browser: Browser) -> None:
    house = House()
    house.about["trouble"] = "The disk is full."
    house.about["troubles"] = {"en": "The disk is full.", "zh": "磁盘已满。"}
    async with house.open(), visiting(browser, house) as page, visiting(browser, house, locale="zh-CN") as other:
        await expect(page.get_by_role("alert")).to_have_text("The disk is full.")
        await expect(other.get_by_role("alert")).to_have_text("磁盘已满。")


async def test_right_to_left_text_reads_from_the_right(browser: Browser) -> None:
    async def script(turn: Turn) -> None:
        await turn.write("مرحبا بالعالم، هذا نص عربي.\n\nAnd English.\n\n- عنصر\n")
        await turn.end()

    house = House(script=script)
    async with house.open(), visiting(browser, house) as page:
        await write(page, "שלום עולם")
        await expect(page.locator(".turn footer")).to_be_visible()
        direction = "one => getComputedStyle(one).direction"
        assert await page.locator(".bubble p").evaluate(direction) == "rtl"
        assert await page.locator(".block").nth(0).evaluate(direction) == "rtl"
        assert await page.locator(".block").nth(1).evaluate(direction) == "ltr"
        assert await page.locator(".block").nth(2).evaluate(direction) == "rtl"


async def test_thinking_is_shown_with_its_time(browser: Browser) -> None:
    house = House()
    async with house.open(), visiting(browser, house) as page:
        turn = house.start("a")
        await turn.think()
        status = page.locator(".turn .status")
        await expect(status).to_contain_text("Thinking")
        await expect(status).to_contain_text(re.compile(r"[2-5] s"))
        await turn.write("Here")
        await expect(status).to_be_hidden()
        await turn.show(phase=Phase.THINKING)
        await expect(status).to_be_visible()
