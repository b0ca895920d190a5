"""What must be true once a turn that died has been answered after all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from bot.brain.calls import UNKNOWN_OUTCOME
from bot.brain.history import paired, turn_messages
from bot.brain.progress import calls_of
from bot.core.texts import say
from bot.core.transcript import ResultRow, StepRow
from bot.store.store import Store
from tests.crash.platform import Look, Platform
from tests.crash.story import BOLD, CARDS, INTERRUPTED, LAST, NOTE, WHOLE
from tests.crash.world import World
from tests.crash.wreck import Wreck

COPIED: Final = say("copy_above")
_BELOW: Final = (
    *("note_write", "calculate", INTERRUPTED, COPIED),
    *(say("card_asks", tool="note_write"), say("status_thinking"), say("status_waiting")),
)
_FOOT: Final = re.compile(rf"(?:^|\n\n)(?:{'|'.join(map(re.escape, _BELOW))})")


async def holds(world: World[Platform], wreck: Wreck | None = None, *, verb: str = "once") -> None:
    """Wait for the end, stop the daemon, and look at everything that outlived it, the platform's messages first."""
    await world.finished()
    assert await world.lives[-1].stops() == 0
    one_answer(world, wreck or Wreck(), CARDS[verb])
    await outlived(world, wreck, verb=verb)


async def outlived(world: World[Platform], wreck: Wreck | None = None, *, verb: str = "once") -> None:
    """The notes file, the database and the logs, once the daemon has stopped or may be stopped."""
    wreck = wreck or Wreck()
    if world.lives and world.lives[-1].alive:
        assert await world.lives[-1].stops() == 0
    assert [line.endswith(NOTE) for line in world.notes()] == [True] * wreck.notes
    asked = await world.vendor.requests()
    assert any(UNKNOWN_OUTCOME in str(request["body"]) for request in asked) is wreck.interrupted
    assert await world.vendor.violations() == []
    rows_in_order(world, verb)
    await transcript_in_order(world)
    for life in world.lives:
        assert "Traceback" not in life.said
        assert " ERROR " not in life.said


def one_answer(world: World[Platform], wreck: Wreck, card: str) -> None:
    """The answer stands there once and whole, in one message or, where it is too long, in several."""
    platform = world.platform
    whole = platform.rendered(WHOLE)
    assert platform.violations == []
    assert all(answer_of(look.text) in whole for look in platform.looks)
    texts = {message.id: message.text for message in platform.standing}
    assert not any(platform.rendered(LAST) in texts[id_] for id_ in wreck.unknown)
    known = [message for message in platform.standing if message.id not in wreck.unknown]
    told = told_by(world, wreck)
    assert "".join("".join(text.split()) for text in told) == "".join(platform.rendered(f"{WHOLE}{card}").split())
    assert len(known) > 1 or told == [platform.rendered(f"{WHOLE}\n\n{card}")]
    assert tuple(words for message in known for words in message.bold) == BOLD
    assert not wreck.unknown or COPIED in known[-1].text, "it must say so"
    assert not any(message.buttons for message in known)
    assert all(texts[id_] == text for id_, text in wreck.sealed.items()), "a sealed message changed"
    ended_once([look for look in platform.looks if look.message == known[-1].id])


def told_by(world: World[Platform], wreck: Wreck) -> list[str]:
    """The texts of the messages that the bot knows of, without the note about one that it does not know of."""
    known = [message for message in world.platform.standing if message.id not in wreck.unknown]
    return [message.text.replace(COPIED, "").rstrip() for message in known]


def ended_once(looks: Sequence[Look]) -> None:
    """From the first look without buttons on, the message is never made anything else."""
    last = [look for look in looks if not look.buttons and INTERRUPTED not in look.text]
    assert looks[len(looks) - len(last) :] == last, "changed after its end"
    assert len(set(last)) <= 1, "changed after its end"


def answer_of(text: str) -> str:
    """What the model said in a message: what stands above cards, status and notes."""
    return _FOOT.split(text)[0]


def rows_in_order(world: World[Platform], verb: str) -> None:
    rows = world.rows
    asked = "u1" if world.on_web else world.platform.says
    assert rows("PRAGMA integrity_check") == [("ok",)]
    assert rows("SELECT platform_id, outcome FROM inbox WHERE kind = 'message'") == [(asked, "answered")]
    presses, decided = rows("SELECT count(*), count(finished_at) FROM inbox WHERE kind = 'press'")[0]
    assert 1 <= presses == decided
    assert rows("SELECT decision, decided_by FROM approvals") == [(verb, "Owner" if world.on_web else "Ann")]
    assert rows("SELECT * FROM drafts") == []
    assert rows("SELECT name, ended_at IS NOT NULL FROM calls ORDER BY started_at") == [
        ("calculate", 1),
        ("note_write", 1),
    ]
    assert rows("SELECT count(*) FROM parts WHERE ref IS NULL AND idx >= 0") == [(0,)]


async def transcript_in_order(world: World[Platform]) -> None:
    """One question, three steps, each call with one result, one end."""
    [(turn,)] = world.rows("SELECT DISTINCT turn FROM transcript")
    async with Store.open(world.data) as store:
        rows = await store.transcript.turn_rows(turn)
    assert [row.body.kind for row in rows] == ["user", "route", "step", "result", "step", "result", "step", "end"]
    calls = [call.id for row in rows if isinstance(row.body, StepRow) for call in calls_of(row.body)]
    assert calls == [row.body.call_id for row in rows if isinstance(row.body, ResultRow)]
    assert paired(turn_messages(rows))
