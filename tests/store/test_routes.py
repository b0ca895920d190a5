from __future__ import annotations

from bot.core.address import Address, Sender
from bot.core.inbound import Reaction
from bot.core.model import Usage
from bot.core.stop import StopReason
from bot.core.transcript import EndRow, RouteRow, UserRow
from bot.core.view import Ref
from bot.store.routes import RouteTotal
from bot.store.store import Store

CHAT = Address("telegram", "main", "7")
THREAD = Address("telegram", "main", "7", "3")
ANN = Sender("telegram", "1", "Ann")
BOB = Sender("telegram", "2", "Bob")
NOW = 1_000_000.0
LIKES, DISLIKES = ("👍", "+1"), ("👎", "-1")


async def turn(
    store: Store,
    name: str,
    rule: str,
    *,
    at: float = NOW,
    seconds: float = 2.0,
    usd: float | None = 0.01,
    reason: StopReason | None = StopReason.ANSWERED,
    address: Address = CHAT,
) -> None:
    """One turn with one model call, whose answer stands in the platform message of its name."""
    await store.transcript.append(address, name, at, UserRow("hi", ANN, name))
    await store.transcript.append(address, name, at + 1, RouteRow("", "", "", rule, ("a/b",)))
    await store.usage.add(at + 1, name, address, ANN.identity, "a/b", Usage(100, 20), usd)
    if reason is not None:
        await store.transcript.append(address, name, at + seconds, EndRow(reason))
    await store.parts.intend(name, 0, 0, "h")
    await store.parts.record(name, 0, Ref(f"m-{name}"), "h")


async def react(store: Store, number: int, to: str, emoji: str, who: Sender, *, added: bool = True) -> None:
    reaction = Reaction(f"r{number}", CHAT, who, f"m-{to}", emoji, added, NOW)
    await store.inbox.record(reaction, "", NOW)


async def compared(store: Store) -> dict[str, RouteTotal]:
    return {total.rule: total for total in await store.routes.compared(NOW - 100, LIKES, DISLIKES)}


async def test_tokens_money_time_and_ends_are_summed_by_rule_the_most_used_first(store: Store) -> None:
    await turn(store, "one", "default", seconds=2)
    await turn(store, "two", "default", seconds=9, reason=StopReason.PROVIDER_UNAVAILABLE)
    await turn(store, "three", "default", seconds=4, usd=None)
    await turn(store, "four", "alternative", reason=None)
    await turn(store, "old", "alternative", at=NOW - 10_000)
    found = await compared(store)
    assert list(found) == ["default", "alternative"]
    assert found["default"] == RouteTotal("default", 3, 2, 300, 60, 0.02, 1, 4.0, 0, 0)
    assert found["alternative"] == RouteTotal("alternative", 1, 0, 100, 20, 0.01, 0, None, 0, 0)


async def test_all_calls_of_a_turn_count_and_a_turn_without_any_costs_nothing(store: Store) -> None:
    await turn(store, "one", "default")
    await store.usage.add(NOW, "one", CHAT, ANN.identity, "a/small", Usage(7, 1), 0.002)
    await store.transcript.append(CHAT, "two", NOW, RouteRow("", "", "", "default", ()), EndRow(StopReason.NO_MODEL))
    found = (await compared(store))["default"]
    assert (found.turns, found.input_tokens, found.output_tokens) == (2, 107, 21)


async def test_thumbs_are_those_of_people_that_hold_in_the_end(store: Store) -> None:
    await turn(store, "one", "default")
    await turn(store, "two", "alternative", address=THREAD)
    await react(store, 1, "one", "👍🏽", ANN)
    await react(store, 2, "one", "👍", ANN)
    await react(store, 3, "one", "+1", BOB)
    await react(store, 4, "one", "👎", BOB)
    await react(store, 5, "one", "👎", BOB, added=False)
    await react(store, 6, "one", "🎉", BOB)
    await react(store, 7, "two", "👎", ANN)
    await react(store, 8, "of nobody", "👎", ANN)
    found = await compared(store)
    assert (found["default"].likes, found["default"].dislikes) == (2, 0)
    assert (found["alternative"].likes, found["alternative"].dislikes) == (0, 1)


async def test_the_same_message_id_in_another_chat_is_another_message(store: Store) -> None:
    await turn(store, "one", "default", address=Address("telegram", "main", "8"))
    await react(store, 1, "one", "👍", ANN)
    assert (await compared(store))["default"].likes == 0


async def test_without_routes_there_is_nothing_to_compare(store: Store) -> None:
    assert await compared(store) == {}
