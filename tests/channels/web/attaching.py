"""Attaching files on the page as a person does it: by the button, by pasting, by dropping; and what is seen of it."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.async_api import Locator, Page, expect

from bot.core.inbound import UserMessage
from tests.channels.web.house import House, Turn


def photo(width: int = 320, height: int = 200) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), (60, 90, 180)).save(out, "PNG")
    return out.getvalue()


def file(name: str, content: bytes, kind: str = "text/plain") -> Any:
    """As Playwright takes it."""
    return {"name": name, "mimeType": kind, "buffer": content}


async def answered(turn: Turn) -> None:
    await turn.write("Seen.")
    await turn.end()


def sent(house: House) -> list[UserMessage]:
    return [one for one in house.inbound if isinstance(one, UserMessage)]


def waiting(folder: Path) -> int:
    return len([place for place in (folder / "uploads").iterdir() if not place.suffix])


def tray(page: Page) -> Locator:
    return page.get_by_role("list", name="Attached files").get_by_role("listitem")


async def choose(page: Page, *files: Any) -> None:
    """By the button, as a person does it."""
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name="Attach files").click()
    await (await chooser.value).set_files(list(files))


async def arrived(page: Page, count: int = 1) -> None:
    """So many files are attached, and all of them have been uploaded."""
    await expect(tray(page)).to_have_count(count)
    await expect(page.locator(".chip.busy")).to_have_count(0)


async def bring(page: Page, how: str, *files: Any, text: str = "") -> None:
    """Paste or drop: what the browser would hand to the page."""
    told = [{"name": one["name"], "kind": one["mimeType"], "bytes": list(one["buffer"])} for one in files]
    await page.evaluate(
        """([how, files, text]) => {
          const data = new DataTransfer();
          for (const { name, kind, bytes } of files) data.items.add(new File([new Uint8Array(bytes)], name, { type: kind }));
          if (text) data.setData("text/plain", text);
          const box = document.querySelector("#message");
          if (how === "paste") box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
          else for (const type of ["dragenter", "dragover", how]) {
            box.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
          }
        }""",
        [how, told, text],
    )


async def loaded(picture: Locator) -> None:
    """A picture is not only in the page but to be seen."""
    await expect(picture).to_be_visible()
    async with asyncio.timeout(8):
        while not await picture.evaluate("image => image.complete && image.naturalWidth > 0"):
            await asyncio.sleep(0.02)
