"""Makes parsed YAML fit a pydantic model: unknown keys, empty values, ``off``, secrets from files. The model's fields
decide what a text means, so that nothing is guessed from its looks alone."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError

from bot.config.places import Places, anchored
from bot.config.problems import Findings, Path_, did_you_mean, one_of
from bot.config.section import OFF_WORDS, is_off

M = TypeVar("M", bound=BaseModel)
_SECRET_BYTES: Final = 64 * 1024
_QUOTES: Final = "“”‘’„«»「」"


@dataclass(frozen=True, slots=True)
class Fitting:
    """Fits values of one file. Relative paths start at ``base``; ``home`` stands for ``~``."""

    findings: Findings
    places: Places
    base: Path
    home: Path

    def model(self, cls: type[M], value: Any, path: Path_) -> M | None:
        """``value`` as ``cls``; None when that failed, with the reasons in ``findings``."""
        fitted = self._section(cls, value, path) if isinstance(value, dict) else value
        try:
            return cls.model_validate(fitted)
        except ValidationError as error:
            self.findings.add_validation(path, error.errors(include_url=False, include_input=False))
            return None

    def _section(self, cls: type[BaseModel], value: Mapping[str, Any], path: Path_) -> dict[str, Any]:
        fields = {field.alias or name: field.annotation for name, field in cls.model_fields.items()}
        fitted: dict[str, Any] = {}
        for key, item in value.items():
            here = (*path, key)
            stem = key.removesuffix("_file")
            if key in fields:
                core, optional = _core(fields[key])
                if (item is None and not optional) or (item == "" and f"{key}_file" in value):
                    continue
                fitted[key] = None if optional and is_off(item) else self._value(core, item, here)
            elif stem != key and stem in fields and _core(fields[stem])[0] is SecretStr:
                self._secret_file(value, key, item, path, fitted)
            else:
                self.findings.add(here, self.places.unknown(path, key, _spellings(fields)))
        return fitted

    def _value(self, core: Any, item: Any, path: Path_) -> Any:
        origin, args = get_origin(core), get_args(core)
        if isinstance(core, type) and issubclass(core, BaseModel):
            return self._subsection(core, item, path)
        if origin in (dict, Mapping) or (isinstance(origin, type) and issubclass(origin, Mapping)):
            return self._entries(_core(args[1])[0], item, path)
        if origin in (tuple, list):
            inner = _core(args[0])[0]
            if isinstance(item, list):
                return [self._value(inner, each, (*path, number)) for number, each in enumerate(item)]
            return [] if is_off(item) else item
        if origin is Literal:
            return self._word(args, item, path)
        if core is SecretStr:
            return self._secret(item, path)
        if core in (int, float) and isinstance(item, bool):
            self.findings.add(path, "must be a number, not true or false")
        elif core is Path and isinstance(item, str) and not item.strip():
            self.findings.add(path, "must not be empty")
        return item

    def _subsection(self, cls: type[BaseModel], item: Any, path: Path_) -> Any:
        if isinstance(item, dict):
            return self._section(cls, item, path)
        if item is None:
            return {}
        if is_off(item) and "enabled" in cls.model_fields:
            return {"enabled": False}
        return item

    def _entries(self, inner: Any, item: Any, path: Path_) -> Any:
        """A section whose keys are the owner's own names."""
        if not isinstance(item, dict):
            return {} if is_off(item) else item
        entries: dict[str, Any] = {}
        for key, value in item.items():
            if inner is SecretStr and key.endswith("_file"):
                self._secret_file(item, key, value, path, entries)
            elif not (value == "" and f"{key}_file" in item):
                entries[key] = self._value(inner, value, (*path, key))
        return entries

    def _word(self, words: tuple[Any, ...], item: Any, path: Path_) -> Any:
        """One of a fixed set of words. ``false``, ``no`` and the like mean the word for off, where there is one."""
        if isinstance(item, str) and item.strip().lower() in words:
            return item.strip().lower()
        off = next((word for word in OFF_WORDS if word in words), None)
        if off is not None and is_off(item):
            return off
        hint = did_you_mean(item, words) if isinstance(item, str) else ""
        self.findings.add(path, one_of([str(word) for word in words]) + hint)
        return words[0]

    def _secret(self, item: Any, path: Path_) -> Any:
        if not isinstance(item, str):
            return item
        item = item.strip()
        if any(mark in item for mark in _QUOTES):
            self.findings.add(path, "holds typographic quotation marks; write straight ones, outside the value")
        elif any(ord(sign) < 32 for sign in item):
            self.findings.add(path, "holds a line break or another control character")
        return item

    def _secret_file(
        self, section: Mapping[str, Any], key: str, item: Any, path: Path_, fitted: dict[str, Any]
    ) -> None:
        """Read the secret that ``<name>_file`` points to, under the name without ``_file``."""
        here, stem = (*path, key), key.removesuffix("_file")
        if item is None or item == "":
            return
        if section.get(stem):
            self.findings.add(here, f"{stem} and {key} are both given; keep one of them")
        elif not isinstance(item, str):
            self.findings.add(here, "must be a path, written as text")
        else:
            fitted[stem] = self._contents(anchored(item, self.base, self.home), here)

    def _contents(self, file: Path, path: Path_) -> str:
        try:
            with file.open("rb") as stream:
                text = stream.read(_SECRET_BYTES + 1).decode("utf-8-sig").strip()
        except FileNotFoundError:
            self.findings.add(path, f"the file {file} does not exist")
        except UnicodeDecodeError:
            self.findings.add(path, f"the file {file} is not text")
        except OSError as error:
            self.findings.add(path, f"the file {file} cannot be read: {error.strerror}")
        else:
            if len(text) > _SECRET_BYTES:
                self.findings.add(path, f"the file {file} is too large for a secret")
            elif text:
                return str(self._secret(text, path))
            else:
                self.findings.add(path, f"the file {file} is empty")
        return ""


def _spellings(fields: Mapping[str, Any]) -> list[str]:
    secrets = [name for name, annotation in fields.items() if _core(annotation)[0] is SecretStr]
    return [*fields, *(f"{name}_file" for name in secrets)]


def _core(annotation: Any) -> tuple[Any, bool]:
    """The type without ``Annotated`` and ``None``, and whether None was allowed."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        optional = len(members) < len(get_args(annotation))
        if len(members) == 1:
            return _core(members[0])[0], optional
        return annotation, optional
    return annotation, False
