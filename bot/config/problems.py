"""What is wrong with a configuration, in sentences for the person who wrote it: all of it, not the first find alone."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.core.errors import ConfigError

Path_ = tuple[str | int, ...]
"""Where a value stands: keys and list positions from the top of the file."""

_NUMBERS = "must be a number"
_WHOLE = "must be a whole number"
_SECTION = "must be a section of its own: lines of `key: value` below it"
_SENTENCES: Mapping[str, str] = {
    "missing": "is missing here and has no default",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "int_parsing": _WHOLE,
    "int_type": _WHOLE,
    "int_from_float": _WHOLE,
    "int_parsing_size": "is too large a number",
    "float_parsing": _NUMBERS,
    "float_type": _NUMBERS,
    "finite_number": "must be a finite number",
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be {ge:g} or more",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be {le:g} or less",
    "string_type": "must be a text; put it in quotes",
    "string_too_short": "must not be empty",
    "string_too_long": "is longer than {max_length} characters",
    "path_type": "must be a path, written as text",
    "model_type": _SECTION,
    "model_attributes_type": _SECTION,
    "dict_type": _SECTION,
    "mapping_type": _SECTION,
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "too_short": "needs at least {min_length} entries",
    "too_long": "takes at most {max_length} entries",
    "extra_forbidden": "unknown key",
}


def dotted(path: Path_) -> str:
    """``("rules", 0, "match")`` as a person would write it: ``rules[0].match``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that ``word`` was most likely meant to be; case, hyphens and underscores do not count."""
    spelled = {plain(candidate): candidate for candidate in known}
    close = difflib.get_close_matches(plain(word), spelled, n=1, cutoff=0.6)
    return spelled[close[0]] if close else None


def plain(word: str) -> str:
    """``word`` without what people mix up: case, hyphens, underscores."""
    return word.lower().replace("-", "").replace("_", "")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean "streaming"?``, or nothing when no known word is close."""
    close = nearest(word, known)
    return f'; did you mean "{close}"?' if close else ""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. ``key`` is the dotted path ("" when the file cannot be read that far)."""

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


@dataclass(slots=True)
class Findings:
    """Collects problems while a file is read. ``lines`` tells the line of every path of that file."""

    file: str
    lines: Mapping[Path_, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def add(self, path: Path_, sentence: str) -> None:
        """Note a problem at ``path``; a path that is not in the file gets the line of its nearest parent."""
        self.problems.append(Problem(sentence, self.file, self.line_of(path), dotted(path)))

    def add_at(self, line: int, sentence: str, path: Path_ = ()) -> None:
        """Note a problem on a line of its own, for what has no place in ``lines``."""
        self.problems.append(Problem(sentence, self.file, line, dotted(path)))

    def line_of(self, path: Path_) -> int | None:
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)

    def add_validation(self, root: Path_, errors: Iterable[Mapping[str, Any]]) -> None:
        """Note what pydantic found below ``root``. Values are never quoted: one of them may be a secret."""
        for error in errors:
            path = root + tuple(step for step in error["loc"])
            self.add(path, _sentence(error))

    def raise_if_any(self) -> None:
        """Raise ``ConfigProblems`` with everything found so far, in the order of the file, one for each place."""
        if self.problems:
            firsts: dict[tuple[int | None, str], Problem] = {}
            for problem in self.problems:
                firsts.setdefault((problem.line, problem.key), problem)
            raise ConfigProblems(sorted(firsts.values(), key=lambda problem: problem.line or 0))


def _sentence(error: Mapping[str, Any]) -> str:
    context = error.get("ctx", {})
    if error["type"] == "value_error":
        return str(context["error"])
    if error["type"] == "literal_error":
        return one_of(context["expected"].replace("'", "").replace(" or ", ", ").split(", "))
    template = _SENTENCES.get(error["type"])
    return template.format(**context) if template else "is not valid here"


def one_of(words: Sequence[str]) -> str:
    return f"must be one of: {', '.join(words)}" if len(words) > 1 else f"must be {words[0]}"


def every_problem(error: ConfigError) -> list[str]:
    """The lines to print for ``error``: one for each problem."""
    if isinstance(error, ConfigProblems):
        return [str(problem) for problem in error.problems]
    return [str(error)]
