"""The calls that the simulator knows, by method and path; any other is not found."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

from tests.sim.discord import account, messages, places, responses
from tests.sim.discord.asked import Asked, Done

MESSAGES = "/channels/{channel}/messages"
COMMANDS = "/applications/{application}/commands"
GUILD_COMMANDS = "/applications/{application}/guilds/{guild}/commands"
HOOK = "/webhooks/{application}/{token}"
WORDY = ("token", "emoji")


@dataclass(frozen=True, slots=True)
class Route:
    """``name`` is the call with its ids replaced: "PATCH /channels/{id}/messages/{id}". ``open`` needs no bot token."""

    method: str
    name: str
    pattern: re.Pattern[str]
    handler: Callable[[Asked], Done]
    open: bool


_ROUTES: list[tuple[str, str, Callable[[Asked], Done]]] = [
    ("GET", "/users/@me", account.me),
    ("GET", "/users/@me/guilds", places.my_guilds),
    ("POST", "/users/@me/channels", places.open_dm),
    ("GET", "/users/{user}", account.user),
    ("GET", "/oauth2/applications/@me", account.application),
    ("GET", "/applications/@me", account.application),
    ("GET", "/gateway", account.gateway),
    ("GET", "/gateway/bot", account.gateway_bot),
    ("POST", MESSAGES, messages.post_message),
    ("GET", MESSAGES, messages.get_messages),
    ("POST", f"{MESSAGES}/bulk-delete", messages.bulk_delete),
    ("GET", f"{MESSAGES}/{{message}}", messages.get_message),
    ("PATCH", f"{MESSAGES}/{{message}}", messages.patch_message),
    ("DELETE", f"{MESSAGES}/{{message}}", messages.delete_message),
    ("PUT", f"{MESSAGES}/{{message}}/reactions/{{emoji}}/@me", messages.put_reaction),
    ("DELETE", f"{MESSAGES}/{{message}}/reactions/{{emoji}}/@me", messages.delete_reaction),
    ("POST", f"{MESSAGES}/{{message}}/threads", places.thread_from_message),
    ("POST", "/channels/{channel}/typing", messages.post_typing),
    ("GET", "/channels/{channel}", places.get_channel),
    ("PATCH", "/channels/{channel}", places.patch_channel),
    ("DELETE", "/channels/{channel}", places.delete_channel),
    ("POST", "/channels/{channel}/threads", places.start_thread),
    ("GET", "/channels/{channel}/threads/archived/public", places.archived_threads),
    ("PUT", "/channels/{channel}/thread-members/@me", places.join_thread),
    ("DELETE", "/channels/{channel}/thread-members/@me", places.leave_thread),
    ("GET", "/guilds/{guild}", places.get_guild),
    ("GET", "/guilds/{guild}/channels", places.guild_channels),
    ("GET", "/guilds/{guild}/roles", places.guild_roles),
    ("GET", "/guilds/{guild}/members/{user}", places.guild_member),
    ("GET", "/guilds/{guild}/threads/active", places.active_threads),
    *(
        (method, path, handler)
        for path in (COMMANDS, GUILD_COMMANDS)
        for method, handler in (
            ("GET", account.get_commands),
            ("PUT", account.put_commands),
            ("POST", account.post_command),
        )
    ),
    *(
        (method, f"{path}/{{command}}", handler)
        for path in (COMMANDS, GUILD_COMMANDS)
        for method, handler in (
            ("GET", account.get_command),
            ("PATCH", account.patch_command),
            ("DELETE", account.delete_command),
        )
    ),
    ("POST", "/interactions/{interaction}/{token}/callback", responses.post_callback),
    ("POST", HOOK, responses.post_follow_up),
    ("GET", f"{HOOK}/messages/@original", responses.get_original),
    ("PATCH", f"{HOOK}/messages/@original", responses.patch_original),
    ("DELETE", f"{HOOK}/messages/@original", responses.delete_original),
    ("GET", f"{HOOK}/messages/{{message}}", responses.get_follow_up),
    ("PATCH", f"{HOOK}/messages/{{message}}", responses.patch_follow_up),
    ("DELETE", f"{HOOK}/messages/{{message}}", responses.delete_follow_up),
]


def _route(method: str, path: str, handler: Callable[[Asked], Done]) -> Route:
    words = re.compile(r"\{(\w+)\}")
    name = words.sub(lambda found: found[0] if found[1] in WORDY else "{id}", path)
    pattern = words.sub(lambda found: f"(?P<{found[1]}>[^/]+)", path)
    is_open = path.startswith(("/interactions", "/webhooks", "/gateway"))
    return Route(method, f"{method} {name}", re.compile(pattern), handler, is_open and path != "/gateway/bot")


ROUTES = [_route(*one) for one in _ROUTES]
NAMES = frozenset(route.name for route in ROUTES)


def find(method: str, path: str) -> tuple[Route | None, dict[str, str], bool]:
    """The route of a raw (still quoted) path, what its words are, and whether the path exists with other methods."""
    known = False
    for route in ROUTES:
        if (match := route.pattern.fullmatch(path)) is not None:
            known = True
            if route.method == method:
                return route, {name: unquote(word) for name, word in match.groupdict().items()}, True
    return None, {}, known
