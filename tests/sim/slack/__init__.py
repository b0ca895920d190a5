"""A simulator of Slack's Web API and Socket Mode that the real client libraries talk to on loopback, as strict as Slack."""

from tests.sim.slack.deliveries import Ack, Delivery
from tests.sim.slack.faults import Fault
from tests.sim.slack.nouns import BOT_ID, BOT_USER, TEAM, Button, Call, Card, Channel, Person, Ping, Shown
from tests.sim.slack.server import SlackSim

__all__ = [
    "BOT_ID",
    "BOT_USER",
    "TEAM",
    "Ack",
    "Button",
    "Call",
    "Card",
    "Channel",
    "Delivery",
    "Fault",
    "Person",
    "Ping",
    "Shown",
    "SlackSim",
]
