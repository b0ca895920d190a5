"""What a death left behind, and what nobody can know any more: read off the disk before the next start."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.crash.platform import Platform
from tests.crash.world import World


@dataclass
class Wreck:
    """``unknown`` are messages that the platform has and whose ids died with the process, for good where it would not
    recognise what is sent again. ``sealed`` are the texts of the messages that must not change any more. ``interrupted``:
    the tool that must not run twice was let loose and has no result; ``notes`` is then how many lines it had written."""

    unknown: set[str] = field(default_factory=set)
    sealed: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False
    notes: int = 1

    def look_at(self, world: World[Platform]) -> None:
        """After each death. What was confirmed is stored; one message can be unknown, and only if it was written down
        that it would be sent."""
        stored = set(world.rows("SELECT kind, platform_id FROM inbox"))
        assert stored >= world.platform.heard, "confirmed before it was stored"
        parts = world.rows("SELECT ref, end IS NOT NULL FROM parts WHERE idx >= 0")
        standing = {message.id: message.text for message in world.platform.standing}
        unknown = standing.keys() - {ref for ref, _ in parts} - self.unknown
        assert len(unknown) <= sum(ref is None for ref, _ in parts) <= 1, "sent before the intent was written"
        if not world.platform.idempotent:
            self.unknown |= unknown
        self.sealed |= {ref: standing[ref] for ref, is_sealed in parts if is_sealed}
        if world.rows("SELECT 1 FROM calls WHERE name = 'note_write' AND ended_at IS NULL"):
            self.interrupted, self.notes = True, len(world.notes())
