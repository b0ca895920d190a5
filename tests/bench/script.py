"""What the model says in the Telegram bench: one answer per question, the same for every bot.

An answer is about 200 tokens of plain sentences. *Paced* it comes in 60 pieces within 2 s, 100 tokens a second, as fast
hosted models write. Otherwise it is two pieces, a first sentence at once and the rest after a pause: what is measured is
how soon the bot shows the first, and not the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

MODEL = "bench"
PIECES = 60
MODEL_SECONDS = 2.0
FIRST_CHARS = 50
PAUSE_SECONDS = 0.3
WORDS = (
    "The harbour wakes before the town does. Boats come in one after another with lamps still lit, and the men on the"
    " quay count the boxes aloud. Nobody hurries, since the tide sets the pace and the tide is in no hurry today. A"
    " boy carries ropes from one end to the other and back again.\n\nBy seven the market is open. The first customers"
    " are cooks who know what they want and never ask for the price. Later come families, then people who only want"
    " to look. A cat sits on the scales until somebody weighs a fish and finds it too heavy.\n\nAt noon the quay is"
    " washed and empty. Nets hang in the sun and gulls argue over what is left. Somewhere a radio tells of rain for"
    " the evening, which will bring the boats home early, and the whole thing begins again in the dark."
)


def question(number: int) -> str:
    return f"Please tell me story <{number}>, as you did for the others."


def answer_text(number: int) -> str:
    """What a person must read in the end, exactly."""
    return f"Story <{number}>. {WORDS}"


def begins(shown: str, number: int) -> bool:
    """Whether these are words of the answer, be they few."""
    return bool(shown) and answer_text(number).startswith(shown.removesuffix("…").rstrip())


def pieces_of(text: str) -> list[str]:
    """``PIECES`` pieces of about one length; the first and the last hold no white space at the answer's edges."""
    cuts = [round(n * len(text) / PIECES) for n in range(PIECES + 1)]
    return [text[start:end] for start, end in pairwise(cuts)]


def script(numbers: Sequence[int], *, paced: bool) -> list[dict[str, Any]]:
    """Answers for these questions, for the control API of tests.sim.llm."""
    return [{"when": {"user": f"<{number}>"}, "steps": _steps(answer_text(number), paced)} for number in numbers]


def _steps(text: str, paced: bool) -> list[dict[str, Any]]:
    if not paced:
        first, rest = text[:FIRST_CHARS], text[FIRST_CHARS:]
        return [{"do": "text", "text": first}, {"do": "sleep", "seconds": PAUSE_SECONDS}, {"do": "text", "text": rest}]
    pause = {"do": "sleep", "seconds": MODEL_SECONDS / PIECES}
    return [step for piece in pieces_of(text) for step in ({"do": "text", "text": piece}, pause)]


def settings() -> dict[str, Any]:
    """A model without the simulated prompt cache, whose bookkeeping costs more than the answer."""
    return {"ollama_models": [MODEL], "ollama_num_ctx": 128_000, "default": "echo"}
