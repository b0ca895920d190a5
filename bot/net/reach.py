"""Which IP addresses are the public internet's, by IANA's registries of special-purpose addresses; all others are not."""

from __future__ import annotations

import enum
import socket
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

IP = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class Reach(enum.Enum):
    """``LOCAL`` is a house's own network or this machine, which its owner may open by name; ``NEVER`` is what no page
    is at: links, groups, tunnels, and where clouds keep the keys of their machines."""

    PUBLIC = "public"
    LOCAL = "local"
    NEVER = "never"


_LOCAL: Final = tuple(
    map(
        ip_network,
        (
            *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "100.64.0.0/10"),
            "198.18.0.0/15",  # benchmarks; proxies that give every name a made-up address take it from here
            *("::1/128", "fc00::/7"),
        ),
    )
)
_NEVER: Final = tuple(
    map(
        ip_network,
        (
            *("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.51.100.0/24"),
            *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
            "100.100.100.200/32",  # Alibaba Cloud's instance metadata
            "168.63.129.16/32",  # Azure's host, public as it looks
            *("fd00:ec2::254/128", "fd20:ce::254/128"),  # the same of Amazon and Google
            *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),  # Teredo among them, documentation, 6to4
        ),
    )
)
_GLOBAL_UNICAST: Final = ip_network("2000::/3")
_NAT64: Final = ip_network("64:ff9b::/96")
_ISATAP: Final = (0x00005EFE, 0x02005EFE)
_NOBODYS: Final = "192.0.2.1"


def reach_of(address: IP) -> Reach:
    """Addresses that hold another one are judged by it where they are used on the public internet, else refused."""
    if any(address in network for network in _NEVER):
        return Reach.NEVER
    if any(address in network for network in _LOCAL):
        return Reach.LOCAL
    if isinstance(address, IPv4Address):
        return Reach.PUBLIC
    if address in _NAT64:
        return _inside(address)
    if address not in _GLOBAL_UNICAST or address.scope_id:
        return Reach.NEVER
    if int(address) >> 32 & 0xFFFFFFFF in _ISATAP:
        return _inside(address)
    return Reach.PUBLIC


def _inside(address: IPv6Address) -> Reach:
    """By the IPv4 address in the last 32 bits: networks with IPv6 alone reach all others through such (RFC 6052)."""
    inner = reach_of(IPv4Address(int(address) & 0xFFFFFFFF))
    return inner if inner is Reach.PUBLIC else Reach.NEVER


def is_own(address: IP) -> bool:
    """Whether it is one of this machine's, however public: what listens there may be meant for this machine alone."""
    return _tells_own() and _can_be_taken(str(address))


def _can_be_taken(address: str) -> bool:
    """A socket can only be bound to an address that the machine has."""
    family = socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.bind((address, 0))
    except OSError:
        return False
    return True


@cache
def _tells_own() -> bool:
    """Not where the system lets anybody bind to anything (``ip_nonlocal_bind``)."""
    return not _can_be_taken(_NOBODYS)
