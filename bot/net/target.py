"""What a web address means: one reading of it, the strictest, from which the address that is asked is written anew."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import quote

from bot.net.reach import IP, Network
from bot.net.unread import Unread

MOST_CHARS: Final = 8_000
"""Servers take no longer ones (RFC 9110 advises them to take that much)."""
PORTS: Final = frozenset({80, 443, 8080, 8443})
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_SPLIT: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?P<slashes>//)?(?P<authority>[^/?#]*)(?P<rest>[^#]*)")
_NOWHERE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udc7f\udd00-\udfff]")
_NOT_IN_HOSTS: Final = re.compile(r"[\x20\x80-\xa0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff0-\uffff\\%]")
_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LOCAL_ENDS: Final = (
    *(".localhost", ".localdomain", ".local", ".internal", ".intranet", ".private", ".corp", ".home", ".lan"),
    *(".home.arpa", ".in-addr.arpa", ".ip6.arpa", ".onion", ".invalid", ".alt", ".svc"),
)
"""Names that mean something in a house's own network only (RFC 6761, 6762, 8375, 9476; ICANN on corp and home; Kubernetes)."""


@dataclass(frozen=True, slots=True)
class Target:
    """``host`` in lower case and ASCII: a name without a dot at its end, or an IP address without brackets. ``rest`` is
    the path with the query, ready to be sent."""

    scheme: str
    host: str
    port: int
    rest: str

    @property
    def literal(self) -> IP | None:
        """The IP address that the host is, where it is no name."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None

    @property
    def is_local_name(self) -> bool:
        labels = self.host.split(".")
        return self.literal is None and (len(labels) == 1 or f".{self.host}".endswith(_LOCAL_ENDS))

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.rest}"


@dataclass(frozen=True, slots=True)
class Allowed:
    """What an owner opens of the own network. A host with None for its port may be asked on the web's usual ones and on
    ``ports``; whatever name leads into one of ``networks`` may be asked."""

    hosts: frozenset[tuple[str, int | None]] = frozenset()
    networks: tuple[Network, ...] = ()
    ports: frozenset[int] = frozenset()

    @classmethod
    def of(cls, entries: Iterable[str] = (), ports: Iterable[int] = ()) -> Allowed:
        """From ``nas.lan``, ``nas.lan:5000``, ``192.168.1.4``, ``[fd00::4]:8080`` or ``192.168.1.0/24``. Raises
        ``ValueError`` that names the entry."""
        hosts: set[tuple[str, int | None]] = set()
        networks: list[Network] = []
        for entry in (one.strip() for one in entries):
            is_bare_ipv6 = entry.count(":") > 1 and not entry.startswith("[")
            try:
                if "/" in entry:
                    networks.append(ip_network(entry))
                    continue
                target = target_of(f"http://[{entry}]/" if is_bare_ipv6 else f"http://{entry}/")
            except (Unread, ValueError) as error:
                raise ValueError(f"{entry!r} is no host: write nas.lan, nas.lan:5000 or 192.168.1.0/24") from error
            has_port = not is_bare_ipv6 and re.search(r":[0-9]+$", entry) is not None
            hosts.add((target.host, target.port if has_port else None))
        return cls(frozenset(hosts), tuple(networks), frozenset(ports))

    def has(self, target: Target) -> bool:
        return (target.host, None) in self.hosts or (target.host, target.port) in self.hosts

    def leads(self, address: IP) -> bool:
        return any(address in network for network in self.networks)

    def has_port(self, target: Target) -> bool:
        return target.port in PORTS or target.port in self.ports or (target.host, target.port) in self.hosts


def target_of(url: str) -> Target:
    """Raises ``Unread`` for what is no address of a web page, or says in more than one way which it is."""
    if len(url) > MOST_CHARS:
        raise Unread("address", f"The address is longer than {MOST_CHARS} characters.", sent=False)
    url = url.strip(" \t\r\n").partition("#")[0]
    found = _SPLIT.fullmatch(url)
    if found is None or _NOWHERE.search(url):
        raise _no_address()
    scheme = found["scheme"].lower()
    if scheme not in _DEFAULT_PORTS:
        raise Unread("scheme", f"Only http and https addresses can be read, not {scheme[:20]}.", sent=False)
    if not found["slashes"] or not found["authority"] or _NOT_IN_HOSTS.search(found["authority"]):
        raise _no_address()
    if "@" in found["authority"]:
        raise Unread("userinfo", "The address holds a name before @; write it without.", sent=False)
    host, port = _host_and_port(found["authority"])
    return Target(scheme, host, _DEFAULT_PORTS[scheme] if port is None else port, _rest(found["rest"]))


def _host_and_port(authority: str) -> tuple[str, int | None]:
    if authority.startswith("["):
        host, bracket, port = authority[1:].partition("]")
        if not bracket or (port and not port.startswith(":")):
            raise _no_host()
        return _ipv6(host), _port(port[1:])
    host, _, port = authority.partition(":")
    return _name(host), _port(port)


def _port(digits: str) -> int | None:
    if not digits:
        return None
    if not re.fullmatch(r"[0-9]{1,5}", digits) or not 0 < int(digits) < 65_536:
        raise Unread("port", "The port in the address is not a number from 1 to 65535.", sent=False)
    return int(digits)


def _ipv6(host: str) -> str:
    try:
        return IPv6Address(host).compressed
    except AddressValueError:
        raise _no_host() from None


def _name(written: str) -> str:
    """A name as DNS is asked for it, or an IPv4 address in its usual form. Any other way of writing a number is refused:
    programs differ in what they take it for."""
    host = written.lower()
    if not host.isascii():
        import idna  # its tables are large, and few names need them

        try:
            host = idna.encode(host, uts46=True).decode()
        except UnicodeError:
            raise _no_host() from None
    host = host.removesuffix(".")
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _no_host()
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return str(IPv4Address(host))
        except AddressValueError:
            raise Unread(
                "numeric",
                "The host is a number in an unusual form; write its name, or four decimal numbers.",
                sent=False,
            ) from None
    return host


def _rest(rest: str) -> str:
    rest = rest if rest.startswith("/") else f"/{rest}"
    return quote(rest, safe="/%:@!$&'()*+,;=~-._?[]|", errors="surrogateescape")


def _no_address() -> Unread:
    return Unread("address", "That is not a web address: it must be written like https://host/path.", sent=False)


def _no_host() -> Unread:
    return Unread("address", "The address names no host that there could be.", sent=False)
