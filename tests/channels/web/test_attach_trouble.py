"""Attaching files when something is in the way: what is refused, what breaks, what takes too long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Route, expect

from channels.web.uploads import WAIT_SECONDS
from tests.channels.web.attaching import answered, arrived, bring, choose, file, loaded, photo, sent, tray, waiting
from tests.channels.web.browser import visiting
from tests.channels.web.house import House
from tests.channels.web.scenes import write
from tests.fakes.clock import FakeClock

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


async def test_what_cannot_be_sent_is_refused_in_a_sentence_before_it_is_uploaded(
    browser: Browser, tmp_path: Path
) -> None:
    house = House(script=answered, data_dir=tmp_path)
    async with house.open(), visiting(browser, house) as page:
        posted: list[str] = []
        page.on("request", lambda request: posted.append(request.url) if request.method == "POST" else None)
        problems = page.get_by_role("alert")
        film = tmp_path / "film.mp4"
        with film.open("wb") as sparse:
            sparse.truncate(21 * 1024 * 1024)
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("button", name="Attach files").click()
        await (await chooser.value).set_files(film)
        await expect(problems).to_contain_text("“film.mp4” is too large (21 MB): a file may have up to 20 MB.")
        await choose(page, file("blank.txt", b""))
        await expect(problems).to_contain_text("“blank.txt” is empty.")
        await expect(problems).not_to_contain_text("film.mp4")
        assert posted == []
        await choose(page, *(file(f"{n}.txt", b"x%d" % n) for n in range(12)))
        await expect(tray(page)).to_have_count(10)
        await expect(problems).to_contain_text("“10.txt” was left out: a message may have up to 10 files.")
        await expect(problems).to_contain_text("“11.txt” was left out")
        await problems.get_by_role("button", name="Hide this").first.click()
        await expect(problems).not_to_contain_text("“10.txt”")
        await page.evaluate(
            """() => {
              const data = new DataTransfer();
              data.items.add(new File(["x"], "album"));
              const event = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
              DataTransferItem.prototype.webkitGetAsEntry = () => ({ isDirectory: true, name: "album" });
              document.body.dispatchEvent(event);
            }"""
        )
        await expect(problems).to_contain_text("“album” is a folder.")


async def test_a_broken_upload_is_tried_again(browser: Browser, tmp_path: Path) -> None:
    house = House(script=answered, data_dir=tmp_path, language="en")
    async with house.open(), visiting(browser, house) as page:
        answers: list[Callable[[Route], Any]] = [
            lambda route: route.abort(),
            lambda route: route.fulfill(status=503, json={"error": "The disk is full."}),
            lambda route: route.continue_(),
        ]
        await page.route("**/v1/files?*", lambda route: answers.pop(0)(route))
        await choose(page, file("a.txt", b"a"))
        await expect(tray(page)).to_contain_text("The upload broke off.")
        await page.get_by_role("textbox", name="Message").fill("Here it is")
        await page.keyboard.press("Enter")
        again = page.get_by_role("button", name="Try again")
        await expect(again).to_be_focused()
        await expect(page.get_by_role("status")).to_contain_text("a.txt was not uploaded: The upload broke off.")
        assert sent(house) == []
        await page.keyboard.press("Enter")
        await expect(tray(page)).to_contain_text("The disk is full.")
        await again.click()
        await expect(page.locator(".chip.failed")).to_have_count(0)
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator(".answer")).to_have_text("Seen.")
        assert [ref.name for ref in sent(house)[0].files] == ["a.txt"]


async def test_a_message_waits_for_its_files_and_then_goes_by_itself(browser: Browser, tmp_path: Path) -> None:
    house = House(script=answered, data_dir=tmp_path)
    async with house.open(), visiting(browser, house) as page:
        go = asyncio.Event()

        async def held(route: Route) -> None:
            await go.wait()
            await route.continue_()

        await page.route("**/v1/files?*", held)
        await choose(page, file("a.txt", b"a"))
        await expect(page.get_by_role("progressbar", name="Uploading a.txt")).to_be_visible()
        await write(page, "As soon as you can")
        await expect(page.get_by_role("status")).to_contain_text("Sent as soon as the files are uploaded")
        await expect(page.get_by_role("textbox", name="Message")).to_have_value("As soon as you can")
        assert sent(house) == []
        go.set()
        await expect(page.locator(".answer")).to_have_text("Seen.")
        await expect(page.get_by_role("textbox", name="Message")).to_have_value("")
        assert [(one.text, len(one.files)) for one in sent(house)] == [("As soon as you can", 1)]


async def test_files_that_waited_too_long_are_sent_up_again(browser: Browser, tmp_path: Path) -> None:
    clock = FakeClock()
    house = House(script=answered, data_dir=tmp_path, clock=clock)
    async with house.open(), visiting(browser, house) as page:
        await page.clock.install()
        await choose(page, file("a.txt", b"lunch"))
        await arrived(page)
        await clock.advance(WAIT_SECONDS + 1)
        await house.channel._desk.uploads.sweep()
        assert waiting(tmp_path) == 0
        await page.clock.fast_forward(51 * 60 * 1000)
        await write(page, "Back from lunch")
        await page.clock.run_for(500)
        await expect(page.locator(".answer")).to_have_text("Seen.")
        assert [await house.channel.fetch(ref) for ref in sent(house)[0].files] == [b"lunch"]


async def test_a_message_that_was_refused_gives_its_files_back(browser: Browser, tmp_path: Path) -> None:
    house = House(script=answered, data_dir=tmp_path)
    house.refusal = "Not today."
    async with house.open(), visiting(browser, house) as page:
        await choose(page, file("a.txt", b"a"))
        await arrived(page)
        await write(page, "Please")
        await expect(page.locator(".trouble")).to_contain_text("Not sent: Not today.")
        await page.get_by_role("button", name="Discard").click()
        await expect(tray(page)).to_contain_text("a.txt")
        await expect(page.get_by_role("textbox", name="Message")).to_have_value("Please")
        house.refusal = ""
        await arrived(page)
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator(".answer")).to_have_text("Seen.")


async def test_a_message_with_files_survives_a_server_that_is_away(browser: Browser, tmp_path: Path) -> None:
    house = House(script=answered, data_dir=tmp_path)
    async with house.open(), visiting(browser, house) as page:
        await choose(page, file("p.png", photo(), "image/png"))
        await arrived(page)
        house.full = True
        await write(page, "Precious")
        await expect(page.locator(".trouble")).to_contain_text("kept here")
        await loaded(page.locator(".bubble img"))
        await page.reload()
        await expect(page.locator(".bubble .file-name")).to_have_text("p.png")
        house.full = False
        await expect(page.locator(".answer")).to_have_text("Seen.")
        await loaded(page.locator(".bubble img"))
        assert [len(one.files) for one in sent(house)] == [1]


async def test_a_hostile_name_is_text_wherever_it_stands(browser: Browser, tmp_path: Path) -> None:
    house = House(script=answered, data_dir=tmp_path)
    evil = "<img src=x onerror=alert(1)>\"'&.png"
    async with house.open(), visiting(browser, house) as page:
        await bring(
            page,
            "paste",
            file(evil, photo(), "image/png"),
            file(f"{evil}.svg", b"<svg onload='alert(2)'/>", "image/svg+xml"),
        )
        await arrived(page, 2)
        await expect(tray(page).first.locator(".file-name")).to_have_text(evil)
        await page.keyboard.press("Enter")
        await expect(page.locator(".answer")).to_have_text("Seen.")
        for _ in range(2):
            await expect(page.locator(".bubble .file-name")).to_have_text([evil, f"{evil}.svg"])
            assert await page.locator("img[src='x']").count() == 0
            await page.reload()
