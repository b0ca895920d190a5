"""What an error says of the request's fate: nothing is sent twice in silence, and nothing unsent counts as maybe done."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import pytest

from bot.core.errors import TransportError, TransportTimeout
from bot.core.http import Timeouts
from bot.net.http import Transport
from tests.net.blunt import OK, Line, blunt

QUICK = Timeouts(connect=0.3, silence=0.3)


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    transport = Transport()
    yield transport
    await transport.aclose()


async def failed(transport: Transport, url: str, method: str = "POST", timeouts: Timeouts = QUICK) -> TransportError:
    with pytest.raises(TransportError) as caught:
        await transport.fetch(method, url, body=b"hello" if method == "POST" else None, timeouts=timeouts)
    return caught.value


def rest() -> None:
    """Let the server act while the client's loop does not look."""
    time.sleep(0.1)


async def test_a_refused_connection_sent_nothing(transport: Transport) -> None:
    assert not (await failed(transport, "http://127.0.0.1:1/")).sent


async def test_a_name_that_does_not_exist_sent_nothing(transport: Transport) -> None:
    assert not (await failed(transport, "http://no-such-host.invalid/", timeouts=Timeouts(5, 5))).sent


async def test_what_is_no_address_sent_nothing(transport: Transport) -> None:
    for url in ("http://[bad", "bird://nest", "http://", "/path"):
        assert not (await failed(transport, url)).sent, url


@pytest.mark.parametrize("timeouts", [QUICK, Timeouts(connect=5, silence=5, total=0.2)], ids=["connect", "total"])
async def test_waiting_for_a_place_in_the_pool_sent_nothing(timeouts: Timeouts) -> None:
    def talk(line: Line) -> None:
        line.hear()
        line.say(b"HTTP/1.1 200 OK\r\n\r\nso far")
        line.hear()  # until the client leaves

    narrow = Transport(connections=1, per_host=1)
    with blunt(talk) as server:
        async with narrow.request("GET", server.url):
            error = await failed(narrow, server.url, timeouts=timeouts)
    await narrow.aclose()
    assert (type(error), error.sent) == (TransportTimeout, False)
    assert server.heard == ["0 GET"]


async def test_a_server_that_does_not_speak_tls_was_sent_nothing(transport: Transport) -> None:
    with blunt(lambda line: line.say(b"no TLS here\r\n")) as server:
        error = await failed(transport, server.url.replace("http:", "https:"))
    assert not error.sent


async def test_a_reset_before_a_word_may_have_been_sent(transport: Transport) -> None:
    def talk(line: Line) -> None:
        time.sleep(0.1)  # a reset that meets the handshake is a server that cannot be reached
        line.reset()

    with blunt(talk) as server:
        assert (await failed(transport, server.url)).sent


async def test_a_reset_after_the_request_was_sent(transport: Transport) -> None:
    def talk(line: Line) -> None:
        line.hear()
        line.reset()

    with blunt(talk) as server:
        error = await failed(transport, server.url)
    assert error.sent
    assert server.heard == ["0 POST hello"]


async def test_a_request_without_an_answer_was_sent(transport: Transport) -> None:
    def talk(line: Line) -> None:
        line.hear()
        line.hear()

    with blunt(talk) as server:
        for timeouts in (QUICK, Timeouts(connect=5, silence=5, total=0.3)):
            error = await failed(transport, server.url, timeouts=timeouts)
            assert (type(error), error.sent) == (TransportTimeout, True)


async def test_an_answer_that_breaks_off_was_asked_for(transport: Transport) -> None:
    def talk(line: Line) -> None:
        line.hear()
        line.say(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nnot all")

    with blunt(talk) as server:
        assert (await failed(transport, server.url)).sent


@pytest.mark.parametrize("farewell", [b"", b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"])
async def test_a_kept_connection_that_its_server_has_closed_is_not_used(transport: Transport, farewell: bytes) -> None:
    """Nor is what the server said in closing it taken for the answer to the next request."""

    def talk(line: Line) -> None:
        line.hear()
        line.say(OK)
        if line.number == 0:
            line.say(farewell)
        else:
            line.hear()

    with blunt(talk) as server:
        await transport.fetch("GET", server.url)
        rest()
        answer = await transport.fetch("POST", server.url, body=b"once")
    assert (answer.status, answer.body) == (200, b"ok")
    assert server.heard == ["0 GET", "1 POST once"]


async def test_a_kept_connection_that_lives_is_used(transport: Transport) -> None:
    def talk(line: Line) -> None:
        while True:
            line.hear()
            line.say(OK)

    with blunt(talk) as server:
        for _ in range(3):
            await transport.fetch("POST", server.url, body=b"x")
            rest()
    assert server.heard == ["0 POST x"] * 3


@pytest.mark.parametrize(("method", "times"), [("POST", 1), ("PATCH", 1), ("GET", 2)])
async def test_only_what_is_idempotent_goes_out_again(transport: Transport, method: str, times: int) -> None:
    """The server hangs up on a kept connection when it has read the request: nobody can know what it did with it."""

    def talk(line: Line) -> None:
        line.hear()
        if line.number == 0:
            line.say(OK)
            line.hear()

    with blunt(talk) as server:
        await transport.fetch("GET", server.url)
        error = await failed(transport, server.url, method)
    assert error.sent
    assert len(server.heard) == 1 + times


async def test_a_redirect_that_leads_nowhere_was_sent(transport: Transport) -> None:
    def talk(line: Line) -> None:
        line.hear()
        line.say(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")

    with blunt(talk) as server, pytest.raises(TransportError) as caught:
        async with transport.request("POST", server.url, body=b"x", redirects=2):
            pass
    assert caught.value.sent


async def test_a_server_that_does_not_read_ends_the_sending() -> None:
    brisk = Transport(slowest_bytes_per_second=64 * 1024 * 1024)
    with blunt(lambda line: time.sleep(3)) as server, pytest.raises(TransportTimeout) as caught:
        await brisk.fetch("POST", server.url, body=b"x" * 16 * 1024 * 1024, timeouts=QUICK)
    await brisk.aclose()
    assert caught.value.sent


async def test_no_error_holds_the_address(transport: Transport, caplog: pytest.LogCaptureFixture) -> None:
    """Telegram's addresses hold the bot's token."""

    def talk(line: Line) -> None:
        line.hear()
        line.say(b"HTTP/1.1 two hundred\r\n\r\n")

    with blunt(talk) as server:
        for base in (server.url, "http://127.0.0.1:1", "bird://nest", "http://no-such-host.invalid"):
            error = await failed(transport, f"{base}/bot123:SECRET/sendMessage", timeouts=Timeouts(5, 5))
            assert error.__cause__ is None
            assert error.__suppress_context__
            assert "SECRET" not in f"{error!r}{vars(error)}"
    assert "SECRET" not in caplog.text
