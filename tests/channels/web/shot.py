"""Pictures of the page with a realistic conversation: ``python -m tests.channels.web.shot FOLDER [NAME…]``.

The names are page, dark, working, writing, asking, phone, phone-menu, phone-dark and empty; without one, all are taken.
``docs/page.png`` is made by ``python -m tests.channels.web.shot docs page``.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from playwright.async_api import Browser, Page

from bot.core.model import CallBlock, TextBlock, Usage
from bot.core.ports import owner_of
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import EndRow, ResultRow, StepRow, UserRow
from tests.channels.web.browser import launched
from tests.channels.web.house import House, Turn, card
from tests.channels.web.scenes import write

QUESTION = (
    "I put 200 € aside every month at 3.5 % a year. What do I have after 20 years, and how much of it is interest?"
)
ANSWER = """\
After 20 years you have about **69,400 €**. You paid in 48,000 €, so roughly **21,400 € is interest**.

With a monthly rate $r = \\frac{0.035}{12}$ and $n = 240$ payments of $P = 200$ €:

$$
S = P \\cdot \\frac{(1 + r)^n - 1}{r} \\approx 69\\,365
$$

| after | paid in | worth | interest |
|------:|--------:|------:|---------:|
| 5 years | 12,000 € | 13,093 € | 1,093 € |
| 10 years | 24,000 € | 28,686 € | 4,686 € |
| 20 years | 48,000 € | 69,365 € | 21,365 € |

To try other numbers:

```python
def savings(monthly: float, rate: float, years: int) -> float:
    r = rate / 12                      # interest per month
    n = years * 12
    return monthly * ((1 + r) ** n - 1) / r

print(f"{savings(200, 0.035, 20):,.0f} €")
```

Taxes and inflation are left out. Shall I add them?
"""
CHINESE = "那如果通货膨胀率是 2%，按今天的购买力算是多少？"
CHINESE_ANSWER = """\
按每年 **2%** 的通货膨胀率折算，20 年后的 69,365 € 大约相当于今天的 **46,680 €**：

$$\\frac{69\\,365}{1.02^{20}} \\approx 46\\,680$$

- 名义利息：约 21,400 €
- **扣除通胀后：** 购买力略低于你投入的 48,000 €

也就是说，3.5% 的名义利率扣除通胀后，实际年化收益约为 1.5%。
"""
OTHERS = (
    ("plants", "Note: water the plants tomorrow", 0.1),
    ("trip", "Night trains from Vienna to Rome in May", 0.3),
    ("photos", "Write a script that renames photos by date", 1.1),
    ("books", "推荐三本关于鸟类的书", 1.3),
    ("letter", "Draft a letter to the landlord about the heating", 4.2),
    ("sql", "Why is this query slow?", 5.1),
    ("news", "Summarise this article in three sentences", 9.0),
)


def furnished() -> House:
    """A house with a past: several chats, one of them with two finished turns."""
    house = House()
    house.about["model"] = {"state": "ready", "name": "anthropic/claude-sonnet-5-5", "demo": False}
    now = house.clock.now()
    owner = owner_of("web")
    for chat, title, days in OTHERS:
        at = now - days * 86400
        turn = f"past-{chat}"
        end = (StepRow(1, (TextBlock("Done."),), "fake/fake", "end"), EndRow(StopReason.ANSWERED))
        house.archive.append(house.address(chat), turn, at, UserRow(title, owner, f"m-{chat}"), *end)
    sum_ = ToolCall("c0", "calculate", {"expression": "200*((1+0.035/12)^240-1)/(0.035/12)"})
    rows = (
        UserRow(QUESTION, owner, "m-1"),
        StepRow(1, (CallBlock(sum_),), "fake/fake", "tool_use", Usage(900, 40)),
        ResultRow("c0", "calculate", "…", seconds=0.0),
        StepRow(2, (TextBlock(ANSWER),), "fake/fake", "end", Usage(1200, 420)),
        EndRow(StopReason.ANSWERED),
    )
    house.archive.append(house.address("money"), "past-1", now - 240, *rows)
    return house


async def second(turn: Turn) -> None:
    await turn.write(CHINESE_ANSWER)
    await turn.end()


async def asking(turn: Turn) -> None:
    await turn.write("I can put this into a spreadsheet in your workspace. For that I would run a short program:\n")
    await turn.tool("c1", "files_list", "workspace/finance")
    await turn.tool_done("c1", 0.2)
    command = '{\n  "command": "python3 savings.py --years 20 --out savings.xlsx",\n  "timeout": 60\n}'
    await turn.ask(replace(card(expires_at=turn.house.clock.now() + 29 * 60), arguments=command))


async def writing(turn: Turn) -> None:
    await turn.tool("c1", "web_fetch", "https://www.ecb.europa.eu/stats/policy_and_exchange_rates")
    await turn.tool_done("c1", 1.4)
    await turn.tool("c2", "memory_search", "savings plan")
    await turn.stopped.wait()
    await turn.tool_done("c2", 0.3)
    await turn.write("Here is what I found so far. The key rate was last changed in **June**, and banks have foll")
    await asyncio.Event().wait()


class Album:
    """Takes the pictures that are wanted; all of them when none is named."""

    def __init__(self, folder: Path, wanted: Sequence[str]) -> None:
        self._folder, self._wanted = folder, wanted

    async def take(self, page: Page, name: str) -> None:
        if not self._wanted or name in self._wanted:
            await asyncio.sleep(0.3)
            await page.screenshot(path=self._folder / f"{name}.png")


async def pictures(house: House, browser: Browser, album: Album) -> None:
    page = await opened(browser, house, "#money", scheme="light", height=1290)
    house.script = second
    await write(page, CHINESE)
    await page.get_by_text("1.5%", exact=False).last.wait_for()
    await page.evaluate("document.activeElement.blur()")
    await album.take(page, "page")
    dark = await opened(browser, house, "#money", scheme="dark")
    await album.take(dark, "dark")
    house.script = writing
    await write(dark, "And what is the key rate doing?")
    await dark.get_by_text("memory_search").wait_for()
    await asyncio.sleep(2.2)
    await album.take(dark, "working")
    await dark.get_by_role("button", name="Stop").click()
    await dark.get_by_text("banks have foll").wait_for()
    await album.take(dark, "writing")
    house.script = asking
    other = await opened(browser, house, "#plants", scheme="light")
    await write(other, "Put both versions into a spreadsheet, please.")
    await other.get_by_role("button", name="Deny").wait_for()
    await album.take(other, "asking")
    house.about["model"] = {"state": "ready", "name": "local/SmolLM2-360M", "demo": True}
    phone = await opened(browser, house, "#plants", scheme="light", phone=True)
    await album.take(phone, "phone")
    await phone.get_by_role("button", name="Open the list of chats").click()
    await album.take(phone, "phone-menu")
    money = await opened(browser, house, "#money", scheme="dark", phone=True)
    await album.take(money, "phone-dark")
    house.about["model"] = {"state": "downloading", "name": "SmolLM2-360M", "demo": True, "done": 43, "total": 100}
    empty = await opened(browser, house, "#fresh", scheme="light", locale="zh-CN")
    await album.take(empty, "empty")


async def opened(
    browser: Browser,
    house: House,
    place: str,
    *,
    scheme: str,
    phone: bool = False,
    locale: str = "en-GB",
    height: int = 860,
) -> Page:
    size = {"width": 390, "height": 844} if phone else {"width": 1280, "height": height}
    context = await browser.new_context(
        viewport=size,  # type: ignore[arg-type]
        color_scheme=scheme,  # type: ignore[arg-type]
        device_scale_factor=2,
        is_mobile=phone,
        has_touch=phone,
        locale=locale,
    )
    page = await context.new_page()
    await page.goto(f"{house.url}/{place}")
    await page.locator("#turns .turn, #empty:not([hidden])").first.wait_for()
    await asyncio.sleep(0.3)
    return page


async def main(folder: Path, wanted: Sequence[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    house = furnished()
    async with house.open(), launched() as browser:
        await pictures(house, browser, Album(folder, wanted))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
