"""Attaching files on the page in a real browser: the button, the clipboard, a drop; what is shown, kept and sent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from bot.core.view import OutFile
from tests.attachments import made
from tests.channels.web.attaching import answered, arrived, bring, choose, file, loaded, photo, sent, tray, waiting
from tests.channels.web.browser import visiting
from tests.channels.web.house import House, Turn
from tests.channels.web.scenes import write

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 640}, "is_mobile": True, "has_touch": True}


async def test_files_are_chosen_shown_sent_and_still_there_after_a_reload(browser: Browser, tmp_path: Path) -> None:
    house = House(script=answered, data_dir=tmp_path)
    async with house.open(), visiting(browser, house) as page:
        button = page.get_by_role("button", name="Attach files (up to 10 at once, 20 MB each)")
        await expect(button).to_have_attribute("title", "Attach files (up to 10 at once, 20 MB each)")
        await choose(page, file("holiday.png", photo(), "image/png"), file("lease.pdf", made.pdf(["Rent"])))
        await expect(tray(page)).to_have_count(2)
        await expect(page.locator("#tray")).to_contain_text("up to 10 at once, 20 MB each")
        await expect(page.get_by_role("status")).to_contain_text("Attached: holiday.png, lease.pdf")
        await loaded(tray(page).first.locator("img"))
        await arrived(page, 2)
        assert waiting(tmp_path) == 2
        await write(page, "What is this?")
        await expect(page.locator(".answer")).to_have_text("Seen.")
        await expect(tray(page)).to_have_count(0)
        (message,) = sent(house)
        assert (message.text, [ref.name for ref in message.files]) == ("What is this?", ["holiday.png", "lease.pdf"])
        assert await house.channel.fetch(message.files[0]) == photo()
        for _ in range(2):
            bubble = page.locator(".bubble")
            await expect(bubble).to_have_count(1)
            await loaded(bubble.get_by_role("img", name="holiday.png"))
            await expect(bubble.get_by_role("link", name="lease.pdf")).to_contain_text("B")
            async with page.expect_download() as download:
                await bubble.get_by_role("link", name="lease.pdf").click()
            assert (await download.value).suggested_filename == "lease.pdf"
            assert Path(await (await download.value).path()).read_bytes() == made.pdf(["Rent"])
            await page.reload()
        assert len(sent(house)) == 1


async def test_a_message_may_be_nothing_but_files(browser: Browser, tmp_path: Path) -> None:
    house = House(script=answered, data_dir=tmp_path)
    async with house.open(), visiting(browser, house) as page:
        send = page.get_by_role("button", name="Send")
        await expect(send).to_be_disabled()
        await choose(page, file("list.txt", b"milk"))
        await expect(send).to_be_enabled()
        await send.click()
        await expect(page.locator(".answer")).to_have_text("Seen.")
        await expect(page.locator(".bubble p")).to_have_count(0)
        await expect(page.locator(".bubble .file-name")).to_have_text("list.txt")
        assert (sent(house)[0].text, len(sent(house)[0].files)) == ("", 1)
        await expect(send).to_be_disabled()


async def test_a_picture_is_pasted_and_text_stays_text(browser: Browser, tmp_path: Path) -> None:
    house = House(script=answered, data_dir=tmp_path)
    async with house.open(), visiting(browser, house) as page:
        await bring(page, "paste", file("image.png", photo(), "image/png"))
        await loaded(tray(page).locator("img"))
        await bring(page, "paste", file("cells.png", photo(), "image/png"), text="a\tb")
        await bring(page, "paste", text="words alone")
        await expect(tray(page)).to_have_count(1)
        await page.keyboard.press("Enter")
        await expect(page.locator(".answer")).to_have_text("Seen.")
        assert [ref.media_type for ref in sent(house)[0].files] == ["image/png"]


async def test_files_are_dropped_anywhere_on_the_page(browser: Browser, tmp_path: Path) -> None:
    house = House(script=answered, data_dir=tmp_path)
    async with house.open(), visiting(browser, house) as page:
        await bring(page, "dragover", file("a.txt", b"a"))
        await expect(page.get_by_text("Drop files here")).to_be_visible()
        await expect(page.locator("#drop")).to_contain_text("up to 10 at once, 20 MB each")
        await bring(page, "dragleave", file("a.txt", b"a"))
        await expect(page.locator("#drop")).to_be_hidden()
        await bring(page, "drop", file("a.txt", b"a"), file("b.txt", b"b"))
        await expect(page.locator("#drop")).to_be_hidden()
        await expect(tray(page)).to_have_count(2)
        await bring(page, "dragover", text="dragged words")
        await expect(page.locator("#drop")).to_be_hidden()
        assert page.url.startswith(house.url)


async def test_what_is_attached_can_be_taken_back_also_with_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    house = House(script=answered, data_dir=tmp_path)
    async with house.open(), visiting(browser, house) as page:
        await choose(page, *(file(f"{name}.txt", name.encode()) for name in "abc"))
        await arrived(page, 3)
        await page.get_by_role("button", name="Remove b.txt").click()
        await expect(page.get_by_role("status")).to_contain_text("Removed: b.txt")
        await expect(page.get_by_role("button", name="Remove c.txt")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("button", name="Remove a.txt")).to_be_focused()
        await page.keyboard.press("Space")
        await expect(page.get_by_role("textbox", name="Message")).to_be_focused()
        await expect(tray(page)).to_have_count(0)
        await page.keyboard.press("Shift+Tab")
        await expect(page.locator("#attach")).to_be_focused()
        page.on("filechooser", lambda _: None)  # the driver is told of choosers from now on, and has the time to be
        await page.evaluate("1")
        async with page.expect_file_chooser() as chooser:
            await page.keyboard.press("Enter")
        await (await chooser.value).set_files([file("d.txt", b"d")])
        await expect(tray(page)).to_have_count(1)
        async with asyncio.timeout(5):
            while waiting(tmp_path) != 1:
                await asyncio.sleep(0.02)


async def test_each_chat_keeps_its_own_files_and_a_reload_keeps_them_too(browser: Browser, tmp_path: Path) -> None:
    house = House(script=answered, data_dir=tmp_path)
    async with house.open(), visiting(browser, house) as page:
        box = page.get_by_role("textbox", name="Message")
        await choose(page, file("for-a.txt", b"a"))
        await arrived(page)
        await box.fill("words for a")
        await page.goto(f"{house.url}/#b")
        await expect(tray(page)).to_have_count(0)
        await expect(box).to_have_value("")
        await page.goto(f"{house.url}/#a")
        await expect(tray(page)).to_contain_text("for-a.txt")
        await expect(box).to_have_value("words for a")
        await page.reload()
        await expect(tray(page)).to_contain_text("for-a.txt")
        await write(page, "Still there")
        await expect(page.locator(".answer")).to_have_text("Seen.")
        assert [ref.name for ref in sent(house)[0].files] == ["for-a.txt"]
        await page.reload()
        await expect(page.locator(".bubble")).to_have_count(1)
        await expect(tray(page)).to_have_count(0)


async def test_another_page_of_the_chat_sees_the_files_as_well(browser: Browser, tmp_path: Path) -> None:
    house = House(script=answered, data_dir=tmp_path)
    async with house.open(), visiting(browser, house) as one, visiting(browser, house) as two:
        await choose(one, file("p.png", photo(), "image/png"))
        await write(one, "Look")
        for page in (one, two):
            await expect(page.locator(".bubble")).to_have_count(1)
            await loaded(page.get_by_role("img", name="p.png"))
            await expect(page.locator(".bubble a.file")).to_have_attribute("download", "p.png")


async def drawing(turn: Turn) -> None:
    folder = turn.house.shelf.arrivals().parent
    (folder / "chart.png").write_bytes(photo(1200, 500))
    (folder / "table.csv").write_bytes(b"a,b\n" * 600)
    (folder / "broken.png").write_bytes(photo()[:70])
    await turn.write("Here you are.")
    names = ("chart.png", "table.csv", "broken.png", "gone.png")
    await turn.end(files=tuple(OutFile(name, "image/png", str(folder / name)) for name in names))


async def test_pictures_of_an_answer_are_shown_and_the_rest_is_to_be_downloaded(
    browser: Browser, tmp_path: Path
) -> None:
    house = House(script=drawing, data_dir=tmp_path)
    async with house.open(), visiting(browser, house) as page:
        await write(page, "Draw")
        files = page.locator(".reply").get_by_role("list", name="Files").get_by_role("listitem")
        await expect(files).to_have_count(4)
        await loaded(page.get_by_role("img", name="chart.png"))
        await expect(files.nth(1).get_by_role("link")).to_have_text("table.csv2 KB")
        await expect(files.nth(2).get_by_role("img")).to_have_count(0)
        await expect(files.nth(2).get_by_role("link")).to_contain_text("broken.png")
        await expect(files.nth(3)).to_contain_text("gone.pngno longer here")
        await expect(files.nth(3).get_by_role("link")).to_have_count(0)
        async with page.context.expect_page() as opened:
            await files.first.get_by_role("link", name="chart.png").first.click()
        assert "picture=1" in (await opened.value).url
        async with page.expect_download() as download:
            await files.nth(1).get_by_role("link").click()
        assert (await download.value).suggested_filename == "table.csv"


async def test_a_phone_has_room_for_all_of_it(browser: Browser, tmp_path: Path) -> None:
    house = House(script=drawing, data_dir=tmp_path)
    async with house.open(), visiting(browser, house, **PHONE) as page:
        long = "a-very-long-name-that-nobody-would-give-a-file-but-somebody-does.pdf"
        await choose(page, file("p.png", photo(900, 300), "image/png"), file(long, b"x"), file("blank", b""))
        await expect(tray(page)).to_have_count(2)
        for name in ("Attach files", "Remove p.png", "Send"):
            button = await page.get_by_role("button", name=name).bounding_box()
            assert button and min(button["width"], button["height"]) >= 32
        await page.get_by_role("button", name="Send").tap()
        await loaded(page.get_by_role("img", name="chart.png"))
        wide = await page.evaluate(
            """[...document.querySelectorAll("main *")]
                 .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.className)"""
        )
        assert wide == []


async def test_the_page_loads_what_deals_with_files_when_there_is_one(browser: Browser, tmp_path: Path) -> None:
    house = House(script=answered, data_dir=tmp_path)
    async with house.open(), visiting(browser, house) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await page.reload()
        await expect(page.locator("body[data-line=up]")).to_be_attached()
        assert not any("tray.js" in url for url in asked)
        await choose(page, file("a.txt", b"a"))
        await expect(tray(page)).to_have_count(1)
        assert any("tray.js" in url for url in asked)


async def test_the_sentences_about_files_are_chinese_for_a_chinese_visitor(browser: Browser, tmp_path: Path) -> None:
    house = House(script=answered, data_dir=tmp_path)
    async with house.open(), visiting(browser, house, locale="zh-CN") as page:
        await expect(page.locator("#attach")).to_have_attribute(
            "aria-label", "添加文件（一次最多 10 个，每个最大 20 MB）"
        )
        await page.locator("#picker").set_input_files([file("空.txt", b""), file("清单.txt", b"x")])
        await expect(page.get_by_role("alert")).to_contain_text("“空.txt” 是空文件。")
        await expect(page.get_by_role("button", name="移除 清单.txt")).to_be_visible()
