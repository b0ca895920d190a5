"""The redactor: no secret in any log, in the message, its arguments, a traceback, an extra."""

from __future__ import annotations

import io
import json
import logging
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config.redact import MASK, Redactor

TOKEN = "123456789:AAFakeTokenFakeTokenFakeTokenFake12"
KEY = "sk-ant-api03-FAKEFAKEFAKE"


@pytest.fixture
def log() -> tuple[logging.Logger, io.StringIO, Redactor]:
    """A logger whose handler has the filter, as the root handler of the daemon has it."""
    stream, redactor = io.StringIO(), Redactor(["plain-configured-value"])
    handler = logging.StreamHandler(stream)
    handler.addFilter(redactor)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger = logging.Logger("test", logging.DEBUG)
    logger.addHandler(handler)
    return logger, stream, redactor


Log = tuple[logging.Logger, io.StringIO, Redactor]


def test_b262_an_http_client_that_logs_its_addresses_shows_no_token(log: Log) -> None:
    logger, stream, _ = log
    logger.info(
        'HTTP Request: %s %s "%s"', "POST", f"https://api.telegram.org/bot{TOKEN}/getUpdates", "HTTP/1.1 200 OK"
    )
    logger.debug("GET https://api.telegram.org/file/bot%s/photos/a.jpg", TOKEN.replace(":", "%3A"))
    logger.debug("send_request_headers %r", [(b"authorization", f"Bearer {KEY}".encode())])
    logger.debug({"Authorization": "Bot MTk4NjIyNDgzNDcx.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"})
    logger.info("open wss://wss-primary.slack.com/link/?ticket=1&token=xoxb-12-34-abcdef")
    text = stream.getvalue()
    for secret in ("AAFake", "FAKEFAKE", "MTk4", "ZnCjm1XVW7v", "abcdef"):
        assert secret not in text
    assert "https://api.telegram.org/bot***/getUpdates" in text
    assert '"HTTP/1.1 200 OK"' in text


def test_b262_tracebacks_causes_stacks_and_extras_are_masked(log: Log) -> None:
    logger, stream, _ = log
    try:
        try:
            raise ValueError(f"https://h/x?key={KEY}&q=1")
        except ValueError as error:
            raise RuntimeError("plain-configured-value was refused") from error
    except RuntimeError:
        logger.exception(
            "failed with %s", "plain-configured-value", extra={"url": f"http://user:{KEY}@h/"}, stack_info=True
        )
    text = stream.getvalue()
    assert "Traceback" in text
    assert "RuntimeError: *** was refused" in text
    assert KEY not in text
    assert "plain-configured-value" not in text


def test_a_second_handler_sees_the_masked_record_too(log: Log) -> None:
    logger, _, _ = log
    second = io.StringIO()
    logger.addHandler(logging.StreamHandler(second))
    try:
        raise ValueError(KEY)
    except ValueError:
        logger.exception("%s", KEY)
    assert KEY not in second.getvalue()


def test_b263_an_error_text_with_a_key_in_its_address_is_cleaned_for_the_chat() -> None:
    said = "Client error '403 Forbidden' for url 'https://maps.example/api?address=x&key=FAKE-KEY-1&lang=en'"
    cleaned = Redactor().clean(said)
    assert "FAKE-KEY-1" not in cleaned
    assert cleaned == said.replace("FAKE-KEY-1", MASK)


def test_b264_a_vendor_that_quotes_the_key_is_cleaned() -> None:
    body = '{"error": {"message": "Incorrect API key provided: sk-FAKE1234****9876. You can find it…"}}'
    cleaned = Redactor().clean(body)
    assert "FAKE1234" not in cleaned
    assert "9876" not in cleaned
    assert "Incorrect API key provided: ***" in cleaned


@pytest.mark.parametrize(
    "secret",
    [
        KEY,
        TOKEN,
        "xoxb-12345-abcdefgh",
        "xapp-1-A012-345-abcdef",
        "ghp_0123456789abcdefABCDEF",
        "AIzaSyA0123456789abcdef",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    ],
)
@pytest.mark.parametrize("around", ["{}", "x={}", "'{}'", "({})", "token {}.", '{{"a": "{}"}}', "[{}]"])
def test_shapes_of_secrets_are_masked_without_being_configured(secret: str, around: str) -> None:
    assert secret not in Redactor().clean(around.format(secret))


@pytest.mark.parametrize(
    "text",
    [
        '{"api_key": "FAKEVALUE"}',
        "{'x-api-key': 'FAKEVALUE', 'a': 1}",
        "api_key=FAKEVALUE",
        "password=FAKEVALUE&x=1",
        "https://h/?access_token=FAKEVALUE#a",
        "Authorization: Bearer FAKEVALUE",
        "authorization: basic FAKEVALUE",
        "postgres://me:FAKEVALUE@db/x",
        "-----BEGIN RSA PRIVATE KEY-----\nFAKEVALUE\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_stands_where_secrets_stand_is_masked(text: str) -> None:
    assert "FAKEVALUE" not in Redactor().clean(text)


@pytest.mark.parametrize(
    "text",
    [
        "config.yaml:14: channels.telegram.token: is empty",
        "12:30:05 telegram:main:123: turn t_01HX done, 1200 tokens",
        "the key=value form; risk-averse; task-1; 2026-11-30T10:00:00",
        "web page at http://127.0.0.1:8717/?chat=main",
        "tokens: 12, key: brain.llm, bot.brain.loop.step",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert Redactor(["x", "", "abc"]).clean(text) == text


@given(st.text(min_size=6, max_size=40).filter(lambda text: len(text.strip()) >= 6 and MASK not in text))
def test_a_configured_value_never_survives_in_any_of_its_spellings(secret: str) -> None:
    redactor = Redactor([secret])
    spelled = [secret.strip(), quote(secret, safe=""), json.dumps(secret)[1:-1], repr(secret)[1:-1]]
    for spelling in spelled:
        assert spelling not in redactor.clean(f"< {spelling} >")


def test_a_record_whose_arguments_do_not_fit_is_still_shown_and_masked(log: Log) -> None:
    logger, stream, _ = log
    logger.info(f"%d {KEY}", "no number")
    assert stream.getvalue() == f"INFO %d {MASK} (arguments do not fit)\n"


def test_values_learnt_later_are_masked_from_then_on(log: Log) -> None:
    logger, stream, redactor = log
    redactor.learn(["later-value"])
    logger.info("a later-value b")
    assert stream.getvalue() == "INFO a *** b\n"


@pytest.mark.parametrize(
    "piece", ["a.", "a", "sk-", "key=", "://", "a:", "'token':", "?key=", "eyJ-", "-----BEGIN PRIVATE KEY-----", "1:"]
)
def test_a_long_strange_text_is_cleaned_in_time_that_grows_with_its_length(piece: str) -> None:
    redactor = Redactor(["some-configured-value"])
    text = piece * (200_000 // len(piece))
    began = time.perf_counter()
    redactor.clean(text)
    assert time.perf_counter() - began < 3
