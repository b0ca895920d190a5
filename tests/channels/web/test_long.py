"""How long a message may be: as many characters on every way in, and told in characters."""

from __future__ import annotations

import io
import json

import aiohttp
import openai
import pytest
from openai import AsyncOpenAI
from playwright.async_api import Browser, expect

from bot.core.inbound import UserMessage
from channels.web.desk import TEXT_CHARS
from tests.channels.web.browser import visiting
from tests.channels.web.house import House, Turn


async def silent(turn: Turn) -> None:
    await turn.stopped.wait()


@pytest.mark.parametrize("escaped", [False, True])
async def test_the_longest_message_is_taken_in_whatever_script_it_is_written(escaped: bool) -> None:
    house = House(script=silent, language="en")
    async with house.open(), aiohttp.ClientSession() as http:
        headers = {"content-type": "application/json"}
        for id_, text, status in (("1", "🦜" * TEXT_CHARS, 202), ("2", "字" * (TEXT_CHARS + 1), 413)):
            raw = json.dumps({"chat": "a", "text": text, "id": id_}, ensure_ascii=escaped).encode()
            async with http.post(house.url + "/v1/messages", data=io.BytesIO(raw), headers=headers) as answer:
                assert answer.status == status
                told = await answer.json()
        assert "longer than 100000 characters" in told["error"]
        line = await http.ws_connect(f"{house.url}/v1/ws?chat=b")
        await line.send_str(json.dumps({"type": "message", "id": "3", "text": "🦜" * TEXT_CHARS}, ensure_ascii=escaped))
        while (reply := await line.receive_json())["type"] not in ("receipt", "error"):
            pass
        assert reply == {"type": "receipt", "id": "3", "turn": "turn2"}
        await line.close()


async def test_a_message_that_is_too_long_is_no_matter_of_permission() -> None:
    house = House(language="en")
    async with house.open(), AsyncOpenAI(base_url=f"{house.url}/v1", api_key="x") as ai:
        with pytest.raises(openai.APIStatusError, match="longer than 100000 characters") as large:
            await ai.chat.completions.create(model="bowerbird", messages=[{"role": "user", "content": "字" * 100_001}])
        assert (large.value.status_code, large.value.type) == (413, "invalid_request_error")
        assert house.inbound == []


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
async def test_a_text_that_is_too_long_is_told_in_characters_before_it_is_sent(browser: Browser) -> None:
    house = House()
    async with house.open(), visiting(browser, house) as page:
        box, told = page.get_by_role("textbox", name="Message"), page.locator("#too-long")
        await box.fill("🦜" * 100_001)
        await expect(told).to_have_text(
            "This message has 100,001 characters; the most is 100,000. Shorten it, or send it in pieces."
        )
        await expect(page.get_by_role("button", name="Send")).to_be_disabled()
        await page.keyboard.press("Enter")
        await expect(page.locator("#spoken")).to_contain_text("100,001")
        assert house.inbound == []
        await box.fill("字" * 100_000)
        await expect(told).to_be_hidden()
        await page.keyboard.press("Enter")
        await expect(page.locator(".answer")).to_contain_text("You said: 字字")
        (message,) = house.inbound
        assert isinstance(message, UserMessage) and message.text == "字" * 100_000
