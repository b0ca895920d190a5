"""Presses, slash commands and forms: what the bot gets, the 3 seconds, the 15 minutes, and every kind of answer."""

from collections.abc import AsyncIterator
from typing import Any

import discord
import pytest
import pytest_asyncio
from discord import ui

from tests.fakes.clock import FakeClock
from tests.sim.discord import Channel, DiscordSim, Person
from tests.sim.discord.conftest import ROW, TOKEN, Ask, Connect, Library, asking, connecting, pressed, view


async def test_a_press_carries_who_where_and_the_message(
    sim: DiscordSim, bot: Library, dm: Channel, general: Channel, ann: Person
) -> None:
    for channel in (dm, general):
        _, got, sent = await pressed(sim, bot, channel, ann)
        assert (got.data["custom_id"], got.user.id, got.channel_id, got.message.id) == (
            "allow:1", 7001, channel.id, sent.id,
        )  # fmt: skip
        assert (got.message.content, got.locale, got.filesize_limit) == (
            "May I?",
            discord.Locale.american_english,
            10 << 20,
        )
        await got.response.defer()
        bot.seen.clear()
    assert got.permissions.send_messages
    assert got.guild_id == 9001


async def test_a_button_is_found_by_label_or_custom_id_unless_gone_disabled_or_unseen(
    sim: DiscordSim, bot: Library, dm: Channel, ann: Person
) -> None:
    shown = view("One", "Two")
    shown.children[1].disabled = True  # type: ignore[attr-defined]
    sent = await bot.here(dm).send("x", view=shown)
    await sim.press(dm, ann, sent.id, "one:1")
    with pytest.raises(LookupError, match=r"no button 'Two' at message \d+: \['One'\]"):
        await sim.press(dm, ann, sent.id, "Two")
    with pytest.raises(LookupError, match="Ann sees no message"):
        await sim.press(dm, ann, 1, "One")
    await sim.press(dm, ann, sent.id, "gone:1", stale=True)
    await bot.until(sim, lambda: len(bot.told("interaction")) == 2)
    assert [got.data["custom_id"] for got in bot.told("interaction")] == ["one:1", "gone:1"]


async def test_the_button_of_a_persistent_item_works_in_a_new_process(
    sim: DiscordSim, bot: Library, dm: Channel, ann: Person
) -> None:
    pressed_by: list[str] = []

    class Approve(ui.DynamicItem[ui.Button[ui.View]], template=r"allow:(?P<call>\d+)"):
        def __init__(self, call: str) -> None:
            super().__init__(ui.Button(label="Allow", custom_id=f"allow:{call}"))
            self.call = call

        @classmethod
        async def from_custom_id(cls, interaction: Any, item: Any, match: Any, /) -> Any:
            return cls(match["call"])

        async def callback(self, interaction: Any) -> None:
            pressed_by.append(f"{interaction.user.name} {self.call}")
            await interaction.response.edit_message(content="Allowed", view=None)

    sent = await bot.here(dm).send("May I?", view=view("Allow"))
    bot.add_dynamic_items(Approve)
    await sim.press(dm, ann, sent.id, "Allow")
    await sim.until(lambda sim: sim.bot_texts(dm) == ["Allowed"])
    assert (pressed_by, sim.visible(dm)[0].buttons, sim.visible(dm)[0].edits) == (["ann 1"], (), 1)
    assert [(one.type, one.name) for one in sim.interaction_answers] == [(7, "allow:1")]


async def test_each_kind_of_answer_to_a_press(sim: DiscordSim, bot: Library, general: Channel, ann: Person) -> None:
    _, got, sent = await pressed(sim, bot, general, ann)
    answer = await got.response.send_message("only you", ephemeral=True)
    assert answer.is_ephemeral() and answer.message_id is not None
    assert [shown.text for shown in sim.visible(general)] == ["May I?"]
    mine = sim.visible(general, ann)[-1]
    assert (mine.text, mine.ephemeral) == ("only you", True)
    with pytest.raises(discord.NotFound):
        await bot.here(general).fetch_message(mine.id)
    await got.edit_original_response(content="still only you")
    await got.followup.send("for all")
    assert [shown.text for shown in sim.visible(general)] == ["May I?", "for all"]
    await got.delete_original_response()
    assert [shown.text for shown in sim.visible(general, ann)] == ["May I?", "for all"]
    bot.seen.clear()
    _, got, sent = await pressed(sim, bot, general, ann)
    await got.response.defer()
    await got.edit_original_response(content="pressed", view=None)
    assert (sim.visible(general)[-1].id, sim.visible(general)[-1].text) == (sent.id, "pressed")
    assert sim.violations == []


async def test_a_deferred_answer_thinks_until_it_is_filled(
    sim: DiscordSim, bot: Library, dm: Channel, ann: Person
) -> None:
    _, got, _ = await pressed(sim, bot, dm, ann)
    answer = await got.response.defer(thinking=True)
    assert answer is not None and answer.is_thinking()
    assert (sim.visible(dm)[-1].thinking, sim.visible(dm)[-1].text) == (True, "")
    followed = await got.followup.send("done", wait=True)
    shown = sim.visible(dm)[-1]
    assert (shown.id, shown.thinking, shown.text, shown.edits) == (followed.id, False, "done", 0)
    again = await got.followup.send("more", wait=True)
    await again.edit(content="more and more")
    assert sim.bot_texts(dm) == ["May I?", "done", "more and more"]
    await again.delete()
    assert sim.bot_texts(dm) == ["May I?", "done"]


async def test_a_second_answer_is_refused(sim: DiscordSim, dm: Channel, ann: Person, ask: Ask) -> None:
    _, sent, _ = await ask("POST", f"/channels/{dm.id}/messages", content="x", components=[ROW])
    press = await sim.press(dm, ann, sent["id"], "Allow")
    token = sim.world.interactions.by_id[int(press)].token
    path = f"/interactions/{press}/{token}/callback"
    assert (await ask("POST", path, type=12))[0] == 400
    assert (await ask("POST", path, type=4, data={"content": ""}))[1]["code"] == 50006
    assert (await ask("POST", path, type=4, data={"content": "x" * 2001}))[1]["code"] == 50035
    assert (await ask("POST", path, type=6))[:2] == (204, "")
    assert (await ask("POST", path, type=6))[1] == {
        "message": "Interaction has already been acknowledged.",
        "code": 40060,
    }
    assert (await ask("POST", f"/interactions/{press}/wrong/callback", type=6))[1]["code"] == 10062
    assert (await ask("POST", f"/webhooks/1/{token}", content="x"))[1]["code"] == 10015


async def test_answers_with_pings_or_files_are_checked_like_messages(
    sim: DiscordSim, dm: Channel, ann: Person, ask: Ask
) -> None:
    _, sent, _ = await ask("POST", f"/channels/{dm.id}/messages", content="x", components=[ROW])
    press = await sim.press(dm, ann, sent["id"], "Allow")
    token = sim.world.interactions.by_id[int(press)].token
    await ask("POST", f"/interactions/{press}/{token}/callback", type=4, data={"content": "@everyone"})
    await ask("POST", f"/webhooks/{sim.bot.id}/{token}", content="<@7001>", allowed_mentions={"parse": []})
    assert len(sim.violations) == 1
    assert sim.violations[0].startswith("would ping @everyone: POST /interactions/")


class Clocked:
    def __init__(self, sim: DiscordSim, clock: FakeClock, ask: Ask, connect: Connect) -> None:
        self.sim, self.clock, self.ask, self.connect = sim, clock, ask, connect
        self.ann = sim.person(7001, "Ann")
        self.dm = sim.dm(self.ann)

    async def press(self) -> tuple[str, str]:
        """A press; its callback path and its webhook path."""
        path = f"/channels/{self.dm.id}/messages"
        _, sent, _ = await self.ask("POST", path, content="x", components=[ROW])
        press = await self.sim.press(self.dm, self.ann, sent["id"], "Allow")
        self.last = press
        token = self.sim.world.interactions.by_id[int(press)].token
        return f"/interactions/{press}/{token}/callback", f"/webhooks/{self.sim.bot.id}/{token}"


@pytest_asyncio.fixture
async def clocked() -> AsyncIterator[Clocked]:
    clock = FakeClock()
    async with (
        DiscordSim(
            TOKEN, strict_rates=False, latency=0, monotonic=clock.monotonic, sleep=clock.sleep, now=clock.now
        ) as sim,
        asking(sim) as ask,
        connecting() as connect,
    ):
        yield Clocked(sim, clock, ask, connect)


async def test_a_press_that_was_heard_and_not_answered_in_three_seconds_is_a_violation(clocked: Clocked) -> None:
    sim = clocked.sim
    wire = await clocked.connect(sim.gateway_url)
    await wire.ready()
    callback, hook = await clocked.press()
    await wire.event("INTERACTION_CREATE")
    await clocked.clock.advance(2.9)
    assert (sim.violations, sim.notice(clocked.last)) == ([], "")
    await clocked.clock.advance(0.2)
    assert sim.violations == [f"an interaction was not answered in 3 s: ok:1 in {clocked.dm.id}"]
    assert sim.notice(clocked.last) == "This interaction failed"
    assert (await clocked.ask("POST", callback, type=6))[1]["code"] == 10062
    assert (await clocked.ask("POST", hook, content="x"))[1]["code"] == 10015
    callback, _ = await clocked.press()
    await clocked.clock.advance(2.9)
    assert (await clocked.ask("POST", callback, type=6))[0] == 204
    await clocked.clock.advance(60)
    assert (len(sim.violations), sim.notice(clocked.last)) == (1, "")


async def test_a_press_that_nobody_heard_fails_for_the_person_only(clocked: Clocked) -> None:
    await clocked.press()
    await clocked.clock.advance(3.1)
    assert (clocked.sim.violations, clocked.sim.notice(clocked.last)) == ([], "This interaction failed")


async def test_a_token_lives_for_fifteen_minutes(clocked: Clocked) -> None:
    callback, hook = await clocked.press()
    await clocked.ask("POST", callback, type=5)
    await clocked.clock.advance(15 * 60 - 1)
    assert (await clocked.ask("PATCH", f"{hook}/messages/@original", content="late"))[0] == 200
    assert (await clocked.ask("GET", f"{hook}/messages/@original"))[1]["content"] == "late"
    await clocked.clock.advance(2)
    for method, path in (("POST", hook), ("PATCH", f"{hook}/messages/@original")):
        status, body, _ = await clocked.ask(method, path, content="too late")
        assert (status, body["code"]) == (401, 50027)
    assert clocked.sim.bot_texts(clocked.dm) == ["x", "late"]
