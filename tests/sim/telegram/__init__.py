"""A simulator of the Telegram Bot API that the real client libraries talk to on loopback, as strict as the platform."""

from tests.sim.telegram.faults import Fault
from tests.sim.telegram.nouns import Call, Chat, Person, Shown
from tests.sim.telegram.server import TelegramSim
from tests.sim.telegram.texts import units

__all__ = ["Call", "Chat", "Fault", "Person", "Shown", "TelegramSim", "units"]
