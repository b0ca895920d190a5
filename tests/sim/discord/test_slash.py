"""Slash commands and forms: what a client offers, what the bot gets."""

from typing import Any

import discord
import pytest
from discord import app_commands, ui

from tests.sim.discord import Channel, DiscordSim, Person
from tests.sim.discord.conftest import ROW, Ask, Library, pressed, running

COMMAND = {"name": "status", "description": "How it is", "type": 1}


# slash commands


class Commands(Library):
    def __init__(self) -> None:
        super().__init__()
        self.tree = app_commands.CommandTree(self)

        @self.tree.command(description="How it is")
        async def status(interaction: discord.Interaction, word: str, times: int = 1) -> None:
            await interaction.response.defer(ephemeral=True)
            await interaction.followup.send(f"{word * times} in {interaction.channel_id}")

    async def setup_hook(self) -> None:
        await self.tree.sync()


async def shown(sim: DiscordSim, channel: Channel, person: Person, text: str) -> None:
    await sim.until(lambda sim: text in [one.text for one in sim.visible(channel, person)])


async def test_a_slash_command_runs_with_its_options(
    sim: DiscordSim, dm: Channel, general: Channel, ann: Person
) -> None:
    async with running(sim, Commands()):
        assert (list(sim.commands), sim.commands.syncs) == (["status"], 1)
        for channel in (dm, general):
            await sim.slash(channel, ann, "status", {"word": "up", "times": 2})
            await shown(sim, channel, ann, f"upup in {channel.id}")
            assert sim.bot_texts(channel) == []
    assert [(one.type, one.ephemeral) for one in sim.interaction_answers] == [(5, True)] * 2
    assert sim.violations == []


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("other", {}, "not offered"),
        ("status", {}, "required"),
        ("status", {"word": 5}, "no value"),
        ("status", {"word": "x", "more": "x"}, "no option"),
        ("status", {"word": "x", "times": True}, "no value"),
        ("status", {"word": "x", "kind": "c"}, "none of"),
        ("status deep", {"word": "x"}, "no subcommand"),
    ],
)
async def test_the_client_lets_no_wrong_command_go(
    sim: DiscordSim, dm: Channel, ann: Person, ask: Ask, name: str, options: dict[str, Any], why: str
) -> None:
    fields = [
        {"type": 3, "name": "word", "description": "x", "required": True},
        {"type": 4, "name": "times", "description": "x"},
        {"type": 3, "name": "kind", "description": "x", "choices": [{"name": "A", "value": "a"}]},
    ]
    await ask("POST", f"/applications/{sim.bot.id}/commands", **COMMAND, options=fields)
    with pytest.raises(LookupError, match=why):
        await sim.slash(dm, ann, name, options)


async def test_subcommands_and_contexts(sim: DiscordSim, dm: Channel, general: Channel, ann: Person, ask: Ask) -> None:
    inner = {"type": 1, "name": "list", "description": "x", "options": []}
    path = f"/applications/{sim.bot.id}/commands"
    await ask("POST", path, name="memory", description="x", options=[inner], contexts=[0])
    assert await sim.slash(general, ann, "memory list")
    with pytest.raises(LookupError):
        await sim.slash(dm, ann, "memory list")
    await ask("POST", path, name="old", description="x", dm_permission=False)
    with pytest.raises(LookupError):
        await sim.slash(dm, ann, "old")
    guild_path = f"/applications/{sim.bot.id}/guilds/9001/commands"
    await ask("POST", guild_path, name="here", description="x")
    assert await sim.slash(general, ann, "here")
    with pytest.raises(LookupError):
        await sim.slash(dm, ann, "here")


# forms


class Wish(ui.Modal, title="A wish"):
    text: ui.TextInput["Wish"] = ui.TextInput(label="Which?", custom_id="which")

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        await interaction.response.send_message(f"wished {self.text.value}")


async def test_a_form_is_opened_filled_in_and_sent(sim: DiscordSim, bot: Library, dm: Channel, ann: Person) -> None:
    press, got, _ = await pressed(sim, bot, dm, ann)
    await got.response.send_modal(Wish())
    await sim.submit(ann, press, {"which": "rain"})
    await sim.until(lambda sim: sim.bot_texts(dm)[-1] == "wished rain")
    with pytest.raises(LookupError, match="no form is open"):
        await sim.submit(ann, press, {})


async def test_a_form_has_limits(sim: DiscordSim, dm: Channel, ann: Person, ask: Ask) -> None:
    _, sent, _ = await ask("POST", f"/channels/{dm.id}/messages", content="x", components=[ROW])
    press = await sim.press(dm, ann, sent["id"], "Allow")
    path = f"/interactions/{press}/{sim.world.interactions.by_id[int(press)].token}/callback"
    line = {"type": 1, "components": [{"type": 4, "style": 1, "label": "x", "custom_id": "w"}]}
    for data in (
        {"custom_id": "m", "title": "x" * 46, "components": [line]},
        {"custom_id": "x" * 101, "title": "x", "components": [line]},
        {"custom_id": "m", "title": "x", "components": [line] * 6},
        {"custom_id": "m", "title": "x", "components": []},
    ):
        assert (await ask("POST", path, type=9, data=data))[1]["code"] == 50035
    assert (await ask("POST", path, type=9, data={"custom_id": "m", "title": "x", "components": [line]}))[0] == 204
