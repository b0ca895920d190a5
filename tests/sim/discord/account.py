"""The calls about the bot itself: who it is, where its gateway is, and its application commands."""

from __future__ import annotations

from tests.sim.discord.asked import Asked, Done
from tests.sim.discord.intents import CONTENT, MEMBERS, PRESENCES
from tests.sim.discord.refusals import Json, refused
from tests.sim.discord.sessions import IDENTIFIES_A_DAY

LIMITED_FLAGS = {PRESENCES: 1 << 13, MEMBERS: 1 << 15, CONTENT: 1 << 19}
"""The application flags that tell of privileged intents of an app in few guilds."""


def me(asked: Asked) -> Done:
    more: Json = {"verified": True, "mfa_enabled": True, "locale": "en-US", "email": None, "flags": 0, "bio": ""}
    return 200, {**asked.world.bot.to_json(), **more}


def application(asked: Asked) -> Done:
    world = asked.world
    owner = next((one for one in world.people.values() if not one.bot), world.bot)
    flags = sum(flag for intent, flag in LIMITED_FLAGS.items() if world.gateway.granted & intent)
    return 200, {
        "id": str(world.bot.id),
        "name": world.bot.name,
        "icon": None,
        "description": "",
        "summary": "",
        "type": None,
        "bot": world.bot.to_json(),
        "bot_public": True,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "flags": flags,
        "hook": True,
        "is_monetized": False,
        "redirect_uris": [],
        "interactions_endpoint_url": None,
        "role_connections_verification_url": None,
        "owner": owner.to_json(),
        "approximate_guild_count": len(world.guilds),
        "approximate_user_install_count": 0,
        "team": None,
        "integration_types_config": {"0": {}},
    }


def user(asked: Asked) -> Done:
    person = asked.world.people.get(asked.id("user"))
    if person is None:
        raise refused(10013)
    return 200, person.to_json()


def gateway(asked: Asked) -> Done:
    return 200, {"url": asked.world.gateway.url}


def gateway_bot(asked: Asked) -> Done:
    gate = asked.world.gateway
    left, reset = max(0, gate.identifies.left()), int(gate.identifies.reset_after() * 1000)
    limit = {"total": IDENTIFIES_A_DAY, "remaining": left, "reset_after": reset, "max_concurrency": 1}
    return 200, {"url": gate.url, "shards": 1, "session_start_limit": limit}


def _guild(asked: Asked) -> int | None:
    if asked.id("application") != asked.world.bot.id:
        raise refused(20012)
    if "guild" not in asked.words:
        return None
    if asked.id("guild") not in asked.world.guilds:
        raise refused(50001)
    return asked.id("guild")


def get_commands(asked: Asked) -> Done:
    return 200, asked.world.commands.listed(_guild(asked))


def put_commands(asked: Asked) -> Done:
    return 200, asked.world.commands.overwrite(asked.body.get("", asked.body), _guild(asked))


def post_command(asked: Asked) -> Done:
    return asked.world.commands.upsert(asked.body, _guild(asked))


def get_command(asked: Asked) -> Done:
    return 200, asked.world.commands.by_id(asked.id("command"), _guild(asked))


def patch_command(asked: Asked) -> Done:
    return 200, asked.world.commands.edit(asked.id("command"), asked.body, _guild(asked))


def delete_command(asked: Asked) -> Done:
    asked.world.commands.remove(asked.id("command"), _guild(asked))
    return 204, None
