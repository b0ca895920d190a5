"""The commands of chats, wired to what they look at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from bot.app.about import About
from bot.app.routes import ConfiguredRoutes
from bot.brain.purse import Purse
from bot.brain.skills.active import Skills
from bot.brain.turn import Turn
from bot.core.address import Address
from bot.core.ports import Clock
from bot.inbox.announcements import Announcements
from bot.inbox.commands import Commands, Stopped, models_told
from bot.inbox.links import Links
from bot.inbox.model_commands import ModelCommands
from bot.inbox.pairing import Pairing
from bot.inbox.settings import Settings
from bot.inbox.skill_commands import SkillCommands
from bot.providers.models import Models
from bot.store.store import Store


def commands_of(
    store: Store,
    clock: Clock,
    zone: str,
    *,
    about: About,
    stop: Callable[[Turn], Awaitable[Stopped]],
    pairing: Pairing,
    settings: Settings,
    announcements: Announcements,
    purse: Purse,
    routes: ConfiguredRoutes,
    models: Models,
    skills: Skills,
    trouble: Callable[[Address, str], str],
) -> Commands:
    return Commands(
        store.usage,
        about,
        stop,
        zone,
        pairing,
        settings,
        Links(store.links, clock, announcements.tell),
        purse,
        ModelCommands(
            settings,
            store.transcript,
            routes.find,
            models.reset,
            lambda turn: pairing.is_owner(turn.sender),
            lambda language: models_told(about(), language),
        ),
        SkillCommands(skills, store.transcript),
        trouble,
    )
