"""Application commands: what can be registered, how often, and what is malformed."""

from typing import Any

import discord
import pytest
from discord import app_commands

from tests.fakes.clock import FakeClock
from tests.sim.discord import DiscordSim
from tests.sim.discord.conftest import TOKEN, Ask, Library, asking, running

OPTION = {"type": 3, "name": "word", "description": "x"}


def command(**more: Any) -> dict[str, Any]:
    return {"name": "status", "description": "How it is", **more}


def home(sim: DiscordSim) -> str:
    return f"/applications/{sim.bot.id}/commands"


WRONG: list[tuple[dict[str, Any], str]] = [
    (command(name="Status"), "APPLICATION_COMMAND_INVALID_NAME"),
    (command(name="two words"), "APPLICATION_COMMAND_INVALID_NAME"),
    (command(name="x" * 33), "BASE_TYPE_BAD_LENGTH"),
    (command(description="x" * 101), "BASE_TYPE_BAD_LENGTH"),
    (command(description=""), "BASE_TYPE_BAD_LENGTH"),
    (command(name_localizations={"xx": "status"}), "ENUM_TYPE_COERCE"),
    (command(name_localizations={"de": "Zustand"}), "APPLICATION_COMMAND_INVALID_NAME"),
    (command(description_localizations={"zh-CN": "长" * 101}), "BASE_TYPE_BAD_LENGTH"),
    (command(options=[OPTION] * 26), "BASE_TYPE_MAX_LENGTH"),
    (command(options=[OPTION, OPTION]), "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS"),
    (command(options=[OPTION, {**OPTION, "name": "b", "required": True}]), "APPLICATION_COMMAND_OPTIONS_REQUIRED"),
    (command(options=[{**OPTION, "type": 99}]), "BASE_TYPE_CHOICES"),
    (command(options=[{**OPTION, "choices": [{"name": str(n), "value": "x"} for n in range(26)]}]), "BASE_TYPE_MAX"),
    (command(options=[{**OPTION, "name": f"o{n}", "choices": [{"name": f"{m}" * 50, "value": "x" * 50} for m in range(5)]}
                      for n in range(20)]), "APPLICATION_COMMAND_TOO_LARGE"),
    ({"name": "Status", "type": 2, "description": "x"}, "APPLICATION_COMMAND_INVALID_DESCRIPTION"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "why"), WRONG)
async def test_malformed_commands_are_refused(sim: DiscordSim, ask: Ask, body: dict[str, Any], why: str) -> None:
    for method, more in (("POST", body), ("PUT", {"array": [body]})):
        status, answer, _ = await ask(method, home(sim), **more)
        assert (status, answer["code"]) == (400, 50035)
        assert why in str(answer["errors"])
    assert len(sim.commands) == 0


async def test_a_set_is_replaced_and_known_commands_keep_their_ids(sim: DiscordSim, ask: Ask) -> None:
    names = ["status", "stop", "新建"]
    _, first, _ = await ask("PUT", home(sim), array=[command(name=name) for name in names])
    _, second, _ = await ask("PUT", home(sim), array=[command(name="stop", description="changed"), command(name="b")])
    assert (list(sim.commands), sim.commands.syncs) == (["stop", "b"], 2)
    assert second[0]["id"] == first[1]["id"] != second[1]["id"]
    assert second[0]["version"] != first[1]["version"]
    assert sim.commands["stop"]["description"] == "changed"
    assert (await ask("GET", home(sim)))[1] == second
    assert "DUPLICATE_NAME" in str((await ask("PUT", home(sim), array=[command(), command()]))[1])
    assert (await ask("PUT", home(sim), array=[]))[:2] == (200, [])
    assert (await ask("PUT", home(sim), **command()))[0] == 400


async def test_one_command_is_made_changed_and_removed(sim: DiscordSim, ask: Ask) -> None:
    status, made, _ = await ask("POST", home(sim), **command())
    assert status == 201
    assert (await ask("POST", home(sim), **command(description="again")))[0] == 200
    path = f"{home(sim)}/{made['id']}"
    assert (await ask("GET", path))[1]["description"] == "again"
    assert (await ask("PATCH", path, description="third"))[1]["description"] == "third"
    assert (await ask("PATCH", path, name="NO"))[0] == 400
    assert (await ask("DELETE", path))[0] == 204
    assert (await ask("GET", path))[1]["code"] == 10063


async def test_another_application_or_guild_is_none_of_its_business(sim: DiscordSim, ask: Ask) -> None:
    assert (await ask("GET", "/applications/1/commands"))[1]["code"] == 20012
    assert (await ask("GET", f"/applications/{sim.bot.id}/guilds/1/commands"))[1]["code"] == 50001


async def test_a_hundred_commands_fit(sim: DiscordSim, ask: Ask) -> None:
    many = [command(name=f"c{n}") for n in range(101)]
    assert (await ask("PUT", home(sim), array=many))[1]["code"] == 30032
    assert (await ask("PUT", home(sim), array=many[:100]))[0] == 200
    assert (await ask("POST", home(sim), **many[100]))[1]["code"] == 30032


async def test_two_hundred_new_commands_a_day_and_five_writes_in_twenty_seconds() -> None:
    clock = FakeClock()
    async with (
        DiscordSim(TOKEN, latency=0, monotonic=clock.monotonic, sleep=clock.sleep, now=clock.now) as sim,
        asking(sim) as ask,
    ):
        for letter in "ab":
            many = [command(name=f"{letter}{n}") for n in range(100)]
            assert (await ask("PUT", home(sim), array=many))[0] == 200
        status, body, _ = await ask("PUT", home(sim), array=[command(name="c")])
        assert (status, body["code"]) == (429, 30034)
        assert sim.violations == ["more than 200 commands created in a day"]
        for _ in range(2):
            assert (await ask("PUT", home(sim), array=[command(name="b0")]))[0] == 200
        status, body, _ = await ask("PUT", home(sim), array=[command(name="b0")])
        assert (status, body["retry_after"]) == (429, 20.0)


async def test_the_librarys_tree_passes_the_checks(sim: DiscordSim) -> None:
    class Tree(Library):
        async def setup_hook(self) -> None:
            tree = app_commands.CommandTree(self)

            @tree.command(description="Forget")
            @app_commands.describe(what="What to forget")
            @app_commands.choices(kind=[app_commands.Choice(name="A fact", value="fact")])
            async def forget(interaction: discord.Interaction, what: str, kind: str = "fact") -> None: ...

            group = app_commands.Group(name="memory", description="What it knows")
            group.add_command(app_commands.Command(name="list", description="All", callback=_nothing))
            tree.add_command(group)
            tree.add_command(app_commands.ContextMenu(name="Explain", callback=_explain))
            await tree.sync()

    async with running(sim, Tree()):
        assert sorted(sim.commands.names) == ["forget", "memory"]
        assert [one["name"] for one in sim.commands.all if one["type"] == 3] == ["Explain"]


async def _nothing(interaction: discord.Interaction) -> None: ...


async def _explain(interaction: discord.Interaction, message: discord.Message) -> None: ...
