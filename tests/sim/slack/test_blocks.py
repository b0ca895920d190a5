"""Blocks: which are taken, what is refused where, and how much there may be in all."""

from typing import Any

import pytest
from slack_sdk.models.blocks import (
    ActionsBlock,
    ButtonElement,
    ContextBlock,
    DividerBlock,
    HeaderBlock,
    MarkdownBlock,
    MarkdownTextObject,
    SectionBlock,
)
from slack_sdk.web.async_client import AsyncWebClient

from tests.sim.slack import Channel, SlackSim
from tests.sim.slack.conftest import Post


def mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": mrkdwn(text)}


def button(label: str = "Yes", action: str = "yes", **more: Any) -> dict[str, Any]:
    return {"type": "button", "action_id": action, "text": plain(label), **more}


def actions(*elements: Any) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


def rich(*elements: Any) -> dict[str, Any]:
    return {"type": "rich_text", "elements": list(elements)}


def line(*parts: Any) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": list(parts)}


def word(text: str, **style: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **({"style": style} if style else {})}


def bullets(*items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "rich_text_list", "style": "bullet", "elements": list(items), **more}


TAKEN = [
    [section("x" * 3000)],
    [{"type": "header", "text": plain("x" * 150)}],
    [actions(*(button("x" * 75, f"a{n}", value="x" * 2000) for n in range(25)))],
    [actions(button("x", "a" * 255)) | {"block_id": "b" * 255}],
    [actions(button(action="same")), actions(button(action="same"))],
    [{"type": "markdown", "text": "x" * 12_000}],
    [{"type": "divider"}] * 50,
    [{"type": "context", "elements": [mrkdwn("x")] * 10}],
    [section("x") | {"accessory": button(style="danger")}],
    [{"type": "section", "fields": [mrkdwn("x")] * 10}],
    [
        rich(
            line(
                word("a", bold=True),
                {"type": "link", "url": "https://x.org", "text": "x"},
                {"type": "emoji", "name": "ok"},
            )
        )
    ],
    [
        rich(
            bullets(line(word("a")), line(word("b"))),
            bullets(line(word("c")), indent=1),
            bullets(line(word("d")), offset=2),
        )
    ],
    [rich({"type": "rich_text_preformatted", "elements": [word("code\n")], "language": "python"})],
    [rich({"type": "rich_text_quote", "elements": [word("said"), {"type": "user", "user_id": "U1"}]})],
    [{"type": "task_card", "task_id": "1", "title": "t", "status": "error", "output": rich(line(word("x")))}],
    [{"type": "plan", "title": "p", "tasks": [{"task_id": "1", "title": "t", "status": "complete"}]}],
    [{"type": "table", "rows": [[{"type": "raw_text", "text": "a"}, rich(line(word("b")))]]}],
]

REFUSED = [
    ([section("x" * 3001)], "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"),
    ([section("")], "must be more than 0 characters [json-pointer:/blocks/0/text/text]"),
    ([{"type": "section"}], "missing required field: text [json-pointer:/blocks/0]"),
    ([{"type": "section", "fields": [mrkdwn("x")] * 11}], "no more than 10 items allowed [json-pointer:/blocks/0/fields]"),
    ([{"type": "header", "text": plain("x" * 151)}], "must be less than 151 characters [json-pointer:/blocks/0/text/text]"),
    ([{"type": "header", "text": mrkdwn("x")}], "must be a plain_text object [json-pointer:/blocks/0/text]"),
    ([actions(*(button(action=f"a{n}") for n in range(26)))], "no more than 25 items allowed [json-pointer:/blocks/0/elements]"),
    ([actions()], "must have at least 1 item [json-pointer:/blocks/0/elements]"),
    ([actions(button("x" * 76))], "must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]"),
    ([actions(button(value="x" * 2001))], "must be less than 2001 characters [json-pointer:/blocks/0/elements/0/value]"),
    ([actions(button(action="a" * 256))], "must be less than 256 characters [json-pointer:/blocks/0/elements/0/action_id]"),
    ([actions(button(), button())], "action_id yes already exists [json-pointer:/blocks/0/elements/1/action_id]"),
    ([actions(button(style="bold"))], "must be one of: primary, danger [json-pointer:/blocks/0/elements/0/style]"),
    ([actions(button(colour="red"))], "invalid additional property: colour [json-pointer:/blocks/0/elements/0]"),
    ([actions(section("x"))], "unsupported type: section [json-pointer:/blocks/0/elements/0/type]"),
    ([actions(button()) | {"block_id": "b" * 256}], "must be less than 256 characters [json-pointer:/blocks/0/block_id]"),
    ([section("x") | {"block_id": "b"}] * 2, "block_id b already exists [json-pointer:/blocks/1/block_id]"),
    ([{"type": "divider"}] * 51, "no more than 50 items allowed [json-pointer:/blocks]"),
    ([{"type": "marquee"}], "unsupported type: marquee [json-pointer:/blocks/0/type]"),
    (["x"], "must be an object [json-pointer:/blocks/0]"),
    ([{"type": "markdown", "text": "x" * 12_001}], "must be less than 12001 characters [json-pointer:/blocks/0/text]"),
    ([{"type": "markdown", "text": "x" * 6001}] * 2, "markdown blocks together must be less than 12001 characters"),
    ([{"type": "context", "elements": [mrkdwn("x")] * 11}], "no more than 10 items allowed [json-pointer:/blocks/0/elements]"),
    ([{"type": "image", "alt_text": "x"}], "missing required field: image_url [json-pointer:/blocks/0]"),
    ([rich(word("x"))], "unsupported type: text [json-pointer:/blocks/0/elements/0/type]"),
    ([rich(line())], "must have at least 1 item [json-pointer:/blocks/0/elements/0/elements]"),
    ([rich(line(word("")))], "must be a non-empty string: text [json-pointer:/blocks/0/elements/0/elements/0/text]"),
    ([rich(line(word("x", loud=True)))], "invalid additional property: loud [json-pointer:/blocks/0/elements/0/elements/0/style]"),
    ([rich(line(word("x", bold=1)))], "must be a boolean [json-pointer:/blocks/0/elements/0/elements/0/style/bold]"),
    ([rich(line(line(word("x"))))], "unsupported type: rich_text_section [json-pointer:/blocks/0/elements/0/elements/0/type]"),
    ([rich(bullets(word("x")))], "a list holds rich_text_section only [json-pointer:/blocks/0/elements/0/elements/0/type]"),
    ([rich(bullets(line(word("x")), style="square"))], "must be one of: bullet, ordered [json-pointer:/blocks/0/elements/0/style]"),
    ([rich(bullets(line(word("x")), indent=9))], "must be an integer between 0 and 8 [json-pointer:/blocks/0/elements/0/indent]"),
    ([rich(line({"type": "link", "text": "x"}))], "must be a non-empty string: url [json-pointer:/blocks/0/elements/0/elements/0/url]"),
    ([rich(line({"type": "broadcast", "range": "all"}))], "must be one of: here, channel, everyone"),
    ([rich({"type": "rich_text_preformatted", "elements": [line(word("x"))]})], "unsupported type: rich_text_section"),
    ([{"type": "task_card", "task_id": "1", "title": "t", "status": "done"}], "must be one of: pending, in_progress, complete, error"),
    ([{"type": "plan", "tasks": []}], "missing required field: title [json-pointer:/blocks/0]"),
    ([{"type": "table", "rows": [[{"type": "raw_text", "text": ""}]]}], "must be raw_text or rich_text with a text"),
]  # fmt: skip


@pytest.mark.parametrize("blocks", TAKEN)
async def test_what_is_within_the_limits_is_taken(sim: SlackSim, post: Post, dm: Channel, blocks: list[Any]) -> None:
    quiet = {"unfurl_links": False, "unfurl_media": False}
    answer = await post("chat.postMessage", channel=dm.id, text="fallback", blocks=blocks, **quiet)
    assert answer["ok"], answer
    assert all(block["block_id"] for block in answer["message"]["blocks"])
    assert sim.violations == []


@pytest.mark.parametrize(("blocks", "why"), REFUSED)
async def test_what_is_not_is_refused_with_its_place(
    sim: SlackSim, post: Post, dm: Channel, blocks: list[Any], why: str
) -> None:
    answer = await post("chat.postMessage", channel=dm.id, text="fallback", blocks=blocks)
    assert (answer["ok"], answer["error"]) == (False, "invalid_blocks")
    assert any(message.startswith(f"[ERROR] {why}") for message in answer["response_metadata"]["messages"]), answer
    assert len(sim.violations) == 1
    assert sim.visible(dm) == []


async def test_blocks_that_are_no_list_have_an_error_of_their_own(sim: SlackSim, post: Post, dm: Channel) -> None:
    for blocks in ("{", {"type": "section"}, "7"):
        assert (await post("chat.postMessage", channel=dm.id, blocks=blocks))["error"] == "invalid_blocks_format"
    assert len(sim.violations) == 3


async def test_blocks_together_have_a_limit_that_headings_eat_into(sim: SlackSim, post: Post, dm: Channel) -> None:
    async def error(*blocks: Any) -> str | None:
        error: str | None = (await post("chat.postMessage", channel=dm.id, text="x", blocks=list(blocks))).get("error")
        return error

    assert await error(*[section("x" * 3000)] * 4, section("x" * 1200)) is None
    assert await error(*[section("x" * 3000)] * 4, section("x" * 1201)) == "msg_blocks_too_long"
    heading = {"type": "header", "text": plain("x")}
    assert await error(*[section("x" * 3000)] * 4, section("x" * 1099), heading) is None
    assert await error(*[section("x" * 3000)] * 4, section("x" * 1100), heading) == "msg_blocks_too_long"
    assert await error({"type": "markdown", "text": "# x\n\n" * 30 + "x" * 9500}) is None
    assert await error({"type": "markdown", "text": "# x\n\n" * 40 + "x" * 9500}) == "msg_blocks_too_long"
    assert await error({"type": "markdown", "text": "# x\n\n" * 51}) == "msg_blocks_too_long"


async def test_the_librarys_own_blocks_are_taken_and_read(sim: SlackSim, client: AsyncWebClient, dm: Channel) -> None:
    blocks = [
        HeaderBlock(text="Shall I?"),
        SectionBlock(text=MarkdownTextObject(text="Delete *everything* in <https://x.org|x> &amp; <#C0TEAM>")),
        ContextBlock(elements=[MarkdownTextObject(text="_asked by_ <@U0ANN>")]),
        DividerBlock(),
        MarkdownBlock(text="1. **one**\n2. two"),
        ActionsBlock(
            elements=[
                ButtonElement(text="Yes", action_id="approve", value="v1", style="primary"),
                ButtonElement(text="No", action_id="deny", value="v2", style="danger"),
            ]
        ),
    ]
    await client.chat_postMessage(channel=dm.id, text="Shall I?", blocks=blocks)
    (shown,) = sim.visible(dm)
    assert shown.text == "Shall I?\nDelete everything in x & #C0TEAM\nasked by @Ann\n1. one\n2. two"
    assert [(each.label, each.action_id, each.value, each.style) for each in shown.buttons] == [
        ("Yes", "approve", "v1", "primary"),
        ("No", "deny", "v2", "danger"),
    ]
    assert shown.button("approve") == shown.button("v1") == shown.button("Yes")
    with pytest.raises(LookupError, match="no button 'Maybe'"):
        shown.button("Maybe")


async def test_cards_are_read_from_blocks(sim: SlackSim, post: Post, dm: Channel) -> None:
    task = {"task_id": "1", "title": "search", "status": "in_progress", "details": rich(line(word("for x")))}
    await post("chat.postMessage", channel=dm.id, text="x", blocks=[{"type": "plan", "title": "Plan", "tasks": [task]}])
    (shown,) = sim.visible(dm)
    assert [(card.title, card.status, card.details) for card in shown.cards] == [("search", "in_progress", "for x")]
    assert (shown.text, shown.plan_title) == ("", "Plan")


async def test_the_home_tab_bears_a_hundred_blocks(
    sim: SlackSim, client: AsyncWebClient, post: Post, dm: Channel
) -> None:
    view = {"type": "home", "blocks": [{"type": "divider"}] * 100}
    await client.views_publish(user_id="U0ANN", view=view)
    assert len(sim.world.homes["U0ANN"]["blocks"]) == 100
    view = {"type": "home", "blocks": [{"type": "divider"}] * 101}
    assert (await post("views.publish", user_id="U0ANN", view=view))["error"] == "invalid_blocks"
    assert (await post("views.publish", user_id="U0ANN", view={"type": "modal"}))["error"] == "invalid_arguments"
    assert (await post("views.publish", user_id="U404", view=view))["error"] == "user_not_found"
