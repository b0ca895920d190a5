"""What is wrong with a configuration, in sentences for the person who wrote it: all of it, not the first find alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bot.config.redact import Redactor
from bot.config.traps import AS_TEXT, Disputed
from bot.core.errors import ConfigError

Place = tuple[str | int, ...]
"""Where a value stands: keys and list positions from the top of the file."""

_QUOTED_CHARS: Final = 60
_CLEAN: Final = Redactor().clean


def dotted(place: Place) -> str:
    """``("rules", 0, "match")`` as a person would write it: ``rules[0].match``."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. ``key`` is the dotted place ("" when the file cannot be read that far)."""

    sentence: str
    file: str = ""
    line: int | None = None
    key: str = ""

    def __str__(self) -> str:
        return str(ConfigError(self.sentence, file=self.file, line=self.line, key=self.key))


class ConfigProblems(ConfigError):
    """Reads as the first problem; ``problems`` has all of them, in the order of the file."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        first = problems[0]
        super().__init__(first.sentence, file=first.file, line=first.line, key=first.key)
        self.problems = tuple(problems)


def every_problem(error: ConfigError) -> list[str]:
    """The lines to print for ``error``: one for each problem."""
    if isinstance(error, ConfigProblems):
        return [str(problem) for problem in error.problems]
    return [str(error)]


@dataclass(slots=True)
class Findings:
    """Collects problems while a file is read.

    ``lines`` tells the line of every place in the file, ``written`` is the tree as the person wrote it, before any
    variable was put in: only from there are values quoted. ``doubts`` are told where nothing worse is.
    """

    file: str
    lines: Mapping[Place, int] = field(default_factory=dict)
    written: Any = None
    problems: list[Problem] = field(default_factory=list)
    doubts: list[Problem] = field(default_factory=list)

    def add(self, place: Place, sentence: str) -> None:
        """Note a problem; a place that is not in the file gets the line of its nearest parent."""
        self.add_at(self._line_of(place), sentence, place)

    def add_at(self, line: int | None, sentence: str, place: Place = ()) -> None:
        """Note a problem on a line of its own."""
        self.problems.append(Problem(sentence, self.file, line, dotted(place)))

    def add_value(self, place: Place, sentence: str, hint: str = "") -> None:
        """Note a problem with a value that is no secret, quote what was written, and name the trap in it."""
        quoted, written = self._quoted(place), self._written(place)
        trap = f"; {written.said}" if isinstance(written, Disputed) else ""
        self.add(place, f'{sentence} (not "{quoted}"){hint}{trap}' if quoted else sentence + hint + trap)

    def doubt(self, place: Place, text: Disputed) -> None:
        """Note that a text needs quotes, unless there is more to say about it."""
        self.doubts.append(Problem(AS_TEXT.format(trap=text.said), self.file, self._line_of(place), dotted(place)))

    def _line_of(self, place: Place) -> int | None:
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place)

    def _written(self, place: Place) -> Any:
        """What stands at ``place``; None when nothing does."""
        value = self.written
        for step in place:
            inside = (isinstance(value, dict) and step in value) or (
                isinstance(value, list) and step in range(len(value))
            )
            if not inside:
                return None
            value = value[step]
        return value

    def _quoted(self, place: Place) -> str:
        """What stands at ``place``, "" for a section, a list or a long text; what looks like a secret is masked."""
        value = self._written(place)
        text = str(value).lower() if isinstance(value, bool) else value
        return _CLEAN(text) if isinstance(text, str) and len(text) <= _QUOTED_CHARS and text.isprintable() else ""

    def raise_if_any(self) -> None:
        """Raise ``ConfigProblems`` with everything found so far, in the order of the file, one for each place."""
        if self.problems or self.doubts:
            firsts: dict[tuple[str, int | None, str], Problem] = {}
            for problem in (*self.problems, *self.doubts):
                firsts.setdefault((problem.file, problem.line, problem.key), problem)
            order = sorted(firsts.values(), key=lambda problem: (problem.file == self.file, problem.line or 0))
            raise ConfigProblems(order)
