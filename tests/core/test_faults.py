"""One sentence for each thing that keeps a model from answering, in both languages, with who can mend it."""

from __future__ import annotations

import pytest

from bot.core import errors
from bot.core.errors import ModelNotHere, ProviderBusy, ProviderError, StreamGarbled
from bot.core.faults import FAULTS, fault_sentence, until_words

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ProviderError)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_every_provider_error_has_a_sentence(kind: type[ProviderError], language: str) -> None:
    sentence = fault_sentence(kind, language, provider="mylab", model="m1")
    assert "mylab" in sentence and "{" not in sentence
    assert any("\u4e00" <= char <= "\u9fff" for char in sentence) == (language == "zh-CN")


def test_no_two_kinds_of_trouble_share_a_sentence() -> None:
    told = [fault_sentence(kind, "en", provider="p", model="m") for kind in FAULTS]
    assert len(set(told)) == len(told)


def test_the_model_on_this_machine_has_no_key_and_no_address_to_check() -> None:
    for kind in (StreamGarbled, ModelNotHere, ProviderBusy):
        sentence = fault_sentence(kind, "en", provider="local")
        assert "base_url" not in sentence and "this machine" in sentence


def test_a_limit_is_told_with_the_time_at_which_it_ends() -> None:
    assert until_words(None, 0.0, "UTC") == until_words(59.0, 0.0, "UTC") == ""
    assert until_words(600.0, 1_800_000_000.0, "Europe/Berlin") == "09:10 CET"
    assert until_words(172_800.0, 1_800_000_000.0, "Europe/Berlin") == "2027-01-17 09:00 CET"
    assert "09:10 CET" in fault_sentence(ProviderBusy, "zh", provider="p", until="09:10 CET")
