"""Which thinking blocks the simulator signed, and what stood before each: the server side of Anthropic's signatures."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.sim.llm.faults import Refusal
from tests.sim.llm.tokens import as_blocks, canonical, without_marks

BINDING_BETA = "thinking-binding-controls-2026-08-01"
KINDS = ("thinking", "redacted_thinking")


def is_thinking(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") in KINDS


def signed(text: str) -> str:
    """The signature the simulator gives a text: stable, so that runs and processes agree."""
    return base64.b64encode(hashlib.sha256(f"signed:{text}".encode()).digest() * 3).decode()


def seal(block: Mapping[str, Any]) -> str:
    """What identifies a thinking block: its signature, or the data of a redacted one."""
    return str(block.get("signature") or block.get("data") or "")


def _plain(block: Any) -> str:
    kept = {k: v for k, v in block.items() if k != "caller"} if isinstance(block, Mapping) else block
    return canonical(kept)


class Prefix:
    """What stands before a point of a conversation: system, tools, every block, and the thinking among them."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.parts = {"system": canonical(as_blocks(body.get("system"))), "tools": canonical(body.get("tools") or [])}
        self.blocks: list[str] = []
        self.seals: list[str] = []

    def add(self, role: str, block: Any) -> None:
        if is_thinking(block):
            self.seals.append(seal(block))
        else:
            self.blocks.append(f"{role}\0{_plain(block)}")

    def difference(self, other: "Prefix") -> str | None:
        """Which part differs from an earlier prefix: system, tools, messages or thinking; None when none does."""
        for name, value in self.parts.items():
            if other.parts[name] != value:
                return name
        if self.blocks != other.blocks:
            return "messages"
        kept = len(self.seals)
        return None if self.seals == other.seals[len(other.seals) - kept :] and kept <= len(other.seals) else "thinking"

    def copy(self) -> "Prefix":
        twin = Prefix({})
        twin.parts, twin.blocks, twin.seals = self.parts, list(self.blocks), list(self.seals)
        return twin


def prefix_of(body: Mapping[str, Any]) -> Prefix:
    """The whole conversation of a request as the prefix of what is answered to it."""
    prefix = Prefix(body)
    for message in body.get("messages") or []:
        for block in as_blocks(message.get("content")):
            prefix.add(str(message.get("role")), block)
    return prefix


@dataclass(frozen=True, slots=True)
class Sent:
    block: Mapping[str, Any]
    model: str
    prefix: Prefix


class ThinkingMemory:
    """Every thinking block sent, by signature, and the tool calls that followed thinking in the same answer."""

    def __init__(self) -> None:
        self._sent: dict[str, list[Sent]] = {}
        self._calls: set[str] = set()

    def note(self, block: Mapping[str, Any], model: str, prefix: Prefix) -> None:
        self._sent.setdefault(seal(block), []).append(Sent(without_marks(block), model, prefix.copy()))

    def note_call(self, call_id: str) -> None:
        """A tool call that came after thinking."""
        self._calls.add(call_id)

    def thought_before(self, call_id: object) -> bool:
        return call_id in self._calls

    def complaints(self, body: Mapping[str, Any], binds: bool) -> Iterator[Refusal]:
        """What is wrong with the thinking blocks a request replays. `binds`: the prefix must be unchanged too."""
        prefix, messages = Prefix(body), body["messages"]
        latest = max((n for n, m in enumerate(messages) if m["role"] == "assistant"), default=-1)
        for n, message in enumerate(messages):
            for k, block in enumerate(as_blocks(message["content"])):
                if is_thinking(block):
                    where = f"messages.{n}.content.{k}"
                    yield from self._block_complaints(block, where, n == latest)
                    if binds:
                        yield from self._binding_complaints(block, str(body["model"]), prefix, where)
                prefix.add(message["role"], block)

    def _block_complaints(self, block: Mapping[str, Any], where: str, latest: bool) -> Iterator[Refusal]:
        name = "signature" if block["type"] == "thinking" else "data"
        if not seal(block):
            yield Refusal(f"{where}.{block['type']}.{name}: Field required")
        originals = self._sent.get(seal(block), [])
        if originals and all(sent.block != without_marks(block) for sent in originals) and latest:
            yield Refusal(
                f"{where}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."
                " These blocks must remain as they were in the original response."
            )
        if all(sent.block != without_marks(block) for sent in originals):
            yield Refusal(f"{where}: Invalid `{name}` in `{block['type']}` block")

    def _binding_complaints(self, block: Mapping[str, Any], model: str, now: Prefix, where: str) -> Iterator[Refusal]:
        own = [sent for sent in self._sent[seal(block)] if sent.model == model]
        found = [now.difference(sent.prefix) for sent in own]
        if own and None not in found:
            yield Refusal(
                f"{where}: Invalid `signature` in `thinking` block. The block is bound to a different conversation."
                ' Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". That'
                f" setting requires the `{BINDING_BETA}` value in the `anthropic-beta` header. The"
                f" `{found[-1]}` differs from the one this block was created with."
            )
