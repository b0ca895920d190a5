"""Hostile text, wherever a model, a tool or a person can put it: nothing of it runs, nothing leaves the page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import Browser, Page

from bot.core.ports import owner_of
from bot.core.stop import StopReason
from bot.core.transcript import EndRow, StepRow, UserRow
from bot.core.view import ApprovalCard, OutFile, Phase, ToolLine
from tests.channels.web.browser import visiting
from tests.channels.web.house import House

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

RUN = "window.pwned=1"
HOSTILE = [
    f"<script>{RUN}</script>",
    f"<SCRIPT SRC=http://203.0.113.1/x.js></SCRIPT><script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f'<img src="x" onerror="{RUN}">',
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<math><mtext><script>{RUN}</script></mtext></math>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<iframe src=javascript:parent.{RUN}></iframe>",
    f"<body onload={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<details open ontoggle={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<object data=javascript:{RUN}></object>",
    f"<form action=javascript:{RUN}><button>x</button></form>",
    "<meta http-equiv=refresh content='0;url=http://203.0.113.1/'>",
    "<link rel=stylesheet href=http://203.0.113.1/x.css>",
    "<style>body{display:none}</style>",
    "<base href=http://203.0.113.1/>",
    f"<a href=javascript:{RUN}>x</a>",
    f"[x](javascript:{RUN})",
    f"[x](JaVaScRiPt:{RUN})",
    f"[x](java&#115;cript:{RUN})",
    f"[x](javascript&colon;{RUN})",
    f"[x]( javascript:{RUN} )",
    f"[x](<javascript:{RUN}>)",
    f"[x](\x01javascript:{RUN})",
    f"[x](vbscript:{RUN})",
    "[x](data:text/html,<script>parent.pwned=1</script>)",
    "[x](file:///etc/passwd)",
    f'[x](https://example.org" onmouseover="{RUN})',
    f"[x](https://example.org 'title\" onmouseover=\"{RUN}')",
    f"[r]: javascript:{RUN}\n\n[x][r]",
    f"![x](javascript:{RUN})",
    f'![x](https://203.0.113.1/p.png" onerror="{RUN})',
    "![x](https://203.0.113.1/track.png)",
    "![x](data:image/svg+xml,<svg onload=alert(1)>)",
    f"<javascript:{RUN}>",
    f'<https://example.org/"onclick={RUN}>',
    f'https://example.org/"onmouseover={RUN}//',
    f'```"><script>{RUN}</script>\ncode\n```',
    f"```html\n</code></pre><script>{RUN}</script>\n```",
    f"`</code><script>{RUN}</script>`",
    f"| <script>{RUN}</script> | b |\n|---|---|\n| <img src=x onerror={RUN}> | c |",
    f"- [ ] <img src=x onerror={RUN}>",
    f"# <img src=x onerror={RUN}>",
    f"$\\text{{<img src=x onerror={RUN}>}}$",
    f"$$\\href{{javascript:{RUN}}}{{x}}$$",
    f"$<script>{RUN}</script>$",
    f"\\(<img src=x onerror={RUN}>\\)",
    f"**<img src=x onerror={RUN}>",
    f"<scr<script>ipt>{RUN}</script>",
    f"<!--><img src=x onerror={RUN}>-->",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
    "{{constructor.constructor('window.pwned=1')()}}",
    f"<img/src='x'/onerror={RUN}//",
    f"<a/onclick={RUN} href=#>x</a>",
    f"<template><script>{RUN}</script></template>",
    f'<noscript><p title="</noscript><img src=x onerror={RUN}>">',
]


async def inspected(page: Page, asked: list[str]) -> None:
    """Nothing ran, no element or attribute that could run is there, and no request left for another host."""
    assert await page.evaluate("window.pwned") is None
    found = await page.evaluate("""() => {
      const bad = [];
      const forbidden = /^(script|img|iframe|object|embed|form|style|link|meta|base|video|audio|template|body)$/i;
      for (const one of document.querySelectorAll("#turns *, #chats *, #title, #banners *")) {
        if (forbidden.test(one.localName)) bad.push(one.localName);
        if (one.localName === "svg" && !one.classList.contains("glyph")) bad.push("svg");
        for (const { name, value } of one.attributes) {
          if (/^on|^style$|^srcdoc$/i.test(name)) bad.push(name);
          if (/^(href|src|action|data|xlink:href)$/i.test(name) && !/^(https?:|mailto:|#|v1\\/)/i.test(value)) bad.push(value);
        }
      }
      return bad;
    }""")
    assert found == []
    for link in await page.locator("#turns a[href^=http]").all():
        assert await link.get_attribute("rel") == "noopener noreferrer nofollow"
    assert asked == []


def watched(page: Page, house: House) -> list[str]:
    """Every request that goes anywhere but to the house."""
    asked: list[str] = []
    home = re.compile(rf"(http|ws)://127\.0\.0\.1:{house.port}/|data:|blob:")
    page.on("request", lambda request: None if home.match(request.url) else asked.append(request.url))
    return asked


async def test_no_hostile_answer_runs_while_it_grows_or_afterwards(browser: Browser) -> None:
    house = House()
    async with house.open(), visiting(browser, house) as page:
        asked = watched(page, house)
        for text in HOSTILE:
            turn = house.start("a")
            for at in range(1, len(text), 7):
                await turn.show(text=text[:at], phase=Phase.WRITING)
            await turn.show(text=text)
            await turn.end()
        last = house.start("a")
        await last.write("That was all.")
        await last.end()
        await page.get_by_text("That was all.", exact=True).wait_for()
        await inspected(page, asked)
        await page.reload()
        await page.get_by_text("That was all.", exact=True).wait_for()
        assert await page.locator(".turn").count() == len(HOSTILE) + 1
        await page.evaluate("""() => {
          for (const one of document.querySelectorAll("#turns *"))
            for (const type of ["mouseover", "focus", "toggle", "load", "error"]) one.dispatchEvent(new Event(type));
        }""")
        await inspected(page, asked)


async def test_no_hostile_text_runs_anywhere_else(browser: Browser) -> None:
    house = House()
    for n, text in enumerate(HOSTILE):
        place, owner = house.address(f"c{n}"), owner_of("web")
        rows: Any = (UserRow(text, owner, "m"), StepRow(1, (), "f/f", "end"), EndRow(StopReason.STOPPED, text))
        house.archive.append(place, f"p{n}", house.clock.now(), *rows)
    async with house.open(), visiting(browser, house) as page:
        asked = watched(page, house)
        for n, text in enumerate(HOSTILE):
            turn = house.start("a", text)
            card = ApprovalCard(f"k{n}", "c", text, text, text, text, 2e9)
            object_card = ApprovalCard(
                f"j{n}", "c", "t", "run", text, '{"x<img src=x onerror=window.pwned=1>": ["<svg>"]}', 2e9
            )
            await turn.show(
                tools=(ToolLine("c", text, text),),
                cards=(card, object_card),
                notices=(text,),
                files=(OutFile(text, "text/html", "/no"),),
                phase=Phase.WAITING,
            )
        house.about["trouble"] = HOSTILE[0]
        house.about["model"] = {"state": "ready", "name": HOSTILE[2], "demo": True}
        await page.reload()
        await page.locator(".card").nth(2 * len(HOSTILE) - 1).wait_for()
        await page.locator("#chats a").nth(len(HOSTILE)).wait_for()
        await inspected(page, asked)
        await page.goto(f"{house.url}/#c3")
        await page.locator(".bubble").wait_for()
        await page.locator("#model").click()
        await inspected(page, asked)


async def test_what_a_visitor_types_is_shown_as_typed(browser: Browser) -> None:
    house = House()
    async with house.open(), visiting(browser, house) as page:
        asked = watched(page, house)
        for text in HOSTILE[:6]:
            await page.get_by_role("textbox", name="Message").fill(text)
            await page.keyboard.press("Enter")
            await page.locator(".bubble p", has_text=text).wait_for()
        await inspected(page, asked)
