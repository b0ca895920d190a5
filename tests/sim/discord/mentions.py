"""Who is pinged: what a text names, and what ``allowed_mentions`` lets through of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tests.sim.discord.refusals import FormErrors, Json

USER = re.compile(r"<@!?(\d+)>")
ROLE = re.compile(r"<@&(\d+)>")
EVERYBODY = re.compile(r"@(everyone|here)")
PARSED = ("everyone", "users", "roles")


@dataclass(frozen=True, slots=True)
class Named:
    """What a text names: user ids, role ids, and "everyone" or "here"."""

    users: tuple[int, ...]
    roles: tuple[int, ...]
    everybody: tuple[str, ...]


def named_in(text: str) -> Named:
    """Also inside code, where Discord does not ping: a bot must not rely on that."""
    users = tuple(dict.fromkeys(int(number) for number in USER.findall(text)))
    roles = tuple(dict.fromkeys(int(number) for number in ROLE.findall(text)))
    return Named(users, roles, tuple(dict.fromkeys(EVERYBODY.findall(text))))


@dataclass(frozen=True, slots=True)
class Allowed:
    """``users`` and ``roles`` are None for all of them. ``replied``: whether a reply pings who is replied to."""

    everybody: bool = True
    users: frozenset[int] | None = None
    roles: frozenset[int] | None = None
    replied: bool = True

    def of(self, named: Named) -> Named:
        """What of this is let through."""
        users = tuple(one for one in named.users if self.users is None or one in self.users)
        roles = tuple(one for one in named.roles if self.roles is None or one in self.roles)
        return Named(users, roles, named.everybody if self.everybody else ())


def pings(named: Named) -> list[str]:
    """As they are written: "@everyone", "<@7>", "<@&8>"."""
    written = [f"@{word}" for word in named.everybody]
    return [*written, *(f"<@{one}>" for one in named.users), *(f"<@&{one}>" for one in named.roles)]


def read_allowed(raw: Any, errors: FormErrors) -> Allowed:
    """``allowed_mentions`` of a call; without it everything pings."""
    if raw is None:
        return Allowed()
    if not isinstance(raw, dict):
        errors.add("allowed_mentions", "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
        return Allowed()
    parse = raw.get("parse") or []
    for index, kind in enumerate(parse):
        if kind not in PARSED:
            errors.add(
                f"allowed_mentions.parse.{index}",
                "BASE_TYPE_CHOICES",
                "Value must be one of ('everyone', 'users', 'roles').",
            )
    return Allowed(
        "everyone" in parse,
        _chosen(raw, "users", parse, errors),
        _chosen(raw, "roles", parse, errors),
        bool(raw.get("replied_user", False)),
    )


def _chosen(raw: Json, kind: str, parse: list[str], errors: FormErrors) -> frozenset[int] | None:
    ids = raw.get(kind) or []
    if len(ids) > 100:
        errors.add(f"allowed_mentions.{kind}", "BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.")
    if kind in parse and ids:
        message = f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.'
        errors.add("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", message)
    for index, one in enumerate(ids):
        if not str(one).isdecimal():
            errors.add(f"allowed_mentions.{kind}.{index}", "NUMBER_TYPE_COERCE", f'Value "{one}" is not snowflake.')
    return None if kind in parse else frozenset(int(one) for one in ids if str(one).isdecimal())
