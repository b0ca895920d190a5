"""``${NAME}`` and ``${NAME:-default}`` in a file that has already been parsed: values from the environment stay text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from bot.config.problems import Findings, Path_, did_you_mean

_REFERENCE: Final = re.compile(r"\$\$\{|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<default>:-)?|\$\{")
_WRITE: Final = "write ${NAME} or ${NAME:-default}, or $${ for the two characters themselves"


class _Malformed(Exception):
    pass


@dataclass(slots=True)
class Expansion:
    """Expands every text of a tree. ``used`` collects the variables that the file named, with their values."""

    env: Mapping[str, str]
    findings: Findings
    used: dict[str, str] = field(default_factory=dict)

    def tree(self, value: Any, path: Path_ = ()) -> Any:
        """``value`` with every text in it expanded; keys stay as they are. Problems are noted, never raised."""
        if isinstance(value, dict):
            return {key: self.tree(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [self.tree(item, (*path, position)) for position, item in enumerate(value)]
        if isinstance(value, str) and "${" in value:
            return self._text(value, path)
        return value

    def _text(self, text: str, path: Path_) -> str:
        try:
            return self._until(text, 0, path, closing=False)[0]
        except _Malformed as error:
            self.findings.add(path, str(error))
            return ""

    def _until(self, text: str, start: int, path: Path_, *, closing: bool) -> tuple[str, int]:
        """Expand from ``start`` up to the end, or to the brace that closes a default. Returns text and position."""
        out: list[str] = []
        while start < len(text):
            if closing and text[start] == "}":
                return "".join(out), start + 1
            match = _REFERENCE.match(text, start)
            if match is None:
                out.append(text[start])
                start += 1
            elif match[0] == "$${":
                end = text.find("}", match.end())
                literal = text[start + 1 : end + 1] if end >= 0 else text[start + 1 :]
                out.append(literal)
                start += 1 + len(literal)
            else:
                value, start = self._reference(text, match, path)
                out.append(value)
        if closing:
            raise _Malformed("a ${…} is not closed; a } is missing")
        return "".join(out), start

    def _reference(self, text: str, match: re.Match[str], path: Path_) -> tuple[str, int]:
        name, end = match["name"], match.end()
        if not name:
            raise _Malformed(f"a ${{…}} holds no name of a variable; {_WRITE}")
        value = self.env.get(name)
        if match["default"]:
            default, end = self._default(text, end, path, wanted=not value)
            value = value or default
        elif end >= len(text):
            raise _Malformed("a ${…} is not closed; a } is missing")
        elif text[end] != "}":
            raise _Malformed(f"a ${{…}} holds more than the name of a variable; {_WRITE}")
        else:
            end += 1
        if value is None:
            hint = did_you_mean(name, self.env) if name not in self.env else ""
            self.findings.add(
                path, f"the environment variable {name} is not set{hint} (write ${{{name}:-}} if it may stay empty)"
            )
            return "", end
        if name in self.env:
            self.used[name] = self.env[name]
        return value, end

    def _default(self, text: str, start: int, path: Path_, *, wanted: bool) -> tuple[str, int]:
        """The default, expanded; one that is not wanted is only read past, so that its own variables need not be set."""
        if wanted:
            return self._until(text, start, path, closing=True)
        silent = Expansion(self.env, Findings(""))
        return silent._until(text, start, path, closing=True)
