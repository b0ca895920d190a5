"""What stands in a YAML file, and on which line. Every scalar stays the text that was written, so that the field it
belongs to decides what it means; only ``true``, ``false`` and ``null`` are read as what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import yaml

from bot.config.problems import Findings, Place
from bot.config.traps import Disputed, trap_in
from bot.config.yaml_trouble import explain

MAX_BYTES: Final = 256 * 1024
MAX_DEPTH: Final = 30
MAX_VALUES: Final = 20_000

_PLAIN: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_MERGE: Final = "<<"
_TAG_CHARS: Final = 40
_TEXT_TAGS: Final = frozenset({None, "!", "tag:yaml.org,2002:str"})


class _Unreadable(Exception):
    """Reading cannot go on; ``sentence``, ``line`` and ``place`` say why and where."""

    def __init__(self, sentence: str, line: int, place: Place = ()) -> None:
        super().__init__(sentence)
        self.sentence, self.line, self.place = sentence, line, place


def read_yaml(data: bytes, findings: Findings) -> dict[str, Any]:
    """The mapping in ``data``; an empty file is an empty mapping. Lines go to ``findings.lines``.

    Problems are noted in ``findings``. After one that makes the rest unreadable, what was read so far is lost and the
    result is empty.
    """
    reader: _Reader | None = None
    try:
        text = _decoded(data)
        reader = _Reader(text, findings)
        return reader.document()
    except _Unreadable as trouble:
        findings.add_at(trouble.line, trouble.sentence, trouble.place)
    except yaml.YAMLError as error:
        line, sentence = explain(error, text, reader.last_quoted if reader else None)
        findings.add_at(line, sentence)
    return {}


def _decoded(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise _Unreadable(f"the file is larger than {MAX_BYTES // 1024} KiB; this is not a configuration", 1)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _Unreadable("the file is not UTF-8 text from here on; save it as UTF-8", line) from None


class _Reader:
    """Builds plain values from PyYAML's events, without its ideas about types."""

    def __init__(self, text: str, findings: Findings) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.SafeLoader)
        self._findings = findings
        self._lines: dict[Place, int] = {}
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._open: dict[str, tuple[int, Place]] = {}
        self._values = 0
        self.last_quoted: yaml.ScalarEvent | None = None
        findings.lines = self._lines

    def document(self) -> dict[str, Any]:
        value: Any = None
        while not isinstance(event := next(self._events), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                if value is not None:
                    raise _Unreadable("a second document begins here (---); only one is read", _line(event))
                value = self._value(next(self._events), ())
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise _Unreadable(
                "the file must be a section of keys: lines of `key: value`, with a space after the colon", 1
            )
        return value

    def _value(self, event: yaml.Event, path: Place) -> Any:
        self._values += 1
        if len(path) > MAX_DEPTH or self._values > MAX_VALUES:
            raise _Unreadable("this is nested too deeply or too large for a configuration", _line(event), path)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, path)
        self._refuse_tag(event)
        anchor, before = getattr(event, "anchor", None), self._values
        if anchor:
            self._open[anchor] = (_line(event), path)
        value: Any
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._sequence(path)
        else:
            value = self._mapping(path)
        if anchor:
            del self._open[anchor]
            self._anchors[anchor] = (value, self._values - before + 1)
        return value

    def _alias(self, event: yaml.AliasEvent, path: Place) -> Any:
        """The anchored value again. It counts in full, so that aliases of aliases cannot grow without end."""
        if event.anchor in self._open:
            line, place = self._open[event.anchor]
            raise _Unreadable("an anchor (&) is used inside itself", line, place)
        if event.anchor not in self._anchors:
            name = f" (no anchor is called {event.anchor})" if str(event.anchor).isalpha() else ""
            raise _Unreadable(f"a value that begins with * must be quoted{name}", _line(event), path)
        value, size = self._anchors[event.anchor]
        self._values += size
        return value

    def _refuse_tag(self, event: yaml.Event) -> None:
        tag = getattr(event, "tag", None)
        if tag not in _TEXT_TAGS:
            name = str(tag).replace("tag:yaml.org,2002:", "!!")[:_TAG_CHARS]
            raise _Unreadable(
                f"YAML tags such as {name} are not read; a value that begins with ! must be quoted", _line(event)
            )

    def _scalar(self, event: yaml.ScalarEvent) -> str | bool | None:
        if event.style in ("'", '"'):
            self.last_quoted = event
        if event.style is None and event.tag is None and event.value in _PLAIN:
            return _PLAIN[event.value]
        if event.style is None and event.tag is None and trap_in(event.value):
            return Disputed(event.value)
        return str(event.value)

    def _sequence(self, path: Place) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            item_path = (*path, len(items))
            self._lines[item_path] = _line(event)
            items.append(self._value(event, item_path))
        return items

    def _mapping(self, path: Place) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        merged: list[dict[str, Any]] = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event)
            key_path = (*path, key)
            if key == _MERGE and getattr(event, "style", None) is None:
                merged += self._merge(next(self._events), key_path, _line(event))
                continue
            if key in entries:
                first = self._lines[key_path]
                self._findings.add_at(_line(event), f"stands here twice; the first is on line {first}", key_path)
                self._skip(key_path)
                continue
            self._lines[key_path] = _line(event)
            entries[key] = self._value(next(self._events), key_path)
        for mapping in merged:
            entries = {**mapping, **entries}
        return entries

    def _merge(self, event: yaml.Event, path: Place, line: int) -> list[dict[str, Any]]:
        """What ``<<: *anchor`` adds: a mapping, or several of which an earlier one counts more."""
        value = self._value(event, path)
        mappings = value if isinstance(value, list) else [value]
        if not all(isinstance(mapping, dict) for mapping in mappings):
            raise _Unreadable("<< must name a section: <<: *name", line, path)
        return list(mappings)

    def _key(self, event: yaml.Event) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise _Unreadable("a key must be a word; braces, brackets and * need quotes here", _line(event))
        self._refuse_tag(event)
        if not event.value:
            raise _Unreadable("a key is missing before the colon", _line(event))
        return str(event.value)

    def _skip(self, path: Place) -> None:
        """Read past a value without keeping the lines of what is in it."""
        kept = dict(self._lines)
        self._value(next(self._events), path)
        self._lines.clear()
        self._lines.update(kept)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
