"""Which events an app asked for: the intent behind each event, in guilds and in direct messages."""

from __future__ import annotations

from tests.sim.discord.refusals import Json

GUILDS, MEMBERS, PRESENCES, CONTENT = 1 << 0, 1 << 1, 1 << 8, 1 << 15
PRIVILEGED = MEMBERS | PRESENCES | CONTENT
KNOWN = sum(1 << bit for bit in (*range(17), 20, 21, 24, 25))

_PLACES = (
    "GUILD_CREATE GUILD_UPDATE GUILD_DELETE GUILD_ROLE_CREATE GUILD_ROLE_UPDATE GUILD_ROLE_DELETE CHANNEL_CREATE"
    " CHANNEL_UPDATE CHANNEL_DELETE THREAD_CREATE THREAD_UPDATE THREAD_DELETE THREAD_LIST_SYNC THREAD_MEMBER_UPDATE"
    " THREAD_MEMBERS_UPDATE"
)
_MESSAGES = "MESSAGE_CREATE MESSAGE_UPDATE MESSAGE_DELETE MESSAGE_DELETE_BULK"
_REACTIONS = "MESSAGE_REACTION_ADD MESSAGE_REACTION_REMOVE MESSAGE_REACTION_REMOVE_ALL MESSAGE_REACTION_REMOVE_EMOJI"
NEEDED: dict[str, tuple[int, int]] = {
    **dict.fromkeys(_PLACES.split(), (GUILDS, GUILDS)),
    **dict.fromkeys(_MESSAGES.split(), (1 << 9, 1 << 12)),
    **dict.fromkeys(_REACTIONS.split(), (1 << 10, 1 << 13)),
    "TYPING_START": (1 << 11, 1 << 14),
    "CHANNEL_PINS_UPDATE": (GUILDS, 1 << 12),
    "GUILD_MEMBER_ADD": (MEMBERS, MEMBERS),
    "GUILD_MEMBER_REMOVE": (MEMBERS, MEMBERS),
    "GUILD_MEMBER_UPDATE": (MEMBERS, MEMBERS),
    "PRESENCE_UPDATE": (PRESENCES, PRESENCES),
}
"""The intent for an event in a guild, and in a DM (discord-api-docs, gateway: list of intents). Others always come."""


def wanted(event: str, body: Json, intents: int) -> bool:
    """Whether an app that identified with these intents is told."""
    if event not in NEEDED:
        return True
    in_guild, in_dm = NEEDED[event]
    return bool(intents & (in_guild if "guild_id" in body or event.startswith("GUILD") else in_dm))
