from __future__ import annotations

from datetime import date

import pytest

from bot.config.model_entry import DEFAULT_FALLBACK, DEFAULT_MODEL, DEFAULT_SMALL_MODEL
from bot.providers.pricelist import as_of, price_of, window_of


def test_the_list_has_a_day() -> None:
    assert date.fromisoformat(as_of()) >= date(2026, 10, 1)


def test_every_model_of_a_vendor_that_is_built_in_has_its_price() -> None:
    for entry in (DEFAULT_MODEL, DEFAULT_SMALL_MODEL, *DEFAULT_FALLBACK):
        if entry.provider in ("anthropic", "openai"):
            price = price_of(entry.provider, entry.model)
            assert price is not None and 0 < price.input < price.output


@pytest.mark.parametrize("name", ["gpt-5.4-mini-2026-03-17", "gpt-5.4-mini-latest", "gpt-5.4-mini"])
def test_a_dated_state_of_a_model_costs_what_the_model_costs(name: str) -> None:
    assert price_of("openai", name) == price_of("openai", "gpt-5.4-mini")


def test_of_an_unknown_model_nothing_is_known() -> None:
    assert price_of("openai", "gpt-17") is None
    assert window_of("anthropic", "claude-unheard-of") is None
    assert window_of("anthropic", "claude-sonnet-5-5") == 1_000_000
