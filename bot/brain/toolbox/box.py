"""The tools that there are, and which of them the prompts of a conversation have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from bot.brain.toolbox.finder import NAME as FINDER
from bot.brain.toolbox.finder import FindTools
from bot.brain.toolbox.joined import MOST_JOINED, with_new
from bot.brain.toolbox.ranking import Ranking
from bot.brain.toolbox.shown import MOST_TOKENS, shown, spec_tokens
from bot.core.ports import Embedder, Tool
from bot.core.tool import ToolSpec

FEW: Final = 12
"""So many are given to every prompt, and nothing is chosen."""
ALWAYS: Final = ("now", "calculate", "note_write", "read_more")
"""Of more than that, those that every prompt has all the same, where they are there: they serve any subject."""
INTENT_TOOLS: Final[Mapping[str, tuple[str, ...]]] = {
    "web_search": ("web_*",),
    "recall": ("memory_*",),
    "personal_info": ("memory_*",),
    "local_data": ("file_*", "files_*", "note_*", "knowledge_*"),
    "long_document": ("web_fetch", "file_read", "files_read", "knowledge_*"),
    "reminder": ("remind*", "schedule_*"),
    "code": ("shell*", "file_*", "files_*"),
    "plan": ("remind*", "schedule_*", "web_search"),
}
"""What serves a message of an intent, by patterns of names; intents that no tool serves are left out."""
MOST_ALLOWED: Final = 5
"""Of the tools that active skills name: a pattern may fit any number."""
MOST_INTENDED: Final = 3
MOST_RECENT: Final = 3
"""Of those that were called without having been in the prompt."""
BATCH: Final = 5
"""So many come at once with a message that wants one that is not there; the first that wants any brings all there is room
for."""
TOKENS: Final = 5_000
LEAST_TOKENS: Final = 1_000
"""What all definitions together may have (DESIGN.md), the lower figure in a small window."""
SHARE: Final = 4
"""Of the window a quarter, where that is between the two."""


class Toolbox:
    """``tools`` in the order in which prompts have them. ``embedder`` None: they are chosen by words alone. The vectors of
    what they say of themselves are kept below ``data_dir``, if there is one.

    With few tools every prompt has all of them. With more, it has ``ALWAYS``, ``find_tools`` and what joined the
    conversation. What joined stays, because vendors' caches begin with the list of tools: any change of it is paid for
    with the whole prompt. So tools come in batches, when a turn begins, and only if it wants one that is not there.
    """

    def __init__(self, tools: Iterable[Tool], embedder: Embedder | None = None, data_dir: Path | None = None) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.spec.name in self._tools or tool.spec.name == FINDER:
                raise ValueError(f"two tools are named {tool.spec.name!r}")
            self._tools[tool.spec.name] = tool
        self._shown = {name: shown(tool.spec) for name, tool in self._tools.items()}
        self._always: tuple[str, ...] = tuple(self._tools)
        self._ranking: Ranking | None = None
        if len(self._tools) > FEW:
            finder = FindTools(self.find)
            self._tools[FINDER], self._shown[FINDER] = finder, finder.spec
            self._always = (FINDER, *(name for name in ALWAYS if name in self._tools))
            others = {name: spec.description for name, spec in self._shown.items() if name not in self._always}
            self._ranking = Ranking(others, embedder, data_dir)

    @property
    def tools(self) -> Mapping[str, Tool]:
        """All that can be called, by name."""
        return self._tools

    @property
    def way_out(self) -> str:
        """What a model may do that asked for a tool that is not there."""
        return "Answer without it." if self._ranking is None else f"Look for one with {FINDER}, or answer without it."

    async def warm(self) -> None:
        """Reckon the vectors, or read them: the first message need not do without."""
        if self._ranking is not None:
            await self._ranking.warm()

    async def hot(
        self,
        text: str,
        *,
        intent: str,
        joined: Sequence[str],
        used: Mapping[str, int],
        allowed: Sequence[str],
        only: Collection[str] | None = None,
        anew: bool = False,
    ) -> tuple[str, ...]:
        """What has joined the conversation once ``text`` was said: ``joined``, and what it wants beside.

        ``used`` are the tools that were called in it, each with when; ``allowed`` the patterns of its skills; ``only``
        bounds what may join. ``anew``: no cache has the beginning of the prompt, so that a change of it costs nothing.
        """
        if self._ranking is None:
            return ()
        open_ = [name for name in self._ranking.names if only is None or name in only]
        ranked = await self._ranking.of(text)
        near = [name for name in ranked.names if name in open_] if ranked.near else []
        kept = [name for name in joined if name in open_ and (name in used or not (anew and near))]
        named = self._named(open_, intent, kept, used, allowed)
        is_first = all(name in named or name in used for name in kept)
        wanted = named
        if near and (is_first or (ranked.sure and near[0] not in kept)):
            staying = {*named, *(name for name in kept if name in used)}
            room = min(MOST_JOINED - len(staying), MOST_JOINED if is_first else BATCH)
            wanted = [*named, *[name for name in near if name not in staying][: max(0, room)]]
        return with_new(kept, wanted, used) if any(name not in kept for name in wanted) else tuple(kept)

    async def find(self, query: str, most: int) -> Sequence[ToolSpec]:
        """The nearest to some words, whatever is hot."""
        if self._ranking is None:
            return ()
        ranked = await self._ranking.of(query)
        return [self._tools[name].spec for name in ranked.names[:most]]

    def at_hand(self, joined: Sequence[str]) -> tuple[str, ...]:
        """The names of those that the prompt has, in its order: those that are always there first, then as they came."""
        behind = (name for name in joined if name in self._tools and name not in self._always)
        return (*self._always, *behind)

    def specs(self, joined: Sequence[str], window_tokens: int) -> tuple[ToolSpec, ...]:
        """What the prompt for a model of that window has: where its share is small, less of each; where that is not enough,
        those that came last."""
        always = [self._shown[name] for name in self._always]
        if self._ranking is None:
            return tuple(always)
        left = max(LEAST_TOKENS, min(TOKENS, window_tokens // SHARE)) - sum(map(spec_tokens, always))
        each = min(MOST_TOKENS, left // MOST_JOINED)
        kept: list[ToolSpec] = []
        for name in reversed(self.at_hand(joined)[len(always) :]):
            spec = shown(self._shown[name], each)
            left -= spec_tokens(spec)
            if left < 0:
                break
            kept.insert(0, spec)
        return (*always, *kept)

    def lasting(self, count: int) -> int | None:
        """Of a prompt's ``count`` tools, how many from the first stay when a batch comes; None for all."""
        leaving = count - len(self._always) + BATCH - MOST_JOINED
        return count - leaving if self._ranking is not None and leaving > 0 else None

    def introduction(self, name: str) -> str:
        """What a model has to know that called a tool it had not seen."""
        spec = self._shown[name]
        return (
            f"{name}: {spec.description}\nIts arguments: {dict(spec.parameters)!r}\nIt is among your tools from now on."
        )

    @staticmethod
    def _named(
        open_: Sequence[str], intent: str, kept: Sequence[str], used: Mapping[str, int], allowed: Sequence[str]
    ) -> list[str]:
        """Those that something else than the words calls for: the skills, what was called, the intent."""
        skilled = _matching(open_, allowed)[:MOST_ALLOWED]
        recent = [name for name in used if name in open_ and name not in kept][-MOST_RECENT:]
        intended = _matching(open_, INTENT_TOOLS.get(intent, ()))[:MOST_INTENDED]
        return list(dict.fromkeys((*skilled, *recent, *intended)))[:MOST_JOINED]


def _matching(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    return [name for pattern in patterns for name in names if fnmatchcase(name, pattern)]
