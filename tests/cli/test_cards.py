from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.cards import VERBS, CardDesk, Decision, Unclear


def card(id: str, decision: str = "") -> dict[str, Any]:
    return {"id": id, "tool": "shell", "effect": "run", "reason": "", "arguments": "{}", "decision": decision}


def buttons(*ids: str, verbs: tuple[str, ...] = VERBS) -> list[dict[str, Any]]:
    return [{"payload": f"b:{id}:{verb}"} for id in ids for verb in verbs]


def desk(*ids: str) -> CardDesk:
    """A desk with these cards open, at which the person begins to type."""
    found = CardDesk()
    found.lay([card(id) for id in ids], buttons(*ids))
    found.typing_began()
    return found


@pytest.mark.parametrize("verb", VERBS)
def test_each_command_decides_the_one_open_card(verb: str) -> None:
    assert desk("k1").read(f"/{verb}") == Decision(f"b:k1:{verb}")
    assert desk("k1").read(f" /{verb.upper()} 1 ") == Decision(f"b:k1:{verb}")


@given(st.text().filter(lambda text: text.strip().partition(" ")[0].lower() not in [f"/{verb}" for verb in VERBS]))
def test_no_other_text_decides_anything(text: str) -> None:
    assert desk("k1").read(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "y",
        "ok",
        "once",
        "always",
        "d",
        "o",
        "approve",
        "可以",
        "同意",
        "/once please",
        "/chat about it",
        "/always ١",
        "// once",
        "/approve",
    ],
)
def test_b094_a_plain_yes_goes_to_the_model_as_text(text: str) -> None:
    assert desk("k1").read(text) is None


def test_with_several_cards_the_number_says_which() -> None:
    both = desk("k1", "k2")
    assert both.read("/once") == Unclear("terminal_which_card", {"verb": "/once", "number": 1})
    assert both.read("/once 2") == Decision("b:k2:once")
    assert isinstance(both.read("/once 3"), Unclear)


def test_a_card_that_came_while_the_line_was_typed_is_not_decided_by_it() -> None:
    changing = desk("k1")
    changing.lay([card("k1", "expired"), card("k2")], buttons("k2"))
    assert changing.read("/always") == Unclear("terminal_card_changed")
    changing.typing_began()
    assert changing.read("/always") == Decision("b:k2:always")


def test_a_number_stays_with_its_card() -> None:
    changing = desk("k1", "k2")
    changing.lay([card("k1", "once"), card("k2"), card("k3")], buttons("k2", "k3"))
    changing.typing_began()
    assert [found.number for found in changing.open] == [2, 3]
    assert isinstance(changing.read("/once 1"), Unclear)


def test_without_an_open_card_a_decision_says_so_and_is_no_message() -> None:
    assert desk().read("/once") == Unclear("terminal_no_card")
    decided = CardDesk()
    decided.lay([card("k1", "once")], [])
    assert decided.read("/deny") == Unclear("terminal_no_card")


def test_only_what_the_buttons_offer_can_be_chosen() -> None:
    limited = CardDesk()
    limited.lay([card("k1")], buttons("k1", verbs=("once", "deny")))
    limited.typing_began()
    assert limited.read("/always") == Unclear("terminal_not_offered", {"verb": "/always"})
    assert limited.read("/deny") == Decision("b:k1:deny")
