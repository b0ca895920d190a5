"""SKILL.md as people write it: strictly by the format where that works, line by line where it does not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from bot.brain.skills.skill import Needs, Refusal, Skill

FILE_BYTES: Final = 256 * 1024
HEAD_CHARS: Final = 16_000
NAME_CHARS: Final = 64
DESCRIPTION_CHARS: Final = 1_024
"""The bounds of the format; a longer description is cut."""
_LISTED: Final = 50

_HEAD: Final = re.compile(r"\A-{3,}[ \t]*\n(.*?)^-{3,}[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY: Final = re.compile(r"^([A-Za-z_][\w-]*)[ \t]*:[ \t]*(.*)$")
_UNNAMED: Final = re.compile(r"[^\w-]+")
_VENDORS: Final = ("bowerbird", "openclaw", "clawdbot", "moltbot", "claude")
"""Under ``metadata`` some hosts keep what others have at the top."""


class _Plain(yaml.SafeLoader):
    """Without aliases: a file that repeats itself by reference can be of any size."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def read_skill(folder: Path) -> Skill | Refusal:
    """The skill in ``folder``, or why there is none. Never raises."""
    file = skill_file(folder)
    if file is None:
        return Refusal(folder / "SKILL.md", "is not there")
    try:
        if not file.resolve().is_relative_to(folder.resolve()):
            return Refusal(file, "is a link to somewhere else")
        if file.stat().st_size > FILE_BYTES:
            return Refusal(file, f"is larger than {FILE_BYTES // 1024} KB")
        raw = file.read_bytes()
    except OSError as error:
        return Refusal(file, f"cannot be read ({error.strerror})")
    if b"\x00" in raw:
        return Refusal(file, "is no text")
    text = raw.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    return _skill(file, folder, text)


def skill_file(folder: Path) -> Path | None:
    """``SKILL.md``, in whatever case it is written."""
    try:
        named = sorted(entry for entry in folder.iterdir() if entry.name.lower() == "skill.md")
    except OSError:
        return None
    exact = [entry for entry in named if entry.name == "SKILL.md"]
    return next((entry for entry in (*exact, *named) if entry.is_file()), None)


def _skill(file: Path, folder: Path, text: str) -> Skill | Refusal:
    notes: list[str] = []
    head = _HEAD.match(text.lstrip("\n"))
    if head is None and text.lstrip().startswith("---"):
        return Refusal(file, "the front matter is opened with --- and never closed", 1)
    fields = _fields(head[1], notes) if head else {}
    body = (text.lstrip("\n")[head.end() :] if head else text).strip()
    if head is None:
        notes.append("there is no front matter")
    if not body:
        return Refusal(file, "holds nothing below its front matter")
    name = _name(fields.get("name"), folder, notes)
    if not name:
        return Refusal(file, "has no name, and its folder's name is none")
    description = _text(fields.get("description")) or _text(fields.get("summary"))
    if not description:
        notes.append("there is no description; the first paragraph stands for it")
        description = _first_paragraph(body)
    if not description:
        return Refusal(file, "has no description, and no paragraph that could stand for one")
    hosts = _hosts(fields)
    return Skill(
        name=name,
        description=_cut(description, DESCRIPTION_CHARS),
        body=body,
        folder=folder,
        triggers=_words(fields, hosts, "triggers", "trigger", "keywords"),
        tools=_words(fields, hosts, "allowed-tools", "allowed_tools", "tools"),
        needs=_needs(fields, hosts),
        by_person=_yes(fields, "user-invocable", default=True),
        by_itself=not _yes(fields, "disable-model-invocation", default=False),
        notes=tuple(notes),
    )


def _fields(head: str, notes: list[str]) -> Mapping[str, Any]:
    """By YAML, or else line by line: a colon in a description must not cost the skill (bug B288)."""
    if len(head) > HEAD_CHARS:
        notes.append("the front matter is very long; only its beginning was read")
        head = head[:HEAD_CHARS]
    try:
        read = yaml.load(head, _Plain)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 2}" if mark is not None else ""
        notes.append(
            f"the front matter is no YAML{where}; it was read line by line (put quotes around texts with a colon)"
        )
        return _line_by_line(head)
    if isinstance(read, Mapping):
        return {str(key).strip().lower(): value for key, value in read.items()}
    notes.append("the front matter holds no names with values")
    return {}


def _line_by_line(head: str) -> dict[str, Any]:
    """``name: value`` at the left edge; indented lines belong to the one above, lists of ``- item`` become lists."""
    fields: dict[str, Any] = {}
    last = ""
    for line in head.splitlines():
        entry = _ENTRY.match(line)
        if entry:
            last = entry[1].lower()
            fields[last] = _value(entry[2])
        elif last and line.strip():
            item = line.strip()
            held = fields[last]
            if item.startswith("- "):
                fields[last] = [*(held if isinstance(held, list) else []), _value(item[2:])]
            elif isinstance(held, str):
                fields[last] = f"{held} {item}".strip()
    return fields


def _value(text: str) -> Any:
    text = text.strip()
    if text in (">", "|", ">-", "|-"):
        return ""
    if text[:1] in ("[", "{", '"', "'"):
        try:
            return yaml.load(text, _Plain)
        except (yaml.YAMLError, ValueError, RecursionError):
            return text.strip("\"'")
    return text


def _name(value: Any, folder: Path, notes: list[str]) -> str:
    given = _text(value)
    if not given:
        notes.append("there is no name; the folder's stands for it")
    plain = unicodedata.normalize("NFKC", given or folder.name).strip().lower()
    return _UNNAMED.sub("-", plain).strip("-")[:NAME_CHARS]


def _first_paragraph(body: str) -> str:
    for paragraph in re.split(r"\n\s*\n", body):
        lines = [line for line in paragraph.splitlines() if not line.lstrip().startswith(("#", "```", "|", "!", "<"))]
        if text := " ".join(" ".join(lines).split()):
            return text
    return ""


def _hosts(fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What particular hosts are told under ``metadata``, and what stands there for all."""
    held = fields.get("metadata")
    if isinstance(held, str):
        try:
            held = yaml.load(held, _Plain)
        except (yaml.YAMLError, ValueError, RecursionError):
            held = None
    if not isinstance(held, Mapping):
        return []
    return [*(held[name] for name in _VENDORS if isinstance(held.get(name), Mapping)), held]


def _needs(fields: Mapping[str, Any], hosts: Sequence[Mapping[str, Any]]) -> Needs:
    places = [fields, *hosts]
    required = [place["requires"] for place in places if isinstance(place.get("requires"), Mapping)]
    return Needs(
        bins=_first(required, "bins"),
        any_bins=_first(required, "anyBins", "any_bins", "anybins"),
        env=_first(required, "env"),
        systems=_first([*required, *places], "os"),
    )


def _words(fields: Mapping[str, Any], hosts: Sequence[Mapping[str, Any]], *names: str) -> tuple[str, ...]:
    return _first([fields, *hosts], *names)


def _first(places: Sequence[Mapping[str, Any]], *names: str) -> tuple[str, ...]:
    """The first list under one of the names; a text may stand for a list, its items parted by commas or blanks."""
    for place in places:
        for name in names:
            value = place.get(name)
            if isinstance(value, str) and value.strip():
                parts = value.split(",") if "," in value else value.split() if name.startswith("allowed") else [value]
                return tuple(part.strip() for part in parts if part.strip())[:_LISTED]
            if isinstance(value, list) and value:
                return tuple(_text(one) for one in value if _text(one))[:_LISTED]
    return ()


def _yes(fields: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = fields.get(name)
    if isinstance(value, str):
        return value.strip().lower() in ("true", "yes", "on", "1")
    return value if isinstance(value, bool) else default


def _text(value: Any) -> str:
    return " ".join(str(value).split()) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[: chars - 1]}…"
