"""Who is let in: every combination of peer, Host, Origin, forwarding header, token and cookie that matters."""

from __future__ import annotations

import logging
from typing import Any

import aiohttp
import pytest
from pydantic import SecretStr
from starlette.requests import HTTPConnection

from channels.web.channel import Config
from channels.web.gate import Gate, Verdict, is_loopback_address, is_loopback_host
from tests.channels.web.house import House

TOKEN = "a-long-secret-token"
COOKIE = (
    Gate(TOKEN).cookie(HTTPConnection({"type": "http", "headers": [], "path": "/", "scheme": "http"})).split(";")[0]
)
OPEN, NEEDED, WRONG, UNSET, OTHER = (
    Verdict.OPEN,
    Verdict.TOKEN_NEEDED,
    Verdict.TOKEN_WRONG,
    Verdict.TOKEN_UNSET,
    Verdict.OTHER_ORIGIN,
)


def visit(peer: str = "127.0.0.1", version: str = "1.1", **headers: str) -> HTTPConnection:
    """A request; header names are written with underscores. Host is loopback unless given."""
    named = {"host": "127.0.0.1:8717", **{name.replace("_", "-"): value for name, value in headers.items()}}
    raw = [(name.encode(), value.encode("latin-1")) for name, value in named.items() if value != "-"]
    scope: dict[str, Any] = {
        "type": "http",
        "http_version": version,
        "scheme": "http",
        "path": "/v1/chats",
        "query_string": b"",
        "client": (peer, 5000),
        "headers": raw,
    }
    return HTTPConnection(scope)


# name, request, verdict without a token configured, verdict with one
MATRIX: list[tuple[str, HTTPConnection, Verdict, Verdict]] = [
    ("a direct visit", visit(), OPEN, OPEN),
    ("another loopback address", visit(peer="127.8.8.8", host="127.8.8.8:8717"), OPEN, OPEN),
    ("IPv6 loopback", visit(peer="::1", host="[::1]:8717"), OPEN, OPEN),
    ("IPv4 wrapped into IPv6", visit(peer="::ffff:127.0.0.1", host="localhost:8717"), OPEN, OPEN),
    ("localhost by name", visit(host="localhost:8717"), OPEN, OPEN),
    ("localhost in capitals", visit(host="LOCALHOST"), OPEN, OPEN),
    ("a tunnel with another port", visit(host="localhost:9000"), OPEN, OPEN),
    ("the page itself", visit(origin="http://127.0.0.1:8717", sec_fetch_site="same-origin"), OPEN, OPEN),
    ("the page itself in an old browser", visit(origin="http://127.0.0.1:8717"), OPEN, OPEN),
    ("another peer", visit(peer="192.168.1.20"), UNSET, NEEDED),
    ("another peer that says localhost", visit(peer="192.168.1.20", host="localhost"), UNSET, NEEDED),
    ("a mapped foreign peer", visit(peer="::ffff:192.168.1.20"), UNSET, NEEDED),
    ("a rebound name", visit(host="evil.example:8717"), UNSET, NEEDED),
    ("a name that only begins right", visit(host="127.0.0.1.evil.example"), UNSET, NEEDED),
    ("a name that only ends right", visit(host="evil-localhost"), UNSET, NEEDED),
    ("a subdomain of localhost", visit(host="evil.localhost"), UNSET, NEEDED),
    ("user part in the host", visit(host="127.0.0.1@evil.example"), UNSET, NEEDED),
    ("the any address as host", visit(host="0.0.0.0:8717"), UNSET, NEEDED),
    ("a decimal address as host", visit(host="2130706433"), UNSET, NEEDED),
    ("no host at all", visit(host="-"), UNSET, NEEDED),
    ("an empty host", visit(host=""), UNSET, NEEDED),
    ("HTTP/1.0, as nginx speaks it", visit(version="1.0"), UNSET, NEEDED),
    ("X-Forwarded-For", visit(x_forwarded_for="127.0.0.1"), UNSET, NEEDED),
    ("X-Forwarded-Proto alone", visit(x_forwarded_proto="https"), UNSET, NEEDED),
    ("Forwarded", visit(forwarded="for=127.0.0.1"), UNSET, NEEDED),
    ("Via", visit(via="1.1 proxy"), UNSET, NEEDED),
    ("X-Real-IP", visit(x_real_ip="127.0.0.1"), UNSET, NEEDED),
    ("Cloudflare", visit(cf_connecting_ip="203.0.113.1"), UNSET, NEEDED),
    ("an empty X-Forwarded-For", visit(x_forwarded_for=""), UNSET, NEEDED),
    ("a foreign origin", visit(origin="https://evil.example"), UNSET, NEEDED),
    ("the null origin", visit(origin="null"), UNSET, NEEDED),
    ("a foreign referer, from behind a silent proxy", visit(referer="https://bot.example/"), UNSET, NEEDED),
    ("another port of this machine", visit(origin="http://127.0.0.1:3000"), OTHER, OTHER),
    ("another name of this machine", visit(origin="http://localhost:8717"), OTHER, OTHER),
    ("another site, as the browser says", visit(sec_fetch_site="cross-site"), OTHER, OTHER),
    ("another port, as the browser says", visit(sec_fetch_site="same-site"), OTHER, OTHER),
    ("typed into the address bar", visit(sec_fetch_site="none"), OPEN, OPEN),
    ("the token", visit(peer="203.0.113.9", authorization=f"Bearer {TOKEN}"), UNSET, OPEN),
    ("the token in odd letters", visit(peer="203.0.113.9", authorization=f"bEARER   {TOKEN}"), UNSET, OPEN),
    ("the token through a proxy", visit(x_forwarded_for="1.2.3.4", authorization=f"Bearer {TOKEN}"), UNSET, OPEN),
    ("the token with a foreign host", visit(host="bot.example", authorization=f"Bearer {TOKEN}"), UNSET, OPEN),
    (
        "the token with a foreign origin",
        visit(origin="https://x.example", authorization=f"Bearer {TOKEN}"),
        UNSET,
        OPEN,
    ),
    ("a wrong token", visit(peer="203.0.113.9", authorization="Bearer nope"), UNSET, WRONG),
    ("a wrong token from loopback", visit(authorization="Bearer sk-anything"), OPEN, WRONG),
    ("the beginning of the token", visit(peer="203.0.113.9", authorization=f"Bearer {TOKEN[:-1]}"), UNSET, WRONG),
    ("the token as a password", visit(peer="203.0.113.9", authorization=f"Basic {TOKEN}"), UNSET, NEEDED),
    ("the token without a scheme", visit(peer="203.0.113.9", authorization=TOKEN), UNSET, NEEDED),
    ("an empty bearer", visit(peer="203.0.113.9", authorization="Bearer "), UNSET, NEEDED),
    ("letters outside ASCII", visit(peer="203.0.113.9", authorization="Bearer t\xf6ken"), UNSET, WRONG),
    ("the cookie", visit(peer="203.0.113.9", host="bot.example", cookie=COOKIE), UNSET, OPEN),
    (
        "the cookie from the page",
        visit(host="bot.example", origin="https://bot.example", x_forwarded_proto="https", cookie=COOKIE),
        UNSET,
        OPEN,
    ),
    (
        "the cookie where the proxy rewrites the host",
        visit(origin="https://bot.example", x_forwarded_host="bot.example", cookie=COOKIE),
        UNSET,
        OPEN,
    ),
    (
        "the cookie from another site",
        visit(host="bot.example", origin="https://evil.example", x_forwarded_for="1.2.3.4", cookie=COOKIE),
        UNSET,
        OTHER,
    ),
    (
        "the cookie from a sister site",
        visit(host="bot.example", sec_fetch_site="same-site", cookie=COOKIE),
        UNSET,
        OTHER,
    ),
    ("a made-up cookie", visit(host="bot.example", cookie=COOKIE[:-1] + "0"), UNSET, NEEDED),
    (
        "the raw token as the cookie",
        visit(host="bot.example", cookie=COOKIE.split("=")[0] + f"={TOKEN}"),
        UNSET,
        NEEDED,
    ),
    ("an unreadable cookie", visit(host="bot.example", cookie='a="'), UNSET, NEEDED),
]


@pytest.mark.parametrize(
    ("request_", "without", "with_token"), [row[1:] for row in MATRIX], ids=[row[0] for row in MATRIX]
)
def test_the_gate_lets_in_only(request_: HTTPConnection, without: Verdict, with_token: Verdict) -> None:
    assert Gate("").judge(request_) is without
    assert Gate(TOKEN).judge(request_) is with_token


def test_loopback_can_be_made_to_bring_the_token_too() -> None:
    gate = Gate(TOKEN, loopback="token")
    assert gate.judge(visit()) is NEEDED
    assert gate.judge(visit(authorization=f"Bearer {TOKEN}")) is OPEN
    assert gate.judge(visit(cookie=COOKIE)) is OPEN


def test_a_link_from_elsewhere_opens_the_page_but_not_the_api() -> None:
    click = visit(referer="https://blog.example/", sec_fetch_site="cross-site", sec_fetch_mode="navigate")
    assert Gate("").judge_page(click) is OPEN
    assert Gate("").judge(click) is OTHER
    assert Gate("").judge_page(visit(host="evil.example", sec_fetch_mode="navigate")) is UNSET


@pytest.mark.parametrize("text", ["127.0.0.1", "127.255.0.3", "::1", "::ffff:127.0.0.1", "0:0:0:0:0:0:0:1"])
def test_b275_loopback_in_every_form(text: str) -> None:
    assert is_loopback_address(text)


@pytest.mark.parametrize(
    "text", ["", "localhost", "0.0.0.0", "10.0.0.1", "::", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "127.1"]
)
def test_b275_everything_else_is_not_loopback(text: str) -> None:
    assert not is_loopback_address(text)


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:1", "[::1]", "[::1]:8717", "127.0.0.1", "[::ffff:127.0.0.1]:80"]
)
def test_loopback_hosts(host: str) -> None:
    assert is_loopback_host(host)


def test_the_token_never_shows_in_the_cookie_or_the_configuration() -> None:
    cookie = Gate(TOKEN).cookie(visit(x_forwarded_proto="https"))
    assert TOKEN not in cookie
    assert {"HttpOnly", "SameSite=Strict", "Secure", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in Gate(TOKEN).cookie(visit())
    assert TOKEN not in repr(Config(token=SecretStr(TOKEN)))
    assert Gate("another").cookie(visit()).split("=")[0] != COOKIE.split("=")[0]


async def test_over_http_a_stranger_gets_a_sentence_and_nothing_else() -> None:
    house = House(Config(port=0, token=SecretStr(TOKEN)), language="en")
    proxied = {"X-Forwarded-For": "203.0.113.9", "Host": "bot.example"}
    async with house.open(), aiohttp.ClientSession() as http:
        body = {"chat": "a", "text": "hello", "id": "1"}
        for method, path in (
            ("GET", "/v1/chats"),
            ("GET", "/v1/history?chat=a"),
            ("GET", "/v1/events?chat=a"),
            ("GET", "/v1/models"),
            ("POST", "/v1/messages"),
            ("POST", "/v1/approvals/x"),
            ("POST", "/v1/chat/completions"),
            ("POST", "/v1/stop"),
        ):
            async with http.request(method, house.url + path, json=body, headers=proxied) as answer:
                assert answer.status == 401, path
                assert "access token" in await answer.text()
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await http.ws_connect(house.url + "/v1/ws?chat=a", headers=proxied)
        assert refused.value.status == 401
        assert house.inbound == []
        allowed = {**proxied, "Authorization": f"Bearer {TOKEN}"}
        async with http.post(house.url + "/v1/messages", json=body, headers=allowed) as answer:
            assert answer.status == 202
        async with http.get(house.url + "/healthz", headers=proxied) as answer:
            assert answer.status == 200


async def test_over_http_a_rebound_name_reaches_nothing_without_a_token() -> None:
    house = House(language="en")
    async with house.open(), aiohttp.ClientSession() as http:
        for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"X-Forwarded-For": "127.0.0.1"}):
            async with http.get(house.url + "/v1/chats", headers=headers) as answer:
                assert answer.status == 403
                assert "BOWERBIRD_WEB_TOKEN" in (await answer.json())["error"]
            async with http.get(house.url + "/", headers=headers) as answer:
                assert answer.status == 403
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await http.ws_connect(house.url + "/v1/ws?chat=a", headers=headers)
        async with http.get(house.url + "/") as answer:
            assert answer.status == 200


async def test_a_form_on_another_site_cannot_post() -> None:
    house = House(language="en")
    async with house.open(), aiohttp.ClientSession() as http:
        for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
            data = b'{"chat":"a","text":"x","id":"1"}'
            async with http.post(
                house.url + "/v1/messages", data=data, headers={"Content-Type": content_type}
            ) as answer:
                assert answer.status == 415
        other = {"Origin": f"http://127.0.0.1:{house.port + 1}"}
        async with http.post(house.url + "/v1/messages", json={"chat": "a", "text": "x"}, headers=other) as answer:
            assert answer.status == 403
        async with http.options(house.url + "/v1/messages", headers=other) as answer:
            assert "access-control-allow-origin" not in answer.headers
        assert house.inbound == []


async def test_the_token_in_the_address_becomes_a_cookie_and_disappears() -> None:
    house = House(Config(port=0, token=SecretStr(TOKEN)), language="en")
    proxied = {"X-Forwarded-Proto": "https"}
    async with house.open(), aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        async with http.get(f"{house.url}/?token={TOKEN}", headers=proxied, allow_redirects=False) as answer:
            assert answer.status == 303
            assert answer.headers["location"] == "/"
            cookie = answer.headers["set-cookie"]
            assert "Secure" in cookie
        async with http.get(house.url + "/", headers={**proxied, "Cookie": cookie.split(";")[0]}) as answer:
            assert answer.status == 200
        async with http.get(f"{house.url}/?token=wrong", headers=proxied, allow_redirects=False) as answer:
            assert answer.status == 401
            assert "set-cookie" not in answer.headers
        async with http.get(house.url + "/", headers=proxied) as answer:
            assert answer.status == 401
            assert "sign-in.js" in await answer.text()
        async with http.post(house.url + "/v1/session", json={"token": "wrong"}, headers=proxied) as answer:
            assert answer.status == 401
        async with http.post(house.url + "/v1/session", json={"token": TOKEN}, headers=proxied) as answer:
            assert answer.status == 204
            assert "HttpOnly" in answer.headers["set-cookie"]


async def test_every_answer_carries_the_security_headers() -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        for path in ("/", "/page/app.js", "/v1/chats", "/nowhere", "/v1/history?chat=!"):
            async with http.get(house.url + path) as answer:
                policy = answer.headers["content-security-policy"]
                assert "default-src 'none'" in policy
                assert "script-src 'self';" in policy
                assert "unsafe" not in policy
                assert answer.headers["x-content-type-options"] == "nosniff"
                assert answer.headers["x-frame-options"] == "DENY"


async def test_b262_no_log_line_holds_the_token(caplog: pytest.LogCaptureFixture) -> None:
    house = House(Config(port=0, token=SecretStr(TOKEN)))
    with caplog.at_level(logging.DEBUG):
        async with house.open(), aiohttp.ClientSession() as http:
            headers = {"Authorization": f"Bearer {TOKEN}", "Cookie": COOKIE}
            for path in (f"/?token={TOKEN}", f"/?token={TOKEN}x", "/v1/chats"):
                async with http.get(house.url + path, headers=headers, allow_redirects=False) as answer:
                    await answer.read()
            line = await http.ws_connect(f"{house.url}/v1/ws?chat=a&token={TOKEN}", headers=headers)
            await line.close()
            for token in (TOKEN, f"{TOKEN}y"):
                async with http.post(f"{house.url}/v1/session", json={"token": token}) as answer:
                    await answer.read()
    assert caplog.records
    for record in caplog.records:
        assert TOKEN not in record.getMessage()
        assert COOKIE.partition("=")[2] not in record.getMessage()
