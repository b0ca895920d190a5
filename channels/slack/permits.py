"""What the app may do in the workspace, as far as Slack has told, and what an owner has to mend."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from bot.core.errors import ChannelError
from bot.core.ports import Clock
from bot.core.texts import say
from channels.slack.refusals import Outside, TokenRefused, Unfit

_SCOPES = (
    "app_mentions:read channels:history channels:read chat:write commands files:read files:write groups:history"
    " groups:read im:history mpim:history reactions:read users:read"
)
SCOPES: Final = frozenset(_SCOPES.split())
"""What everything in this folder together needs."""
AGENT_SCOPE: Final = "assistant:write"
CONNECTIONS: Final = "connections:write"
"""The one scope of the app-level token."""
CONNECT: Final = "apps.connections.open"
COMPLETE: Final = "files.completeUploadExternal"
_ORNAMENTS: Final = ("assistant.", "agents.")
"""Signs of life: an app that may not give them answers all the same."""
ROOMS_KEPT: Final = 20
ROOM_SECONDS: Final = 6 * 3600.0
"""Whoever removed the app on purpose need not be told of it for ever."""


class Permits:
    """``told``, ``refused`` and ``done`` hear what became of each call. ``socket_mode``: connections are taken."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._scopes: frozenset[str] = frozenset()
        self._missed: dict[str, None] = {}
        self._outside: OrderedDict[str, float] = OrderedDict()
        self._token = ("", "")
        self._connects = True
        self.socket_mode = True

    def told(self, scopes: frozenset[str]) -> None:
        """All that the app has, said with the answer to a call."""
        self._scopes = scopes

    def refused(self, method: str, channel: str, failure: ChannelError) -> None:
        match failure:
            case TokenRefused():
                self._token = ("app_token" if method == CONNECT else "bot_token", failure.code)
            case Unfit() if method == CONNECT:
                self._connects = self._connects and CONNECTIONS not in failure.missing
            case Unfit() if failure.missing and not method.startswith(_ORNAMENTS):
                self._missed[failure.missing] = None
            case Outside() if _shows(method) and not channel.startswith("D"):
                self._outside[channel] = self._clock.monotonic()
                if len(self._outside) > ROOMS_KEPT:
                    self._outside.popitem(last=False)

    def done(self, method: str, channel: str) -> None:
        if method == CONNECT:
            self._connects = True
            self._token = ("", "") if self._token[0] == "app_token" else self._token
        elif _shows(method):
            self.inside(channel)

    def inside(self, channel: str) -> None:
        """The app is a member there."""
        self._outside.pop(channel, None)

    def lacks(self, needed: str) -> bool:
        """Whether the scope for want of which a call was refused is still missing; of several any would do."""
        return bool(needed) and not self._scopes.intersection(needed.split(","))

    @property
    def lacking(self) -> list[str]:
        """The scopes that an owner has to add. Of an app of which nothing was told, those that calls were refused for."""
        known = SCOPES - self._scopes if self._scopes else frozenset[str]()
        return sorted({*known, *(needed for needed in self._missed if self.lacks(needed))})

    @property
    def may_be_agent(self) -> bool:
        """Whoever declares the app an agent gives it this scope; it can be given without that as well."""
        return not self._scopes or AGENT_SCOPE in self._scopes

    @property
    def hears(self) -> bool:
        """Whether what is said would be told, if only the app has asked for it."""
        deafening = (":history", "mentions:read")
        return self._connects and self.socket_mode and not any(one.endswith(deafening) for one in self.lacking)

    def trouble(self, language: str) -> str:
        """A sentence for each thing to be mended, "" where there is none."""
        said = []
        token, code = self._token
        if token:
            said.append(say("token_slack", language, token=token, code=code))
        if not self._connects:
            said.append(say("app_scope_slack", language, scope=CONNECTIONS))
        if not self.socket_mode:
            said.append(say("deaf_slack", language))
        if lacking := self.lacking:
            said.append(say("scopes_slack", language, scopes=", ".join(lacking)))
        since = self._clock.monotonic() - ROOM_SECONDS
        if rooms := [room for room, at in self._outside.items() if at > since]:
            said.append(say("rooms_slack", language, rooms=", ".join(f"`{room}`" for room in rooms)))
        return " ".join(said)


def _shows(method: str) -> bool:
    return method.startswith("chat.") or method == COMPLETE
