"""Who is let in: knows loopback from proxies, the token in its three forms, and which requests another site made."""

from __future__ import annotations

import enum
import hashlib
import hmac
import ipaddress
import re
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Final, Literal
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

FORWARDING: Final = (
    "forwarded",
    "via",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-original-host",
    "x-original-url",
    "x-envoy-external-address",
    "true-client-ip",
    "cf-connecting-ip",
    "cf-ray",
    "fastly-client-ip",
    "fly-client-ip",
)
"""Headers that only a proxy adds; every ``x-forwarded-…`` counts as well."""

COOKIE_SECONDS: Final = 180 * 24 * 3600
CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types answer"
)
SECURITY_HEADERS: Final = (
    ("content-security-policy", CONTENT_POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    # not no-referrer: the page's own Referer is what betrays a proxy that adds no header of its own
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
)

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.%]+\]|[^:\[\]@/?#\s]+)(?::(?P<port>\d{1,5}))?")


class Verdict(enum.Enum):
    """What the gate says. ``status`` and ``word`` (a key of ``words.WORDS``) make the answer."""

    OPEN = (200, "")
    TOKEN_NEEDED = (401, "token_needed")
    TOKEN_WRONG = (401, "token_wrong")
    TOKEN_UNSET = (403, "token_unset")
    OTHER_ORIGIN = (403, "other_origin")

    @property
    def status(self) -> int:
        return self.value[0]

    @property
    def word(self) -> str:
        return self.value[1]


def is_loopback_address(text: str) -> bool:
    """True for 127.0.0.0/8 and ::1, an IPv4 address wrapped into IPv6 included (``::ffff:127.0.0.1``)."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def is_loopback_host(host: str) -> bool:
    """True for ``localhost`` and loopback addresses as a Host header writes them, with any port (a tunnel changes it)."""
    match = _HOST.fullmatch(host)
    if not match:
        return False
    name = match["name"]
    return name.lower() == "localhost" or is_loopback_address(name.strip("[]"))


@dataclass(frozen=True, slots=True)
class Gate:
    """The rule: a direct visit on a loopback address is the owner's; everybody else brings the token.

    With ``loopback`` "token" the direct visit needs it too: for a proxy on this machine that adds no header of its own.
    """

    token: str = ""
    loopback: Literal["open", "token"] = "open"

    def judge(self, connection: HTTPConnection) -> Verdict:
        """May this request use the API? Never raises."""
        bearer = _bearer(connection)
        if self.token and bearer and self._is_token(bearer):
            return Verdict.OPEN
        if self.token and bearer:
            return Verdict.TOKEN_WRONG
        if not (self._has_cookie(connection) or (self.loopback == "open" and is_direct(connection))):
            return Verdict.TOKEN_NEEDED if self.token else Verdict.TOKEN_UNSET
        return Verdict.OPEN if is_same_origin(connection) else Verdict.OTHER_ORIGIN

    def judge_page(self, connection: HTTPConnection) -> Verdict:
        """May this visit see the page? As for the API, but a link from elsewhere may lead here."""
        verdict = self.judge(connection)
        opened = connection.headers.get("sec-fetch-mode") == "navigate" and "origin" not in connection.headers
        return Verdict.OPEN if verdict is Verdict.OTHER_ORIGIN and opened else verdict

    def takes(self, token: str) -> bool:
        return bool(self.token) and self._is_token(token)

    def cookie(self, connection: HTTPConnection) -> str:
        """A Set-Cookie value that stands for the token without holding it; it ends when the token changes."""
        secure = connection.url.scheme in ("https", "wss") or (
            connection.headers.get("x-forwarded-proto", "").split(",")[0].strip() == "https"
        )
        return (
            f"{self._cookie_name}={self._cookie_value}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict"
            f"{'; Secure' if secure else ''}"
        )

    @property
    def _cookie_name(self) -> str:
        return f"bowerbird-{hashlib.sha256(self.token.encode()).hexdigest()[:8]}"

    @property
    def _cookie_value(self) -> str:
        return hmac.new(self.token.encode(), b"bowerbird web session", hashlib.sha256).hexdigest()

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def _has_cookie(self, connection: HTTPConnection) -> bool:
        if not self.token:
            return False
        try:
            morsel = SimpleCookie(connection.headers.get("cookie", "")).get(self._cookie_name)
        except CookieError:
            return False
        return morsel is not None and hmac.compare_digest(
            morsel.value.encode("utf-8", "replace"), self._cookie_value.encode()
        )


def _bearer(connection: HTTPConnection) -> str:
    scheme, _, rest = connection.headers.get("authorization", "").partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else ""


def is_direct(connection: HTTPConnection) -> bool:
    """True when nothing stands between the visitor and this machine: a loopback peer, names of this machine only, and
    no trace of a proxy. HTTP/1.0 counts as a trace: it is what nginx speaks to its upstream unless told otherwise."""
    headers = connection.headers
    if connection.client is None or not is_loopback_address(connection.client.host):
        return False
    if connection.scope.get("http_version") == "1.0":
        return False
    if any(name in headers for name in FORWARDING) or any(name.startswith("x-forwarded-") for name in headers):
        return False
    hosts = headers.getlist("host")
    if len(hosts) != 1 or not is_loopback_host(hosts[0]):
        return False
    for name in ("origin", "referer"):
        for value in headers.getlist(name):
            if not is_loopback_host(_authority(value)) and not _led_here(connection, name):
                return False
    return True


def _led_here(connection: HTTPConnection, name: str) -> bool:
    """A click on another site that opens the page: its Referer says nothing about how this request travelled."""
    return name == "referer" and connection.headers.get("sec-fetch-site") == "cross-site"


def is_same_origin(connection: HTTPConnection) -> bool:
    """True unless a browser says that another origin made this request. Clients that are no browsers say nothing."""
    headers = connection.headers
    site = headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return False
    origins = headers.getlist("origin")
    if not origins:
        return True
    if site == "same-origin":
        return True
    own = {headers.get("host", "").lower(), headers.get("x-forwarded-host", "").split(",")[0].strip().lower()} - {""}
    return len(origins) == 1 and _authority(origins[0]).lower() in own


def _authority(url: str) -> str:
    """``host:port`` of an Origin or Referer; "" for what is no web address (``null`` included)."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return parts.netloc if parts.scheme in ("http", "https") else ""
