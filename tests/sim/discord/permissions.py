"""What the bot may do in a channel: roles, then the overwrites of the channel (a thread has those of its parent)."""

from __future__ import annotations

from tests.sim.discord.nouns import DM, PRIVATE_THREAD, Channel
from tests.sim.discord.refusals import refused

BITS = {
    "administrator": 1 << 3,
    "manage_channels": 1 << 4,
    "add_reactions": 1 << 6,
    "view_channel": 1 << 10,
    "send_messages": 1 << 11,
    "manage_messages": 1 << 13,
    "embed_links": 1 << 14,
    "attach_files": 1 << 15,
    "read_message_history": 1 << 16,
    "mention_everyone": 1 << 17,
    "use_external_emojis": 1 << 18,
    "use_application_commands": 1 << 31,
    "manage_threads": 1 << 34,
    "create_public_threads": 1 << 35,
    "create_private_threads": 1 << 36,
    "send_messages_in_threads": 1 << 38,
    "send_voice_messages": 1 << 46,
    "send_polls": 1 << 49,
    "pin_messages": 1 << 51,
}
"""discord-api-docs, topics/permissions."""
ALL = (1 << 53) - 1
USUAL = (
    "add_reactions view_channel send_messages embed_links attach_files read_message_history use_external_emojis"
    " use_application_commands create_public_threads create_private_threads send_messages_in_threads"
    " send_voice_messages send_polls"
)


def bits(*names: str) -> int:
    """The bit field of permissions by name. KeyError for an unknown one."""
    return sum(BITS[name] for name in names)


EVERYBODY = bits(*USUAL.split())
DM_PERMISSIONS = EVERYBODY | bits("mention_everyone")


def permissions_of(channel: Channel, person: int) -> int:
    """The bit field of what a member may do in a channel; 0 for who is no member, or not in a private thread."""
    if channel.type == DM:
        return DM_PERMISSIONS
    guild = channel.guild
    assert guild is not None
    member = guild.members.get(person)
    if member is None:
        return 0
    if guild.owner_id == person:
        return ALL
    allowed = guild.roles[guild.id].permissions
    for role in member.roles:
        allowed |= guild.roles[role].permissions
    if allowed & BITS["administrator"]:
        return ALL
    place = channel.parent if channel.is_thread and channel.parent is not None else channel
    for ids in ((guild.id,), tuple(member.roles), (person,)):
        found = [place.overwrites[id_] for id_ in ids if id_ in place.overwrites]
        for _, _, deny in found:
            allowed &= ~deny
        for _, allow, _ in found:
            allowed |= allow
    if not allowed & BITS["view_channel"]:
        return 0
    if channel.type == PRIVATE_THREAD and person not in channel.members and not allowed & BITS["manage_threads"]:
        return 0
    return allowed


def sees(channel: Channel, person: int) -> bool:
    return bool(permissions_of(channel, person) & BITS["view_channel"])


def need(channel: Channel, person: int, *names: str) -> None:
    """Refused: 50001 where the channel cannot be seen, 50013 where one of the permissions is missing."""
    allowed = permissions_of(channel, person)
    if not sees(channel, person):
        raise refused(50001)
    if bits(*names) & ~allowed:
        raise refused(50013)
