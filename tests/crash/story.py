"""The turn that dies: what the person asks, what the model says at each step, and the one answer that is right."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from bot.brain.prompt import CONTINUE
from bot.core.texts import say
from tests.sim.llm import When, answer, call, call_close, call_more, call_open, gate, sleep, text
from tests.sim.llm.script import Answer
from tests.sim.llm.steps import Step

MODEL: Final = "gpt-4.1-mini"
PROMPT: Final = "How much is 17*23? Note it down, then tell me about the number."
NOTE: Final = "17*23 = 391"
FIRST: Final = "Let me work that out first, before anything else."
SECOND: Final = "I would like to keep that in your notes."
PIECES: Final = (
    "The product of seventeen and twenty-three is **three hundred and ninety-one**. ",
    "Both factors are prime 🐦, so it has exactly four divisors and no others. ",
    "It lies between three hundred and sixty-one, which is nineteen squared, ",
    "and four hundred, which is twenty squared, so its root is near 19.77. ",
    "Written in binary it is `110000111`, which reads the same from both ends, ",
    "so in that base it is a palindrome, although it is none in base ten. ",
    "Its digits add up to thirteen, which is a prime number as well (十三是质数).\n\n",
    "As a year it saw a quiet spring; as a number it is called *semiprime*.\n\n```python\nprint(17 * 23)\n```\n\n",
    "I have added the result to your notes, so that you will find it later.",
)
LAST: Final = "".join(PIECES)
WHOLE: Final = f"{FIRST}\n\n{SECOND}\n\n{LAST}"
"""The visible text of the turn: its three steps, joined as the Brain joins them."""
CARDS: Final = {
    "once": "**note\\_write** · Approved once. (Ann)",
    "chat": "**note\\_write** · Approved for this chat. (Ann)",
}
"""What a channel without cards of its own shows of the decided approval, as Markdown."""
BOLD: Final = ("three hundred and ninety-one", "note_write")
"""What stands out in the whole answer."""
PIECE_SECONDS: Final = 0.05
GATES: Final = ("asked", "arguments", "first", "half", "end")
"""Before the first token, within a call's arguments, after the first token of the answer, in its middle, before its end."""
INTERRUPTED: Final = say("restarting")


def _spoken(pieces: Sequence[str], seconds: float = PIECE_SECONDS) -> list[Step]:
    return [step for piece in pieces for step in (text(piece), sleep(seconds))]


def script(
    *gates: str, pieces: Sequence[str] = PIECES, noted: str = NOTE, seconds: float = PIECE_SECONDS
) -> list[Answer]:
    """Answers by what the model has been told, so that a turn that is resumed anywhere meets the right one.

    ``gates`` of ``GATES`` stop the model there until they are released; ``pieces`` are its last answer, with
    ``seconds`` between them, ``noted`` what it wants to keep.
    """

    def stop_at(name: str) -> list[Step]:
        return [gate(name)] if name in gates else []

    half, note = len(pieces) // 2, json.dumps({"text": noted})
    return [
        answer(
            *stop_at("asked"),
            text(FIRST),
            call("c_sum", "calculate", ['{"expression": ', '"17*23"}']),
            when=When(turn=1, step=1),
        ),
        answer(
            text(SECOND),
            call_open("c_note", "note_write", note[:9]),
            *stop_at("arguments"),
            call_more("c_note", note[9:]),
            call_close("c_note"),
            when=When(turn=1, step=2),
        ),
        answer(
            text(pieces[0]),
            *stop_at("first"),
            *_spoken(pieces[1:half], seconds),
            *stop_at("half"),
            *_spoken(pieces[half:], seconds),
            *stop_at("end"),
            when=When(turn=1, step=3),
        ),
    ]


def continued(rest: str) -> Answer:
    """What a model says that is shown its own cut-off answer and asked to go on."""
    cut = [rest[at : at + 70] for at in range(0, len(rest), 70)]
    return answer(*_spoken(cut), when=When(user=CONTINUE))


def posted(answers: Sequence[Answer]) -> dict[str, Any]:
    """For ``POST /_sim/script``; every answer may be asked for any number of times."""
    return {"answers": [{**one.to_json(), "repeat": True} for one in answers]}
