from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations

import pytest

from bot.brain.routing.course import PICKED
from bot.brain.routing.reading import Asked, Reading, Wish
from bot.brain.routing.router import ALTERNATIVE, Alternative, Lists, Router
from bot.brain.routing.rules import Facts, RouteRule, Rules
from bot.brain.turn import Turn
from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
from bot.core.model import ModelRef

CLOUD = ModelRef("anthropic", "sonnet", vision=True)
SMALL = ModelRef("openai", "mini")
HOME = ModelRef("ollama", "llama")
CHAIN = [CLOUD, SMALL, HOME]
CHEAP = ModelRef("openai", "nano", max_tokens=1024)
MESSAGE = UserMessage("1", Address("telegram", "main", "7"), Sender("telegram", "7", "Ann"), "hi", 1.0)
TURN = Turn("t", MESSAGE, "en")
NOTHING = Reading()
NO_LISTS = Lists()


def router(
    *rules: RouteRule,
    reading: Reading = NOTHING,
    lists: Lists = NO_LISTS,
    chain: list[ModelRef] = CHAIN,
    alternative: Alternative | None = None,
    enabled: bool = True,
) -> Router:
    async def read(wish: Wish, asked: Asked) -> Reading:
        return reading

    gone = {str(HOME)} - set(map(str, chain))
    return Router(
        chain=lambda: chain,
        served=lambda model: None if str(model) in gone else model,
        near=lambda model: model.provider in ("ollama", "local"),
        read=read,
        named=lambda name: ModelRef("lab", "own") if name == "lab/own" else None,
        rules=Rules(rules),
        lists=lists,
        alternative=alternative,
        enabled=enabled,
    )


async def models(of: Router, **wish: object) -> list[ModelRef]:
    row = await of.route(Wish(TURN, "hi", **wish))  # type: ignore[arg-type]
    return of.models(row)


async def test_without_rules_the_chain_answers_and_nothing_depends_on_the_reading() -> None:
    asked: list[Asked] = []

    async def read(wish: Wish, depends: Asked) -> Reading:
        asked.append(depends)
        return Reading("code", scores={"code": 0.7})

    plain = Router(chain=lambda: CHAIN, served=lambda model: model, near=lambda model: False, read=read)
    row = await plain.route(Wish(TURN, "hi"))
    assert (row.rule, row.models) == ("default", ("anthropic/sonnet", "openai/mini", "ollama/llama"))
    assert plain.models(row) == CHAIN
    assert (row.intent, asked) == ("code", [Asked()])


async def test_the_first_rule_that_is_true_gives_the_first_model_and_leaves_the_way_back() -> None:
    rules = [
        RouteRule('complexity == "hard"', CLOUD),
        RouteRule('complexity == "simple"', CHEAP),
        RouteRule("true", SMALL),
    ]
    found = await models(router(*rules, reading=Reading(complexity="simple")))
    assert found == [CHEAP, *CHAIN]
    assert found[0].max_tokens == 1024


async def test_a_rule_for_a_model_of_the_chain_brings_its_own_limits() -> None:
    ruled = ModelRef("openai", "mini", max_tokens=77)
    assert await models(router(RouteRule("length < 5", ruled))) == [ruled, CLOUD, HOME]


async def test_a_private_route_never_leaves_the_house() -> None:
    rule = RouteRule('intent == "personal_info"', HOME, private=True)
    reading = Reading(intent="personal_info")
    assert await models(router(rule, reading=reading)) == [HOME]
    assert await models(router(rule, reading=reading, chain=[CLOUD, SMALL])) == []


UNSURE = Reading(intent="plan", near=("personal_info",))


async def test_what_may_as_well_be_private_stays_in_the_house() -> None:
    private = RouteRule('intent == "personal_info"', HOME, private=True)
    assert await models(router(RouteRule('intent == "plan"', CHEAP), private, reading=UNSURE)) == [HOME]
    assert await models(router(private, reading=UNSURE)) == [HOME]
    assert await models(router(lists=Lists(local_only=frozenset({"personal_info"})), reading=UNSURE)) == [HOME]
    assert await models(router(private, reading=Reading(intent="plan"))) == CHAIN
    row = await router(private, reading=UNSURE).route(Wish(TURN, "hi"))
    assert (row.private, row.rule, row.intent) == (True, private.match, "plan")


async def test_another_intent_it_may_have_changes_nothing_but_that() -> None:
    by_person = RouteRule("length < 5", CHEAP)
    private = RouteRule('intent == "personal_info"', HOME, private=True)
    assert (await models(router(by_person, private, reading=UNSURE)))[0] == CHEAP, "the owner's order holds"
    public = RouteRule('intent == "personal_info"', CHEAP)
    assert await models(router(public, reading=UNSURE)) == CHAIN


async def test_only_a_sure_intent_is_kept_away_from_the_house() -> None:
    lists = Lists(cloud_only=frozenset({"plan"}))
    assert HOME in await models(router(lists=lists, reading=UNSURE))
    assert HOME not in await models(router(lists=lists, reading=Reading(intent="plan")))


async def test_a_private_route_with_a_model_in_the_cloud_keeps_nothing_of_it() -> None:
    assert await models(router(RouteRule("true", CHEAP, private=True))) == [HOME]


@pytest.mark.parametrize(
    ("lists", "wanted"),
    [
        (Lists(local_only=frozenset({"x"})), [HOME]),
        (Lists(local_preferred=frozenset({"x"})), [HOME, CLOUD, SMALL]),
        (Lists(cloud_only=frozenset({"x"})), [CLOUD, SMALL]),
        (Lists(local_only=frozenset({"y"})), CHAIN),
    ],
)
async def test_the_lists_of_intents(lists: Lists, wanted: list[ModelRef]) -> None:
    assert await models(router(lists=lists, reading=Reading(intent="x"))) == wanted


async def test_pictures_go_to_a_model_that_sees_whatever_the_rule_says() -> None:
    assert await models(router(RouteRule("images", SMALL)), pictures=True) == [CLOUD, SMALL, HOME]


async def test_a_picked_model_is_never_replaced() -> None:
    one = router(RouteRule("true", CHEAP))
    assert await models(one, picked="mini") == [SMALL]
    assert await models(one, picked="openai/mini") == [SMALL]
    assert await models(one, picked="openai/nano") == [CHEAP]
    assert await models(one, picked="lab/own") == [ModelRef("lab", "own")]
    row = await one.route(Wish(TURN, "hi", picked="gone/model"))
    assert (row.rule, one.models(row)) == (PICKED, [])


async def test_a_decision_that_was_written_holds_while_its_models_can_be_asked() -> None:
    row = await router(RouteRule("true", CHEAP)).route(Wish(TURN, "hi"))
    assert router(RouteRule("true", CHEAP), chain=[CLOUD]).models(row) == [CHEAP, CLOUD]
    assert router(chain=[SMALL]).models(row) == [SMALL]


async def test_switched_off_no_rule_is_asked() -> None:
    assert await models(router(RouteRule("true", CHEAP), enabled=False)) == CHAIN


def test_what_depends_on_the_reading_is_said() -> None:
    assert router(RouteRule("length > 3", CHEAP)).asked() == Asked()
    assert router(RouteRule('intent == "code"', CHEAP), enabled=False).asked() == Asked()
    of_rules = router(RouteRule('complexity == "simple"', CHEAP), RouteRule('privacy != "public"', HOME, private=True))
    assert of_rules.asked() == Asked(frozenset({"complexity", "privacy"}), (CHEAP, HOME, CLOUD), private=True)
    assert router(lists=Lists(local_only=frozenset({"x"}))).asked() == Asked(frozenset({"intent"}), (CLOUD,), True)


OTHER = Alternative(ModelRef("openai", "other"), 0.25)


async def test_about_its_share_of_the_turns_goes_down_the_alternative_and_always_the_same_ones() -> None:
    one = router(alternative=OTHER)
    turns = [replace(TURN, id=f"turn-{number}") for number in range(400)]
    rows = [await one.route(Wish(turn, "hi")) for turn in turns]
    taken = [row for row in rows if row.rule == ALTERNATIVE]
    assert 70 <= len(taken) <= 130
    assert [row.rule for row in rows] == [(await one.route(Wish(turn, "hello"))).rule for turn in turns]
    assert one.models(taken[0]) == [OTHER.model, *CHAIN]


ALWAYS = Alternative(ModelRef("openai", "other"), 1.0)


async def test_no_private_picked_or_blind_turn_goes_down_the_alternative() -> None:
    private = router(RouteRule("true", HOME, private=True), alternative=ALWAYS)
    assert await models(private) == [HOME]
    assert await models(router(alternative=ALWAYS), picked="mini") == [SMALL]
    assert (await models(router(alternative=ALWAYS), pictures=True))[0] == CLOUD
    assert await models(router(alternative=ALWAYS, enabled=False)) == CHAIN


async def test_an_alternative_that_a_list_moves_back_is_not_counted_as_one() -> None:
    one = router(alternative=ALWAYS, lists=Lists(local_preferred=frozenset({"x"})), reading=Reading(intent="x"))
    row = await one.route(Wish(TURN, "hi"))
    assert (row.rule, row.models[0]) == ("default", "ollama/llama")


FACTS = Facts("code", "simple", "public", "telegram", "telegram:7", False, 12)


@pytest.mark.parametrize(
    ("match", "holds"),
    [
        ('intent in ["code", "plan"]', True),
        ('channel == "telegram" && person == "telegram:7"', True),
        ("length > 10 && !images", True),
        ('privacy == "secret"', False),
        ('intent.startsWith("co") ? length == 12 : false', True),
        ("['a', 'code'].exists(x, x == intent)", True),
    ],
)
def test_expressions_over_the_facts(match: str, holds: bool) -> None:
    assert (Rules([RouteRule(match, SMALL)]).first(FACTS) is not None) is holds


def test_a_rule_that_breaks_on_a_message_is_passed_over_and_named_once(caplog: pytest.LogCaptureFixture) -> None:
    rules = Rules([RouteRule("['a'][length] == intent", SMALL), RouteRule("true", CLOUD)])
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            found = rules.first(FACTS)
            assert found is not None and found.model == CLOUD
    assert len(caplog.records) == 1


def test_only_what_rules_ask_for_is_read() -> None:
    rules = Rules([RouteRule('channel == "web" || length > 3', SMALL)])
    asked: Mapping[str, bool] = {name: rules.ask_of(name) for name in ("intent", "complexity", "channel", "length")}
    assert asked == {"intent": False, "complexity": False, "channel": True, "length": True}


@pytest.mark.parametrize("order", list(permutations(CHAIN)))
async def test_no_order_of_the_chain_lets_a_private_message_out(order: tuple[ModelRef, ...]) -> None:
    found = await models(router(RouteRule("true", SMALL, private=True), chain=list(order)))
    assert all(model.provider == "ollama" for model in found)
