"""Every durable and every visible action of the turn in ``story``: where a process can die."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, get_args

import pytest
from _pytest.mark import ParameterSet

from tests.crash.death import Death, Kind, When


@dataclass(frozen=True, slots=True)
class Action:
    """``times`` it happens in one turn. ``paced``: how often depends on the machine, at least so often."""

    kind: Kind
    name: str
    times: int = 1
    paced: bool = False


def _together(*actions: Action) -> tuple[Action, ...]:
    """The last one of each name counts."""
    return tuple({(action.kind, action.name): action for action in actions}.values())


HEARD: Final = (Action("hear", "UserMessage"), Action("hear", "ButtonPress"))
STORED: Final = (
    Action("commit", "InboxRows.record", 2),
    Action("commit", "TranscriptRows.begin"),
    Action("commit", "TranscriptRows.write_draft", 7, paced=True),
    Action("commit", "TranscriptRows.append", 4),
    Action("commit", "PromptRows.keep", 3),
    Action("commit", "UsageRows.add", 3),
    Action("commit", "CallRows.start", 2),
    Action("commit", "TranscriptRows.result", 2),
    Action("commit", "ApprovalRows.ask"),
    Action("commit", "ApprovalRows.decide"),
    Action("commit", "PartRows.intend"),
    Action("commit", "PartRows.record", 2),
    Action("commit", "InboxRows.finish"),
    Action("commit", "InboxRows.finish_turn"),
)
SHOWN: Final = (
    Action("show", "send-text"),
    Action("show", "edit-text", 5, paced=True),
    Action("show", "edit-card"),
    Action("show", "edit-final"),
    Action("show", "answer"),
)
CALLED: Final = (
    Action("wire", "send-text"),
    Action("wire", "edit-text", 5, paced=True),
    Action("wire", "edit-card"),
    Action("wire", "edit-final"),
    Action("wire", "answer"),
)
OWN: Final = {
    "telegram": (
        Action("commit", "NoteRows.write", 3, paced=True),
        Action("wire", "getMe"),
        Action("wire", "commands", 2),
        Action("wire", "getUpdates", 2, paced=True),
    ),
    "discord": (
        Action("commit", "NoteRows.write", paced=True),
        Action("wire", "gateway"),
        Action("wire", "commands"),
    ),
    "slack": (
        Action("hear", "UserMessage", paced=True),
        Action("commit", "InboxRows.record", 2, paced=True),
        Action("commit", "NoteRows.write", paced=True),
        Action("wire", "auth.test"),
        Action("wire", "apps.connections.open"),
        Action("wire", "conversations.history"),
        Action("wire", "users.info", paced=True),
    ),
}
"""What only one platform asks of the bot, or asks in another way: Slack tells what was said before the start twice."""
EACH: Final = tuple(OWN)
THE_OTHERS_PROVEN: Final = (EACH[0], *(pytest.param(on, marks=pytest.mark.prove) for on in EACH[1:]))
"""The first in the ordinary test run, and all by ``make prove``."""
TYPING: Final = Action("wire", "typing", 0, paced=True)
"""Only where the first words are late."""
ACTIONS: Final = {
    on: _together(*HEARD, *STORED, *SHOWN, *CALLED, Action("tool", "opens"), *own) for on, own in OWN.items()
}
"""The turn on a platform whose messages hold all of it."""

LONG_ACTIONS: Final = (
    Action("commit", "PartRows.intend", 3),
    Action("commit", "PartRows.record", 3),
    Action("commit", "PartRows.seal", 2),
    Action("show", "send-text", 3),
    Action("show", "edit-sealed", 2),
    Action("wire", "send-text", 3),
)
"""What more there is where the answer is three messages."""


def deaths(actions: Iterable[Action]) -> list[Death]:
    """All of them. A tool only dies before: after is the commit of its result."""
    return [
        Death(action.kind, action.name, nth, when)
        for action in actions
        for nth in range(1, action.times + 1)
        for when in get_args(When)
        if (action.kind, when) != ("tool", "after")
    ]


def counted(lines: Iterable[str]) -> Mapping[tuple[str, str], int]:
    """How often each action happened, from a life's ``actions.log``."""
    found: dict[tuple[str, str], int] = {}
    for line in lines:
        kind, name, nth = line.split(":")
        found[kind, name] = int(nth)
    return found


def at(text: str) -> Death:
    return Death.parse(text)


def on_each(found: Mapping[str, Iterable[Death]], sample: Collection[str] = ()) -> list[ParameterSet]:
    """The deaths by platform as cases ``discord-show:answer:1:after``; those not in ``sample`` are for ``make prove``."""
    cases = [(f"{on}-{death}", on, death) for on, some in found.items() for death in some]
    assert not {*sample} - {name for name, _, _ in cases}, "no such case"
    marks = {name: () if name in sample else (pytest.mark.prove,) for name, _, _ in cases}
    return [pytest.param(on, death, id=name, marks=marks[name]) for name, on, death in cases]


def everywhere(*found: Death) -> dict[str, list[Death]]:
    """The same on each platform."""
    return {on: list(found) for on in OWN}
