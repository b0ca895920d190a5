"""Routes in the whole house, and what the wiring adds to them: whose bill it is, what a configuration says of intents."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.app.chain import Chain
from bot.app.control_client import ControlClient
from bot.app.reading import reader_of, slots_of
from bot.app.routes import FIXED_TOKENS, ConfiguredRoutes
from bot.brain.purse import MoneyLimits, Purse
from bot.brain.routing.reading import Asked, Reading, Wish
from bot.brain.turn import Turn
from bot.config.load import load
from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
from bot.core.model import ModelUsage, Usage
from bot.core.transcript import KeptFile, RouteRow, Row, UserRow
from bot.net.http import Transport
from bot.store.store import Store
from tests.app.conftest import CONFIG, StartDaemon
from tests.fakes.clock import FakeClock
from tests.fakes.provider import FakeProvider, says
from tests.sim.llm import LlmSim, answer, text, usage

ROUTED = (
    CONFIG.replace(
        "    fallback: []\n",
        """    fallback: []
    routing:
      classify_model: {{provider: openai, model: small, price: [0.1, 0.4]}}
      rules:
        - {{match: complexity == "simple", provider: openai, model: cheap, price: [0.4, 1.6]}}
""",
    ).replace("max_tokens: 500", "max_tokens: 500, price: [3, 15]")
    + "memory: {{embedder: none}}\n"
)
VERDICT = {"intent": "plan", "complexity": "simple", "privacy": "public"}
HERE = Address("telegram", "main", "7")
ANN = Sender("telegram", "7", "Ann")
MESSAGE = UserMessage("1", HERE, ANN, "hi", 1.0)
TURN = Turn("t", MESSAGE, "en")


async def test_a_rule_by_complexity_chooses_the_model_and_the_routes_can_be_compared(
    sim: LlmSim, daemon: StartDaemon, control: Callable[[], ControlClient]
) -> None:
    sim.script(answer(text("Hello."), usage(input=20, output=3)))
    async with daemon(sim.url, ROUTED) as live:
        turn = await live.say("hi there")
        assert (await live.until_done(turn=turn))[1]["stop"] == "answered"
        assert [seen.body["model"] for seen in sim.chats] == ["cheap"]
        async with control() as client:
            (route,) = (await client.routes())["routes"]
            rows = [row async for row in client.trace(turn)]
    assert (route["rule"], route["turns"], route["input_tokens"]) == ('complexity == "simple"', 1, 20)
    assert [row["complexity"] for row in rows if row["kind"] == "route"] == ["simple"]


async def test_an_unsure_one_is_asked_of_the_small_model_which_is_billed_to_the_turn(
    sim: LlmSim, daemon: StartDaemon, control: Callable[[], ControlClient]
) -> None:
    sim.script(answer(text(json.dumps(VERDICT)), usage(input=300, output=20)))
    sim.script(answer(text("Like this."), usage(input=20, output=3)))
    async with daemon(sim.url, ROUTED) as live:
        turn = await live.say("help me plan a long weekend by the sea")
        assert (await live.until_done(turn=turn))[1]["stop"] == "answered"
        assert [seen.body["model"] for seen in sim.chats] == ["small", "cheap"]
        async with control() as client:
            (route,) = (await client.routes())["routes"]
    assert (route["input_tokens"], route["output_tokens"]) == (320, 23)


def routes(folder: Path, extra: str, read: object) -> ConfiguredRoutes:
    file = folder / "config.yaml"
    file.write_text(f"data_dir: data\nproviders: {{openai: {{api_key: x}}}}\n{extra}", encoding="utf-8")
    config = load(file, {})
    return ConfiguredRoutes(config, Chain(config, Transport(), FakeClock(), None), read)  # type: ignore[arg-type]


async def test_what_is_read_is_the_message_as_it_reads_now_with_its_files(tmp_path: Path) -> None:
    wishes: list[Wish] = []

    async def read(wish: Wish, asked: Asked) -> Reading:
        wishes.append(wish)
        return Reading()

    files = (KeptFile("a.pdf", "application/pdf", text="word " * 720), KeptFile("b.png", "image/png"))
    rows = [
        Row(1, HERE, "t", 1.0, UserRow("first", ANN, "1", files=files)),
        Row(2, HERE, "t", 1.0, UserRow("then", ANN, "2")),
    ]
    one = routes(tmp_path, "", read)
    row = await one.route(TURN, rows)
    (wish,) = wishes
    assert (wish.text, wish.files, wish.pictures) == ("first\nthen", ("a.pdf", "b.png"), True)
    assert wish.prompt_tokens > FIXED_TOKENS + 700
    assert isinstance(row, RouteRow) and one.asked == Asked()


async def test_the_alternative_of_the_configuration_takes_its_share(tmp_path: Path) -> None:
    async def read(wish: Wish, asked: Asked) -> Reading:
        return Reading()

    llm = "{default: openai/a, routing: {alternative: {share: 1, provider: openai, model: b}}}"
    one = routes(tmp_path, f"brain: {{llm: {llm}}}\n", read)
    row = await one.route(TURN, [])
    assert (row.rule, row.models) == ("alternative", ("openai/b", "openai/a"))
    assert [model.model for model in one.models(TURN, row)] == ["b", "a"]


def test_the_intents_of_the_configuration_join_the_built_in_ones_and_a_list_of_none_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        "brain: {llm: {routing: {local_only: [persnal_info], cloud_only: [gardening],"
        " intents: {gardening: {description: plants, keywords: [tulip], threshold: 0.5}, code: {keywords: [cobol]}}}}}\n"
    )
    with caplog.at_level(logging.WARNING):
        slots = {slot.name: slot for slot in slots_of(load(file, {}))}
    assert (slots["gardening"].keywords, slots["gardening"].least) == (("tulip",), 0.5)
    assert "cobol" in slots["code"].keywords and "python" in slots["code"].keywords
    assert [record.getMessage()[:63] for record in caplog.records] == [
        'brain.llm.routing.local_only names the intent "persnal_info", w'
    ]


@pytest.mark.parametrize(("limit", "calls"), [(5.0, 1), (0.0001, 0)])
async def test_the_small_model_is_billed_to_the_person_and_not_asked_once_the_budget_is_spent(
    tmp_path: Path, limit: float, calls: int
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        "providers: {openai: {api_key: x}}\n"
        "brain: {llm: {default: {provider: openai, model: a, price: [3, 15]}, routing: {"
        " classify_model: {provider: openai, model: s, price: [1, 1]},"
        " rules: [{match: complexity == 'simple', provider: openai, model: b, price: [0.1, 0.1]}]}}}\n"
    )
    config, clock = load(file, {}), FakeClock()
    chain = Chain(config, Transport(), clock, None)
    said = says(json.dumps(VERDICT))
    provider = FakeProvider([*said[:-1], ModelUsage(Usage(300, 20)), said[-1]])
    async with Store.open(tmp_path / "data") as store:
        await store.usage.add(clock.now(), "before", HERE, ANN.identity, "a/b", Usage(1, 1), 0.001)
        purse = Purse(store.usage, MoneyLimits(day=5.0, person_day=limit), clock, "UTC")
        reader = reader_of(config, chain, provider, None, store.usage, purse, clock, "UTC")
        routes = ConfiguredRoutes(config, chain, reader)
        wish = Wish(TURN, "plan the day for the five of us", prompt_tokens=5_000)
        found = await reader(wish, routes.asked)
        spent = {total.model: total for total in await store.usage.since(0, ANN.identity)}
    assert len(provider.requests) == calls
    assert ("openai/s" in spent) is bool(calls)
    assert found.complexity == ("simple" if calls else "medium")
    if calls:
        assert spent["openai/s"].usd == pytest.approx(320 / 1_000_000)
