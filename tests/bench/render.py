"""What one edit of a growing answer costs on Telegram: which parts are wanted, and the open one as text and entities.

Over every step of twenty characters of real answers (tests/answers.py), or of one made-up answer without them. The floor
is what any renderer has to do that begins anew: parse the open page's Markdown.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from markdown_it import MarkdownIt

from bot.core.view import Limits, Phase, View
from bot.outbox.parts import Look, wanted_parts
from channels.telegram.entities import Renderer
from tests.answers import real_answers
from tests.channels.web.test_render import ANSWER

STEP = 20
LIMITS = Limits(size=4096, unit="utf16", pace=1.0)
LONG_CHARS = 20_000


@dataclass
class Costs:
    """CPU seconds of each edit."""

    edits: list[float] = field(default_factory=list)
    floor: list[float] = field(default_factory=list)
    parts: int = 0

    @property
    def means(self) -> tuple[float, float]:
        """Of the edits and of the floor."""
        return sum(self.edits) / len(self.edits), sum(self.floor) / len(self.floor)

    def line(self, name: str) -> str:
        times = sorted(self.edits)
        mean, floor = self.means
        return (
            f"| {name} | {len(times)} | {self.parts} | {1000 * mean:.2f} | {1000 * times[len(times) * 99 // 100]:.2f} |"
            f" {1000 * times[-1]:.1f} | {1000 * floor:.2f} | {mean / floor:.2f} |"
        )


async def run() -> None:
    texts = real_answers() or [ANSWER * 6]
    long = "\n\n".join(texts * (LONG_CHARS // sum(map(len, texts)) + 1))[:LONG_CHARS]
    print("| text | edits | parts | mean ms | p99 ms | worst ms | floor ms | times the floor |")
    print("|---|---|---|---|---|---|---|---|")
    print(measured(texts).line(f"{len(texts)} answers"))
    print(measured([long]).line(f"one of {len(long)} characters"))


def measured(texts: list[str]) -> Costs:
    costs, parser = Costs(), MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for text in texts:
        renderer, sealed = Renderer(), list[int]()
        for number, end in enumerate((*range(STEP, len(text), STEP), len(text))):
            began = time.thread_time()
            page = edit(text[:end], renderer, sealed)
            costs.edits.append(time.thread_time() - began)
            if number % 10 == 0:
                began = time.thread_time()
                parser.parse(page)
                costs.floor.append(time.thread_time() - began)
        costs.parts += len(sealed) + 1
    return costs


def edit(text: str, renderer: Renderer, sealed: list[int]) -> str:
    """The Markdown of the open part, as the publisher would show it; parts that are outgrown are sealed first."""
    look = Look(LIMITS, renderer.render, "en", now=0.0)
    view = View("bench", text=text, phase=Phase.WRITING)
    while (wanted := wanted_parts(view, sealed, look)) and wanted[0].end is not None:
        sealed.append(wanted[0].end)
    return wanted[-1].part.markdown if wanted else ""
