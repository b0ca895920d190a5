"""Vendors' errors in the words of the house."""

from __future__ import annotations

from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import (
    ContentRefused,
    ContextTooLong,
    KeyRefused,
    ModelForbidden,
    ModelMissing,
    ModelResting,
    NoCredit,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    RequestRefused,
)
from bot.core.faults import FAULTS
from bot.providers.faults import Faults, complaint_of, error_class, retry_after

BODIES: list[tuple[int | None, Any, type[ProviderError]]] = [
    (400, {"error": {"message": "Your credit balance is too low to access the API."}}, NoCredit),
    (403, {"error": {"type": "permission_error", "details": {"error_code": "enforced_spend_limit_reached"}}}, NoCredit),
    (429, {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}, NoCredit),
    (
        429,
        {"error": {"code": "rate_limit_exceeded", "message": "too many tokens for this context window"}},
        ProviderBusy,
    ),
    (400, {"error": {"code": 400, "type": "exceed_context_size_error", "message": "too big"}}, ContextTooLong),
    (400, {"message": "This model's maximum context length is 8192 tokens"}, ContextTooLong),
    (400, {"error": {"message": "input length and `max_tokens` exceed context limit: 1 > 0"}}, ContextTooLong),
    (400, {"error": {"code": "model_not_found", "message": "no such model"}}, ModelMissing),
    (400, {"error": "does not support tools"}, RequestRefused),
    (418, "teapot", RequestRefused),
    (302, "moved", RequestRefused),
    (409, {}, ProviderBusy),
    (504, None, ProviderFailed),
    (None, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, ProviderBusy),
    (None, {"error": {"type": "api_error"}}, ProviderFailed),
    (None, {"error": {"code": 502, "message": "upstream"}}, ProviderFailed),
    (None, {"error": {"code": "429", "message": "slow"}}, ProviderBusy),
    (None, {"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"}}, ContextTooLong),
    (None, {"error": {"type": "authentication_error"}}, KeyRefused),
    (None, {"error": "server busy, please try again"}, ProviderBusy),
    (None, {"error": "unexpected EOF"}, ProviderFailed),
]


FILTERED: list[tuple[int | None, Any]] = [
    (400, {"error": {"code": "content_filter", "message": "The response was filtered", "innererror": {}}}),
    (400, {"error": {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"}}),
    (400, {"error": {"code": "content_policy_violation", "message": "Your request was rejected"}}),
    (
        400,
        {"error": {"code": "invalid_prompt", "message": "Invalid prompt: flagged as potentially violating our policy"}},
    ),
    (400, {"error": {"message": "Content Exists Risk", "type": "invalid_request_error"}}),
    (400, {"error": {"code": "data_inspection_failed", "message": "Input data may contain inappropriate content."}}),
    (403, {"error": {"code": 403, "message": 'requires moderation on p. Your input was flagged for "violence".'}}),
    (None, {"error": {"code": "content_filter", "message": "stopped"}}),
]


@pytest.mark.parametrize(("status", "body"), FILTERED)
def test_a_content_filter_is_told_apart_from_a_wrong_request(status: int | None, body: Any) -> None:
    assert error_class(complaint_of(body, status)) is ContentRefused
    assert not ContentRefused.retryable and not ContentRefused.next_model


def test_a_key_that_may_not_use_one_model_is_no_refused_key() -> None:
    for status in (403, None):
        body = {"error": {"type": "permission_error", "message": "Your key may not use this model."}}
        assert error_class(complaint_of(body, status)) is ModelForbidden


@pytest.mark.parametrize(("status", "body", "expected"), BODIES)
def test_a_body_is_the_error_it_means(status: int | None, body: Any, expected: type[ProviderError]) -> None:
    assert error_class(complaint_of(body, status)) is expected


@given(st.none() | st.integers(300, 599), st.recursive(st.none() | st.text(), lambda x: st.dictionaries(st.text(), x)))
def test_any_body_is_some_error(status: int | None, body: Any) -> None:
    error = Faults("lab", "m").complaint(complaint_of(body, status))
    assert isinstance(error, ProviderError)


@pytest.mark.parametrize("kind", [kind for kind in FAULTS if kind is not ModelResting])
def test_every_sentence_names_the_provider_and_says_what_to_do(kind: type[ProviderError]) -> None:
    sentence = str(Faults("mylab", "some-model").error(kind))
    assert "mylab" in sentence
    assert any(word in sentence for word in ("check", "try", "choose", "Start"))
    assert "{" not in sentence


def test_waits_are_read_in_every_form() -> None:
    now = 1_800_000_000.0
    assert retry_after({"retry-after": "20"}, now) == 20.0
    assert retry_after({"retry-after": "1.5"}, now) == 1.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "20"}, now) == 0.25
    assert retry_after({"retry-after": formatdate(now + 30, usegmt=True)}, now) == 30.0
    assert retry_after({"retry-after": formatdate(now - 30, usegmt=True)}, now) == 0.0
    for nonsense in ("", "soon", "-5", "nan", "inf"):
        assert retry_after({"retry-after": nonsense}, now) is None
    assert retry_after({}, now) is None
