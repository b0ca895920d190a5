"""Makes parsed YAML fit a pydantic model: unknown keys, empty values, ``off``, secrets from files. The model's fields
decide what a text means, so that nothing is guessed from its looks alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError

from bot.config.anchor import anchored
from bot.config.hints import Places, did_you_mean, one_of
from bot.config.problems import Findings, Place
from bot.config.secret_file import read_secret
from bot.config.section import OFF_WORDS, is_off
from bot.config.shape import add_complaints, core, fields_of, is_mapping, is_section
from bot.config.traps import Disputed, trap_in

M = TypeVar("M", bound=BaseModel)
_CURLY: Final = "“”‘’„«»「」"
_BARE_VARIABLE: Final = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Fitting:
    """Fits values of one file. Relative paths start at ``base``; ``home`` stands for ``~``."""

    findings: Findings
    places: Places
    base: Path
    home: Path

    def model(self, cls: type[M], value: Any, place: Place) -> M | None:
        """``value`` as ``cls``; None when that failed, with the reasons in ``findings``."""
        fitted = self._section(cls, value, place) if isinstance(value, dict) else value
        try:
            return cls.model_validate(fitted)
        except ValidationError as error:
            add_complaints(self.findings, place, cls, error.errors(include_url=False, include_input=False))
            return None

    def _section(self, cls: type[BaseModel], value: Mapping[str, Any], place: Place) -> dict[str, Any]:
        """The fields of ``value`` as ``cls`` takes them. A key without a value counts as not written, except where
        None is a value of its own; ``off`` is None there, too."""
        types = {key: core(field.annotation) for key, field in fields_of(cls).items()}
        fitted: dict[str, Any] = {}
        for key, item in value.items():
            here, stem = (*place, key), key.removesuffix("_file")
            if key in types:
                expected, optional = types[key]
                absent = item is None and not optional
                if absent or (item == "" and f"{key}_file" in value):
                    continue
                fitted[key] = None if optional and is_off(item) else self._value(expected, item, here)
            elif stem != key and stem in types and types[stem][0] is SecretStr:
                self._secret_file(value, key, item, place, fitted)
            else:
                known = [*types, *(f"{name}_file" for name, kind in types.items() if kind[0] is SecretStr)]
                self.findings.add(here, self.places.unknown(place, key, known))
        return fitted

    def _value(self, expected: Any, item: Any, place: Place) -> Any:
        if is_section(expected):
            return self._subsection(expected, item, place)
        if is_mapping(expected):
            return self._entries(core(get_args(expected)[1])[0], item, place)
        if get_origin(expected) in (tuple, list):
            inner = core(get_args(expected)[0])[0]
            if isinstance(item, list):
                return [self._value(inner, each, (*place, number)) for number, each in enumerate(item)]
            return [] if is_off(item) else item
        if get_origin(expected) is Literal:
            return self._word(get_args(expected), item, place)
        if isinstance(item, Disputed) and expected in (str, Path, SecretStr):
            self.findings.doubt(place, item)
        if expected in (int, float):
            self._number(item, place)
        elif expected is SecretStr:
            return self._secret(item, place)
        elif expected is Path and isinstance(item, str) and not item.strip():
            self.findings.add(place, "must not be empty")
        return item

    def _number(self, item: Any, place: Place) -> None:
        """What pydantic would let pass; it says the rest."""
        if isinstance(item, bool):
            self.findings.add(place, f"must be a number, not {str(item).lower()}")
        elif isinstance(item, str) and (trap := trap_in(item.strip())) and trap.number:
            self.findings.add(place, f"{trap.number}: {trap.said}")

    def _subsection(self, cls: type[BaseModel], item: Any, place: Place) -> Any:
        if isinstance(item, dict):
            return self._section(cls, item, place)
        if item is None:
            return {}
        for number, each in enumerate(item if isinstance(item, list) else ()):
            self._number(each, (*place, number))  # a section in short: price: [1.25, 10]
        if is_off(item) and "enabled" in cls.model_fields:
            return {"enabled": False}
        return item

    def _entries(self, inner: Any, item: Any, place: Place) -> Any:
        """A section whose keys are the owner's own names."""
        if not isinstance(item, dict):
            return {} if is_off(item) else item
        entries: dict[str, Any] = {}
        for key, value in item.items():
            if inner is SecretStr and key.endswith("_file"):
                self._secret_file(item, key, value, place, entries)
            elif not (value == "" and f"{key}_file" in item):
                entries[key] = self._value(inner, value, (*place, key))
        return entries

    def _word(self, words: tuple[Any, ...], item: Any, place: Place) -> Any:
        """One of a fixed set of words. ``false``, ``no`` and the like mean the word for off, where there is one."""
        spelled = {str(word).lower(): word for word in words}
        if isinstance(item, str) and item.strip().lower() in spelled:
            return spelled[item.strip().lower()]
        off = next((word for word in OFF_WORDS if word in words), None)
        if off is not None and is_off(item):
            return off
        hint = did_you_mean(item, words) if isinstance(item, str) else ""
        self.findings.add_value(place, one_of([str(word) for word in words]), hint)
        return words[0]

    def _secret(self, item: Any, place: Place) -> Any:
        if not isinstance(item, str):
            return item
        item = item.strip()
        if any(mark in item for mark in _CURLY):
            self.findings.add(place, "holds curly quotes; write straight ones, around the value")
        elif any(ord(sign) < 32 for sign in item):
            self.findings.add(place, "holds a line break or another control character")
        elif bare := _BARE_VARIABLE.fullmatch(item):
            self.findings.add(place, f"is the name of a variable, not its value; write ${{{bare[1]}}}")
        return item

    def _secret_file(
        self, section: Mapping[str, Any], key: str, item: Any, place: Place, fitted: dict[str, Any]
    ) -> None:
        """Read the secret that ``<name>_file`` points to, under the name without ``_file``."""
        here, stem = (*place, key), key.removesuffix("_file")
        if item is None or item == "":
            return
        if section.get(stem):
            self.findings.add(here, f"{stem} and {key} are both given; keep one of them")
        elif not isinstance(item, str):
            self.findings.add(here, "must be a path, written as text")
        else:
            secret, trouble = read_secret(anchored(item, self.base, self.home))
            if trouble:
                self.findings.add_value(here, trouble)
            fitted[stem] = self._secret(secret, here)
