"""What each generation of Claude models accepts, from platform.claude.com (errors, thinking, what's new), Nov 2026."""

import re
from dataclasses import dataclass

NEWEST = (5, 5)
_NAME = re.compile(r"claude-(?P<family>[a-z]+)-(?P<major>\d)(?:-(?P<minor>\d)(?!\d))?")
_ALWAYS_THINKING = ("fable", "mythos")


@dataclass(frozen=True, slots=True)
class Claude:
    """A model by family and version; an unknown name counts as the newest, so that it meets the strictest rules."""

    family: str
    version: tuple[int, int]

    @property
    def allows_prefill(self) -> bool:
        return self.version < (4, 6)

    @property
    def takes_schemas(self) -> bool:
        return self.version >= (4, 5)

    @property
    def thinking_types(self) -> frozenset[str]:
        if self.version < (4, 6):
            return frozenset({"enabled", "disabled"})
        if self.version < (4, 7):
            return frozenset({"enabled", "adaptive", "disabled"})
        if self.family in _ALWAYS_THINKING or (self.family == "opus" and self.version >= (5, 5)):
            return frozenset({"adaptive"})
        return (
            frozenset({"adaptive", "between_tools"}) if self.version >= (5, 5) else frozenset({"adaptive", "disabled"})
        )

    @property
    def allows_forced_tools(self) -> bool:
        return self.version < (5, 1)

    @property
    def binds_thinking(self) -> bool:
        """Preserved thinking: a thinking block is valid only behind the exact prefix it was written under."""
        return self.version >= (5, 1)

    @property
    def omits_thinking_by_default(self) -> bool:
        return self.version >= (4, 7)

    @property
    def allows_system_messages(self) -> bool:
        """Messages of role system behind a user message; Sonnet learned them with 5.5 only."""
        return self.version >= ((5, 5) if self.family == "sonnet" else (4, 8))


def claude(model: str) -> Claude:
    found = _NAME.search(model)
    if found is None:
        return Claude("", NEWEST)
    return Claude(found["family"], (int(found["major"]), int(found["minor"] or 0)))
