"""A simulator of Discord (REST v10, gateway v10) that the real library talks to on loopback, as strict as the platform."""

from tests.sim.discord.faults import Fault
from tests.sim.discord.nouns import Call, Channel, Guild, Person, Shown
from tests.sim.discord.server import DiscordSim

__all__ = ["Call", "Channel", "DiscordSim", "Fault", "Guild", "Person", "Shown"]
