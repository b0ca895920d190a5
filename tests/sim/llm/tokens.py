"""How many tokens a prompt has here (an estimate that never changes), and how much of it a vendor would have cached."""

import hashlib
import itertools
import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

IMAGE_TOKENS = 1_500
BLOCK_TOKENS = 3
LOOKBACK_BLOCKS = 20  # Anthropic looks this far back from a breakpoint for an earlier entry
TTL_SECONDS = {"5m": 300.0, "1h": 3600.0}
OPENAI_FLOOR_TOKENS = 1024
OPENAI_STEP_TOKENS = 128
MARK = "cache_control"


def estimate_text(text: str) -> int:
    """A quarter of the UTF-8 length, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def estimate(value: Any) -> int:
    """Tokens of any JSON value: its strings, a little per object, a flat price per image; cache marks are free."""
    if isinstance(value, str):
        return estimate_text(value)
    if isinstance(value, Mapping):
        if value.get("type") in ("image", "image_url"):
            return IMAGE_TOKENS
        inner = (IMAGE_TOKENS * len(v) if k == "images" and v else estimate(v) for k, v in value.items() if k != MARK)
        return BLOCK_TOKENS + sum(inner)
    if isinstance(value, Sequence):
        return sum(estimate(item) for item in value)
    return 0 if value is None else 1


def without_marks(value: Any) -> Any:
    """The value as a vendor compares it: no cache marks, no nulls."""
    if isinstance(value, Mapping):
        return {k: without_marks(v) for k, v in value.items() if k != MARK and v is not None}
    if isinstance(value, list):
        return [without_marks(item) for item in value]
    return value


def canonical(value: Any) -> str:
    return json.dumps(without_marks(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """`total` is what the client sent; `fresh` of it is billed in full, the rest came from or went into a cache."""

    total: int
    cached: int = 0
    written_5m: int = 0
    written_1h: int = 0

    @property
    def written(self) -> int:
        return self.written_5m + self.written_1h

    @property
    def fresh(self) -> int:
        return self.total - self.cached - self.written


def as_blocks(content: Any) -> list[Any]:
    """A content as a list of blocks: a string is one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if isinstance(content, list) else []


def _marked(body: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Every block of an Anthropic prompt in cache order: tools, system, messages."""
    blocks: list[tuple[str, Any]] = [("tools", tool) for tool in body.get("tools") or []]
    blocks += [("system", block) for block in as_blocks(body.get("system"))]
    for message in body.get("messages") or []:
        blocks += [(str(message.get("role")), block) for block in as_blocks(message.get("content"))]
    return blocks


class BreakpointCache:
    """Anthropic's prompt cache: entries at cache_control marks, found again by the longest unchanged prefix."""

    def __init__(self) -> None:
        self._expiry: dict[tuple[str, str], float] = {}

    def measure(self, body: Mapping[str, Any], now: float, floor_tokens: int) -> PromptTokens:
        blocks, model = _marked(body), str(body.get("model"))
        digests, sizes = [], []
        running, total = hashlib.sha256(), 0
        for place, block in blocks:
            running.update(f"{place}\0{canonical(block)}\0".encode())
            total += estimate(block)
            digests.append(running.hexdigest())
            sizes.append(total)
        marks = {
            n: block[MARK] for n, (_, block) in enumerate(blocks) if isinstance(block, Mapping) and block.get(MARK)
        }
        if body.get(MARK) and blocks:
            marks.setdefault(len(blocks) - 1, body[MARK])
        usable = {n: mark for n, mark in marks.items() if sizes[n] >= floor_tokens}
        read = self._longest(model, digests, usable, now)
        cached = sizes[read] if read is not None else 0
        return self._write(model, digests, sizes, usable, now, cached, total)

    def _longest(self, model: str, digests: list[str], marks: Mapping[int, Any], now: float) -> int | None:
        for mark in sorted(marks, reverse=True):
            for place in range(mark, max(-1, mark - LOOKBACK_BLOCKS), -1):
                if self._expiry.get((model, digests[place]), 0.0) > now:
                    return place
        return None

    def _write(
        self,
        model: str,
        digests: list[str],
        sizes: list[int],
        marks: Mapping[int, Any],
        now: float,
        cached: int,
        total: int,
    ) -> PromptTokens:
        written, reached = {"5m": 0, "1h": 0}, cached
        for place in sorted(marks):
            ttl = str(marks[place].get("ttl", "5m"))
            written[ttl] += max(0, sizes[place] - reached)
            reached = max(reached, sizes[place])
            self._expiry[model, digests[place]] = now + TTL_SECONDS[ttl]
        return PromptTokens(total, cached, written["5m"], written["1h"])


def _shared(one: str, other: str) -> str:
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(letter for letter, _ in same)


class RecentPrompts:
    """OpenAI's automatic prompt cache: the longest prefix shared with a recent prompt, in steps of 128 tokens."""

    def __init__(self) -> None:
        self._recent: deque[tuple[str, str]] = deque(maxlen=64)

    def measure(self, body: Mapping[str, Any]) -> PromptTokens:
        parts = [body.get("tools") or [], *(body.get("messages") or [])]
        prompt, model = "\n".join(canonical(part) for part in parts), str(body.get("model"))
        shared = (_shared(prompt, old) for seen, old in self._recent if seen == model)
        longest = max((estimate_text(prefix) for prefix in shared), default=0)
        self._recent.append((model, prompt))
        total = sum(estimate(part) for part in parts)
        cached = min(longest, total) // OPENAI_STEP_TOKENS * OPENAI_STEP_TOKENS
        return PromptTokens(total, cached if cached >= OPENAI_FLOOR_TOKENS else 0)
