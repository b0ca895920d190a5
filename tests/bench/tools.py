"""How often the tool that a message needs is among the ten hot ones, and what choosing them costs.

Over the MetaTool sample beside the project (2,000 messages, 199 tools), and the simple ways beside ours: words alone, vectors
alone, and the two added up. ``WORDS_SHARE`` and ``SURE`` of the ranking were settled by the even messages alone.
"""

from __future__ import annotations

import csv
import json
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bot.brain.toolbox.box import Toolbox
from bot.brain.toolbox.ranking import Ranking, spoken
from bot.core.tool import ToolContext, ToolResult, ToolSpec
from bot.memory.embedding import EmbeddedEmbedder
from bot.memory.nearness import VectorTable, WordIndex, mixed

DATA: Final = Path(__file__).parents[3] / "shared" / "data"
ROUND: Final = 100
TOOLS: Final = DATA / "metatool-tools.json"
MESSAGES: Final = DATA / "metatool-2000.csv"


class Listed:
    """Implements ``bot.core.ports.Tool``: it is there to be chosen."""

    def __init__(self, name: str, about: str) -> None:
        self.spec = ToolSpec(name, about, {"type": "object", "properties": {}})

    def check(self, args: Any) -> str:
        return ""

    async def run(self, args: Any, context: ToolContext) -> ToolResult:
        return ToolResult("done")


@dataclass
class Hits:
    """Whether the right tool was among the first five and ten, by message."""

    five: list[bool] = field(default_factory=list)
    ten: list[bool] = field(default_factory=list)

    def note(self, right: str, names: Sequence[str]) -> None:
        self.five.append(right in names[:5])
        self.ten.append(right in names[:10])

    def line(self, name: str) -> str:
        shares = (share(self.five), share(self.ten), share(self.ten[::2]), share(self.ten[1::2]))
        return f"| {name} | " + " | ".join(f"{value:.1f}" for value in shares) + " |"


def share(hits: Sequence[bool]) -> float:
    return 100 * sum(hits) / len(hits)


def samples() -> tuple[dict[str, str], list[tuple[str, str]]]:
    """What each tool says of itself by its name, and each message with the tool it needs."""
    tools: dict[str, str] = json.loads(TOOLS.read_text(encoding="utf-8"))
    with MESSAGES.open(encoding="utf-8", newline="") as file:
        said = [(row["Query"], row["Tool"]) for row in csv.DictReader(file)]
    return tools, [(text, tool) for text, tool in said if tool in tools]


def ordered(names: Sequence[str], scores: Iterable[float]) -> list[str]:
    return [name for _, name in sorted(zip(scores, names, strict=True), key=lambda pair: -pair[0])]


async def run() -> None:
    if not MESSAGES.exists():
        print("The MetaTool sample is not beside the project.")
        return
    tools, said = samples()
    names, embedder = list(tools), EmbeddedEmbedder()
    texts = [f"{spoken(name)}: {about}" for name, about in tools.items()]
    index, table = WordIndex(texts), VectorTable(await embedder.embed(texts))
    found = {
        name: Hits() for name in ("BM25 alone", "vectors alone", "0.7 vectors + 0.3 BM25", "ours", "ours, no vectors")
    }
    with tempfile.TemporaryDirectory() as folder:
        box = Toolbox([Listed(name, about) for name, about in tools.items()], embedder, Path(folder))
        await box.warm()
        ranking, plain = Ranking(tools, embedder, Path(folder)), Ranking(tools, None, None)
        await ranking.warm()
        spent = 0.0
        for start in range(0, len(said), ROUND):
            batch = said[start : start + ROUND]
            vectors = await embedder.embed([text for text, _ in batch])
            for (text, right), vector in zip(batch, vectors, strict=True):
                words, near = index.scores(text), table.near(vector)
                found["BM25 alone"].note(right, ordered(names, words))
                found["vectors alone"].note(right, ordered(names, near))
                found["0.7 vectors + 0.3 BM25"].note(right, ordered(names, mixed(near, words)))
                found["ours, no vectors"].note(right, (await plain.of(text)).names)
                began = time.process_time()
                hot = await box.hot(text, intent="", joined=(), used={}, allowed=())
                spent += time.process_time() - began
                found["ours"].five.append(right in (await ranking.of(text)).names[:5])
                found["ours"].ten.append(right in hot)
    await embedder.aclose()
    print(f"{len(said)} messages, {len(tools)} tools; % of messages whose tool is among the first five and ten.\n")
    print("| | 5 | 10 | 10, even | 10, odd |")
    print("|---|---|---|---|---|")
    for name, hits in found.items():
        print(hits.line(name))
    print(f"\nChoosing takes {1000 * spent / len(said):.2f} ms of CPU a message, beside its vector.")
