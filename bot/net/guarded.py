"""Pages of the public internet, fetched so that no address leads anywhere else: each name is looked up once, all its
addresses are judged, the connection goes to one of those, and every redirect begins anew."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, Protocol
from urllib.parse import urljoin

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from bot.net.reach import IP, Reach, is_own, reach_of
from bot.net.target import Allowed, Target, target_of
from bot.net.trust import trust
from bot.net.unpacking import OFFERED, Packed, Unpacker
from bot.net.unread import Unread

MOST_REDIRECTS: Final = 5
MOST_BYTES: Final = 16 * 1024 * 1024
SECONDS: Final = 30.0
CONNECT_SECONDS: Final = 10.0
MOST_HEADER_BYTES: Final = 32 * 1024
"""Content-Security-Policy alone fills aiohttp's own 8 KiB on some sites."""
USER_AGENT: Final = "Bowerbird/0.1 (self-hosted assistant; reads a page when its person wants it)"
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_NOT_PUBLIC: Final = (
    "{host} is not on the public internet, and only public web pages can be read. The owner can open a host of the own "
    "network by naming it under tools.web.allow_hosts in the configuration."
)


class Lookup(Protocol):
    """The addresses of a host. Raises ``OSError`` where there are none."""

    async def __call__(self, host: str, port: int) -> Sequence[str]: ...


async def looked_up(host: str, port: int) -> Sequence[str]:
    """Implements ``Lookup`` as the system does; it waits in a thread."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


@dataclass(frozen=True, slots=True)
class Page:
    """What was at ``url``, to which ``asked`` led over ``redirects`` others. Header names are in lower case. ``body`` is
    unpacked, and empty where ``status`` says that this is not what was asked for."""

    asked: str
    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    redirects: int = 0

    @property
    def media_type(self) -> str:
        return media_type_of(self.headers)


def media_type_of(headers: Mapping[str, str]) -> str:
    """Without its parameters; "" where the server does not say."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


class Guard:
    """``allowed`` is what the owner opens of the own network. Nothing is kept from one fetch to the next: no connection,
    no cookie. No proxy is asked, whatever the environment names."""

    def __init__(
        self,
        allowed: Allowed | None = None,
        *,
        lookup: Lookup = looked_up,
        agent: str = USER_AGENT,
        trusted: ssl.SSLContext | bool | None = None,
        owns: Callable[[IP], bool] = is_own,
    ) -> None:
        self._allowed = allowed or Allowed()
        self._lookup, self._agent, self._trusted, self._owns = lookup, agent, trusted, owns

    async def get(
        self,
        url: str,
        *,
        accepts: Callable[[str], bool] = lambda media_type: True,
        headers: Mapping[str, str] | None = None,
        most_bytes: int = MOST_BYTES,
        seconds: float = SECONDS,
    ) -> Page:
        """Raises ``Unread``. ``accepts`` says of a media type ("" for none) whether its body is wanted."""
        host = target_of(url).host
        try:
            async with asyncio.timeout(seconds):
                return await self._got(url, accepts, headers or {}, most_bytes)
        except TimeoutError:
            raise Unread("time", f"{host} did not send the page within {seconds:g} seconds.") from None

    async def checked(
        self, target: Target, known: Mapping[str, tuple[IP, ...]] | None = None, *, from_public: bool = False
    ) -> tuple[IP, ...]:
        """The addresses of a target, which may be asked: those that are ``known`` by its host, else looked up now. Raises
        ``Unread``. ``from_public``: a page of the public internet leads there, for which nothing else opens."""
        is_open = self._allowed.has(target) and not from_public
        if not self._allowed.has_port(target):
            raise Unread("port", f"Port {target.port} of {target.host} is not one that web pages use.", sent=False)
        if target.is_local_name and not is_open:
            raise Unread("local", _NOT_PUBLIC.format(host=target.host), sent=False)
        addresses = (known or {}).get(target.host) or await self._addresses(target)
        for address in addresses:
            reach = reach_of(address)
            opened = is_open or (self._allowed.leads(address) and not from_public)
            if reach is Reach.NEVER or (not opened and (reach is Reach.LOCAL or self._owns(address))):
                raise Unread("local", _NOT_PUBLIC.format(host=target.host), sent=False)
        return addresses

    async def _addresses(self, target: Target) -> tuple[IP, ...]:
        if (literal := target.literal) is not None:
            return (literal,)
        try:
            found = tuple(dict.fromkeys(map(ip_address, await self._lookup(target.host, target.port))))
        except (OSError, ValueError):
            found = ()
        if not found:
            why = f"There is no server named {target.host}, or this machine cannot reach the internet."
            raise Unread("unknown", why, sent=False)
        return found

    async def _got(self, url: str, accepts: Callable[[str], bool], headers: Mapping[str, str], most_bytes: int) -> Page:
        target, from_public = target_of(url), False
        pins: dict[str, tuple[IP, ...]] = {}
        async with self._session(pins, headers) as session:
            for redirects in range(MOST_REDIRECTS + 1):
                pins[target.host] = await self.checked(target, pins, from_public=from_public)
                from_public = from_public or any(reach_of(one) is Reach.PUBLIC for one in pins[target.host])
                async with _answer(session, target, self._trust()) as response:
                    leads_to = response.headers.get("Location", "") if response.status in _REDIRECTS else ""
                    if not leads_to:
                        heads = {name.lower(): value for name, value in response.headers.items()}
                        body = await _body(response, target.host, accepts, most_bytes)
                        return Page(url, target.url, response.status, heads, body, redirects)
                target = onward(target, leads_to)
        raise Unread("redirects", f"{target.host} leads on more than {MOST_REDIRECTS} times.")

    @asynccontextmanager
    async def _session(
        self, pins: Mapping[str, tuple[IP, ...]], headers: Mapping[str, str]
    ) -> AsyncIterator[aiohttp.ClientSession]:
        connector = aiohttp.TCPConnector(
            resolver=_Pinned(pins), use_dns_cache=False, force_close=True, socket_factory=only_to(pins)
        )
        async with aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            headers={"User-Agent": self._agent, "Accept": "*/*", **headers, "Accept-Encoding": OFFERED},
            timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS),
            max_line_size=MOST_HEADER_BYTES,
            max_field_size=MOST_HEADER_BYTES,
        ) as session:
            yield session

    def _trust(self) -> ssl.SSLContext | bool:
        if self._trusted is None:
            self._trusted = trust()
        return self._trusted


def onward(target: Target, leads_to: str) -> Target:
    """Where a redirect from ``target`` leads. Raises ``Unread``, also for what browsers read otherwise than the standard."""
    try:
        if "\\" in leads_to:
            raise ValueError(leads_to)
        return target_of(urljoin(target.url, leads_to))
    except ValueError:
        raise Unread("address", f"{target.host} leads on to what is no web address.") from None


class _Pinned(AbstractResolver):
    """Knows the hosts that were judged, and no other."""

    def __init__(self, pins: Mapping[str, tuple[IP, ...]]) -> None:
        self._pins = pins

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=port,
                family=socket.AF_INET6 if address.version == 6 else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._pins.get(host, ())
        ]

    async def close(self) -> None:
        """It holds nothing."""


def only_to(pins: Mapping[str, tuple[IP, ...]]) -> Callable[[tuple[object, ...]], socket.socket]:
    """Makes the sockets, and none for an address that was not judged, whatever the library made of the host."""

    def made(info: tuple[object, ...]) -> socket.socket:
        family, kind, protocol, _, place = info
        assert isinstance(family, int) and isinstance(kind, int) and isinstance(protocol, int)
        assert isinstance(place, tuple)
        if not any(ip_address(place[0]) in addresses for addresses in pins.values()):
            raise OSError("an address that was not judged")
        return socket.socket(family, kind, protocol)

    return made


@asynccontextmanager
async def _answer(
    session: aiohttp.ClientSession, target: Target, trusted: ssl.SSLContext | bool
) -> AsyncIterator[aiohttp.ClientResponse]:
    try:
        async with session.get(URL(target.url, encoded=True), allow_redirects=False, ssl=trusted) as response:
            yield response
    except (aiohttp.ClientError, OSError) as error:
        raise _translated(error, target.host) from None


async def _body(response: aiohttp.ClientResponse, host: str, accepts: Callable[[str], bool], most_bytes: int) -> bytes:
    """Unpacked, and never more than ``most_bytes`` of it, nor of what came over the wire."""
    if not 200 <= response.status < 300:
        return b""
    media_type = media_type_of({"content-type": response.headers.get("Content-Type", "")})
    if not accepts(media_type):
        raise Unread("kind", f"{host} sent no page but {_plain(media_type)}.")
    too_large = Unread("size", f"What {host} sends is larger than {most_bytes / 1e6:.3g} MB.")
    if (response.content_length or 0) > most_bytes:
        raise too_large
    body, arrived = bytearray(), 0
    try:
        unpacker = Unpacker(response.headers.get("Content-Encoding", ""))
        async for chunk in response.content.iter_any():
            arrived += len(chunk)
            for piece in unpacker.pieces(chunk):
                body += piece
                if len(body) > most_bytes or arrived > most_bytes:
                    raise too_large
                await asyncio.sleep(0)
    except Packed:
        raise Unread("packing", f"What {host} sends is packed in a way that cannot be undone.") from None
    if not unpacker.is_whole:
        raise Unread("connection", f"The connection to {host} broke off.")
    return bytes(body)


def _plain(media_type: str) -> str:
    """What a server calls its file, as far as it is such a name."""
    kept = "".join(char for char in media_type if char.isascii() and (char.isalnum() or char in "/+.-"))[:60]
    return kept or "something without a type"


def _translated(error: Exception, host: str) -> Unread:
    """aiohttp's errors and the system's in the words of the house; none is kept as a cause, for they hold addresses."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return Unread("certificate", f"{host} cannot be reached safely: its certificate is not accepted.", sent=False)
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return Unread("time", f"{host} did not answer within {CONNECT_SECONDS:g} seconds.", sent=False)
    if isinstance(error, aiohttp.ClientConnectorError):
        return Unread("connection", f"{host} cannot be reached.", sent=False)
    if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError):
        return Unread("address", "That is not a web address.", sent=False)
    return Unread("connection", f"The connection to {host} broke off.")
