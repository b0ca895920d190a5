"""Forms: what makes a message malformed, with the tree of errors that the platform answers."""

from typing import Any

import aiohttp
import discord
import pytest
from discord import ui

from tests.sim.discord import Channel, DiscordSim
from tests.sim.discord.conftest import Ask, Library

V2 = 1 << 15
TEXT: dict[str, Any] = {"type": 10, "content": "x"}


def button(custom_id: str = "a", label: str | None = "A", **more: Any) -> dict[str, Any]:
    return {"type": 2, "style": 1, "label": label, "custom_id": custom_id, **more}


def row(*inner: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(inner)}


def menu(**more: Any) -> dict[str, Any]:
    options = [{"label": "One", "value": "1"}, {"label": "Two", "value": "2"}]
    return {"type": 3, "custom_id": "m", "options": options, **more}


async def refusal(ask: Ask, channel: Channel, **fields: Any) -> tuple[int, int, dict[str, Any]]:
    """Status, code and errors of a send."""
    status, body, _ = await ask("POST", f"/channels/{channel.id}/messages", **fields)
    return status, body.get("code", 0), body.get("errors", {})


async def test_two_thousand_code_points_fit_and_one_more_does_not(
    sim: DiscordSim, bot: Library, dm: Channel, ask: Ask
) -> None:
    await bot.here(dm).send("👩‍👩‍👧" * 400)
    with pytest.raises(discord.HTTPException) as error:
        await bot.here(dm).send("😀" * 2001)
    assert (error.value.status, error.value.code) == (400, 50035)
    assert "Must be 2000 or fewer in length." in error.value.text
    _, _, errors = await refusal(ask, dm, content="x" * 2001)
    assert errors == {
        "content": {"_errors": [{"code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length."}]}
    }
    sent = await bot.here(dm).send("x")
    with pytest.raises(discord.HTTPException):
        await sent.edit(content="x" * 2001)


@pytest.mark.parametrize("fields", [{"content": ""}, {"content": " \n\t "}, {"content": None}, {"embeds": []}])
async def test_an_empty_message_is_refused(sim: DiscordSim, dm: Channel, ask: Ask, fields: dict[str, Any]) -> None:
    assert (await refusal(ask, dm, **fields))[:2] == (400, 50006)
    assert sim.visible(dm) == []


async def test_white_space_around_a_text_is_dropped(sim: DiscordSim, dm: Channel, ask: Ask) -> None:
    await ask("POST", f"/channels/{dm.id}/messages", content="\n  a  b \n")
    assert sim.bot_texts(dm) == ["a  b"]


async def test_wrong_json_and_a_wrong_content_type_are_refused(sim: DiscordSim, dm: Channel, ask: Ask) -> None:
    path = f"/channels/{dm.id}/messages"
    status, body, _ = await ask("POST", path, raw=b"content=x")
    assert (status, body["code"]) == (400, 50035)
    async with aiohttp.ClientSession() as session:
        headers = {"Authorization": "Bot sim-token", "Content-Type": "application/json"}
        async with session.post(f"{sim.api_base}{path}", data=b"{", headers=headers) as answer:
            assert (answer.status, (await answer.json())["code"]) == (400, 50109)


async def test_ids_must_be_snowflakes(sim: DiscordSim, ask: Ask) -> None:
    status, body, _ = await ask("GET", "/channels/general/messages")
    assert (status, body["errors"]["channel_id"]["_errors"][0]["code"]) == (400, "NUMBER_TYPE_COERCE")


EMBEDS: list[tuple[list[dict[str, Any]], str]] = [
    ([{"title": "x" * 257}], "embeds.0.title"),
    ([{"description": "x"}, {"description": "x" * 4097}], "embeds.1.description"),
    ([{"footer": {"text": "x" * 2049}}], "embeds.0.footer.text"),
    ([{"author": {"name": "x" * 257}}], "embeds.0.author.name"),
    ([{"fields": [{"name": "x" * 257, "value": "x"}]}], "embeds.0.fields.0.name"),
    ([{"fields": [{"name": "x", "value": "x" * 1025}]}], "embeds.0.fields.0.value"),
    ([{"fields": [{"name": "x", "value": " "}]}], "embeds.0.fields.0.value"),
    ([{"fields": [{"name": "x", "value": "x"}] * 26}], "embeds.0.fields"),
    ([{"title": "x"}] * 11, "embeds"),
    ([{"description": "x" * 3001}] * 2, "embeds"),
    ([{"title": "x", "url": "ftp://x"}], "embeds.0.url"),
    ([{}], "embeds.0.description"),
]


def at(errors: dict[str, Any], path: str) -> Any:
    for step in path.split("."):
        errors = errors.get(step, {})
    return errors.get("_errors")


@pytest.mark.parametrize(("embeds", "path"), EMBEDS, ids=[path for _, path in EMBEDS])
async def test_embeds_have_limits(dm: Channel, ask: Ask, embeds: list[dict[str, Any]], path: str) -> None:
    status, code, errors = await refusal(ask, dm, embeds=embeds)
    assert (status, code) == (400, 50035)
    assert at(errors, path)


async def test_an_embed_at_its_limits_is_fine(sim: DiscordSim, bot: Library, dm: Channel) -> None:
    await bot.here(dm).send(
        embeds=[discord.Embed(title="t" * 256, description="d" * 4096)] + [discord.Embed(title="x")] * 9
    )
    assert len(sim.visible(dm)[0].embeds) == 10


COMPONENTS: list[tuple[list[dict[str, Any]], str]] = [
    ([row(button())] * 6, "components"),
    ([row(*(button(str(n)) for n in range(6)))], "components.0.components"),
    ([row()], "components.0.components"),
    ([button()], "components.0.type"),
    ([TEXT], "components.0.type"),
    ([row(row(button()))], "components.0.components.0.type"),
    ([row(button("x" * 101))], "components.0.components.0.custom_id"),
    ([row(button(""))], "components.0.components.0.custom_id"),
    ([row({"type": 2, "style": 1, "label": "A"})], "components.0.components.0.custom_id"),
    ([row(button(label="x" * 81))], "components.0.components.0.label"),
    ([row(button(label=None))], "components.0.components.0"),
    ([row(button(label=None, emoji={"name": "", "id": None}))], "components.0.components.0.emoji.name"),
    ([row(button(style=9))], "components.0.components.0.style"),
    ([row({"type": 2, "style": 5, "label": "A"})], "components.0.components.0.url"),
    ([row({"type": 2, "style": 5, "label": "A", "url": "https://x", "custom_id": "a"})], "components.0.components.0"),
    ([row({"type": 2, "style": 5, "label": "A", "url": "javascript:x"})], "components.0.components.0.url"),
    ([row(button("a"), button("a"))], "components.0.components.1.custom_id"),
    ([row(button("a")), row(button("a"))], "components.1.components.0.custom_id"),
    ([row(menu(), button())], "components.0.components"),
    ([row(menu(options=[]))], "components.0.components.0.options"),
    ([row(menu(options=[{"label": "A", "value": "1"}] * 2))], "components.0.components.0.options"),
    ([row(menu(options=[{"label": "x" * 101, "value": "1"}]))], "components.0.components.0.options.0.label"),
    ([row(menu(placeholder="x" * 151))], "components.0.components.0.placeholder"),
]


@pytest.mark.parametrize(("components", "path"), COMPONENTS)
async def test_buttons_and_menus_have_limits(
    dm: Channel, ask: Ask, components: list[dict[str, Any]], path: str
) -> None:
    status, code, errors = await refusal(ask, dm, content="x", components=components)
    assert (status, code) == (400, 50035)
    assert at(errors, path), errors


async def test_five_full_rows_are_fine_and_get_ids(sim: DiscordSim, dm: Channel, ask: Ask) -> None:
    rows = [row(*(button(f"{n}-{m}" + "x" * 97, "L" * 80) for m in range(5))) for n in range(5)]
    status, body, _ = await ask("POST", f"/channels/{dm.id}/messages", content="x", components=rows)
    ids = [one["id"] for line in body["components"] for one in [line, *line["components"]]]
    assert (status, len(ids), len(set(ids))) == (200, 30, 30)
    assert len(sim.visible(dm)[0].buttons) == 25


async def test_the_library_lets_a_long_label_and_custom_id_through_and_the_platform_does_not(
    bot: Library, dm: Channel
) -> None:
    for item in (ui.Button[ui.View](label="x" * 81, custom_id="a"), ui.Button[ui.View](label="A", custom_id="x" * 101)):
        view = ui.View(timeout=None)
        view.add_item(item)
        with pytest.raises(discord.HTTPException) as error:
            await bot.here(dm).send("x", view=view)
        assert error.value.code == 50035


V2_WRONG: list[tuple[dict[str, Any], str]] = [
    ({"content": "x", "components": [TEXT]}, "content"),
    ({"embeds": [{"title": "x"}], "components": [TEXT]}, "embeds"),
    ({"components": [{"type": 10, "content": "x" * 2001}, {"type": 10, "content": "x" * 2000}]}, "components"),
    ({"components": [TEXT] * 41}, "components"),
    ({"components": [{"type": 17, "components": [TEXT] * 40}]}, "components"),
    ({"components": [{"type": 10, "content": ""}]}, "components.0.content"),
    ({"components": [{"type": 17, "components": []}]}, "components.0.components"),
    ({"components": [{"type": 9, "components": [TEXT]}]}, "components.0.accessory"),
    ({"components": [{"type": 9, "components": [TEXT] * 4, "accessory": button()}]}, "components.0.components"),
    (
        {"components": [{"type": 17, "components": [{"type": 17, "components": [TEXT]}]}]},
        "components.0.components.0.type",
    ),
    ({"components": [{"type": 12, "items": []}]}, "components.0.items"),
]


@pytest.mark.parametrize(("fields", "path"), V2_WRONG)
async def test_messages_made_of_components_have_rules_of_their_own(
    dm: Channel, ask: Ask, fields: dict[str, Any], path: str
) -> None:
    status, code, errors = await refusal(ask, dm, flags=V2, **fields)
    assert (status, code) == (400, 50035)
    assert at(errors, path), errors


class Layout(ui.LayoutView):
    def __init__(self, text: str) -> None:
        super().__init__(timeout=None)
        self.add_item(ui.Container["Layout"](ui.TextDisplay["Layout"](text)))
        row = ui.ActionRow["Layout"]()
        row.add_item(ui.Button(label="Yes", custom_id="y"))
        self.add_item(row)


async def test_a_layout_is_shown_edited_and_never_turned_back(
    sim: DiscordSim, bot: Library, dm: Channel, ask: Ask
) -> None:
    sent = await bot.here(dm).send(view=Layout("first"))
    shown = sim.visible(dm)[0]
    assert (shown.text, shown.content, shown.buttons, shown.flags) == ("first", "", (("Yes", "y", 2),), V2)
    await sent.edit(view=Layout("second"))
    assert sim.visible(dm)[0].text == "second"
    with pytest.raises(discord.HTTPException):
        await sent.edit(content="text", view=Layout("third"))
    path = f"/channels/{dm.id}/messages/{sent.id}"
    status, body, _ = await ask("PATCH", path, flags=0, components=[], content="plain")
    assert (status, "flags" in body["errors"]) == (400, True)
    assert sim.bot_texts(dm) == ["second"]


async def test_a_plain_message_becomes_a_layout_once_its_content_goes(bot: Library, dm: Channel) -> None:
    sent = await bot.here(dm).send("plain")
    with pytest.raises(discord.HTTPException):
        await sent.edit(view=Layout("x"))
    assert (await sent.edit(content=None, view=Layout("x"))).content == ""


async def test_a_layout_that_would_ping_is_a_violation(sim: DiscordSim, dm: Channel, ask: Ask) -> None:
    text = {"type": 10, "content": "@everyone"}
    path = f"/channels/{dm.id}/messages"
    await ask("POST", path, flags=V2, components=[text], allowed_mentions={"parse": []})
    assert sim.violations == []
    await ask("POST", path, flags=V2, components=[text])
    assert sim.violations[0].startswith("would ping @everyone")


MALFORMED: list[dict[str, Any]] = [
    {"components": {}},
    {"components": ["x"]},
    {"components": [{"type": 1, "components": ["x"]}]},
    {"content": "x", "embeds": {}},
    {"content": "x", "embeds": ["x"]},
    {"content": "x", "allowed_mentions": []},
    {"content": "x", "allowed_mentions": {"users": ["ann"]}},
    {"content": "x", "message_reference": {"message_id": "last"}},
]


@pytest.mark.parametrize("fields", MALFORMED)
async def test_fields_of_the_wrong_kind_are_refused(dm: Channel, ask: Ask, fields: dict[str, Any]) -> None:
    assert (await refusal(ask, dm, **fields))[:2] == (400, 50035)


async def test_a_refusal_that_a_careful_app_would_not_meet_is_a_violation(
    sim: DiscordSim, general: Channel, dm: Channel, ask: Ask
) -> None:
    path = f"/channels/{dm.id}/messages"
    await ask("POST", path, content="x" * 2001)
    await ask("POST", path, content="")
    await ask("POST", path, content="x", components=[row(button("x" * 101))])
    await ask("POST", path, content="x", message_reference={"message_id": "1"})
    assert sim.violations == [
        f"refused, 50035 content: Must be 2000 or fewer in length.: POST {path}",
        f"refused, 50006 Cannot send an empty message: POST {path}",
        f"refused, 50035 components.0.components.0.custom_id: Must be between 1 and 100 in length.: POST {path}",
        f"refused, 50035 message_reference: Unknown message: POST {path}",
    ]
    sim.violations.clear()
    sim.forbid(general)
    sim.fail("POST /channels/{id}/messages", code=50035)
    await ask("POST", path, content="scripted")
    await ask("POST", f"/channels/{general.id}/messages", content="forbidden")
    await ask("PATCH", f"{path}/1", content="gone")
    assert sim.violations == []


async def test_polls_and_stickers_are_told_to_be_missing(sim: DiscordSim, dm: Channel, ask: Ask) -> None:
    assert (await refusal(ask, dm, poll={"question": {"text": "?"}}))[:2] == (400, 50035)
    assert sim.violations[0].startswith("polls and stickers are not simulated")
