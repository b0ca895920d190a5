"""``${NAME}`` and ``${NAME:-default}`` in a file that has already been parsed: values from the environment stay text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from bot.config.hints import did_you_mean
from bot.config.problems import Findings, Place

_REFERENCE: Final = re.compile(
    r"\$(?P<escaped>\$\{[^}]*\}?)|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}|\$\{"
)
_WRITE: Final = "write ${NAME} or ${NAME:-default}, or $${…} for the text itself"


@dataclass(slots=True)
class Expansion:
    """Expands every text of a tree. ``used`` collects the variables that the file named, with their values."""

    env: Mapping[str, str]
    findings: Findings
    used: dict[str, str] = field(default_factory=dict)

    def tree(self, value: Any, place: Place = ()) -> Any:
        """``value`` with every text in it expanded; keys stay as they are. Problems are noted, never raised."""
        if isinstance(value, dict):
            return {key: self.tree(item, (*place, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [self.tree(item, (*place, position)) for position, item in enumerate(value)]
        if isinstance(value, str) and "${" in value:
            return _REFERENCE.sub(lambda match: self._replacement(match, place), value)
        return value

    def _replacement(self, match: re.Match[str], place: Place) -> str:
        name, default = match["name"], match["default"]
        if match["escaped"]:
            return match["escaped"]
        if not name or "${" in (default or ""):
            self.findings.add(place, f"a ${{…}} cannot be read; {_WRITE}")
            return ""
        value = self.env.get(name)
        if value is not None:
            self.used[name] = value
        if default is not None:
            return value or default
        if value is None:
            hint = did_you_mean(name, self.env)
            self.findings.add(
                place, f"the environment variable {name} is not set{hint} (write ${{{name}:-}} if it may stay empty)"
            )
        return value or ""
