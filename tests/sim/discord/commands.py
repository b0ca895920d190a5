"""Application commands: what was registered globally or for a guild, how often, and whether it is well-formed."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from tests.sim.discord.nouns import Snowflakes
from tests.sim.discord.refusals import FormErrors, Json, refused

CHAT_INPUT, USER, MESSAGE = 1, 2, 3
SUBCOMMAND, GROUP = 1, 2
NAME = re.compile(r"[-_'\w]{1,32}")
MAX_COMMANDS, MAX_OPTIONS, MAX_CHOICES, MAX_SIZE = 100, 25, 25, 8000
CREATES_A_DAY, DAY_SECONDS = 200, 86_400.0
_LOCALES = (
    "id da de en-GB en-US es-ES es-419 fr hr it lt hu nl no pl pt-BR ro fi sv-SE vi tr cs el bg ru uk hi th zh-CN ja"
    " zh-TW ko"
)
LOCALES = frozenset(_LOCALES.split())


class Commands:
    """The global set by name (iterating gives the names); ``syncs`` counts the writes of the whole set, ``writes`` every
    write. Guild commands are in ``guilds`` by guild id."""

    def __init__(
        self, app: int, snowflakes: Snowflakes, monotonic: Callable[[], float], note: Callable[[str], None]
    ) -> None:
        self._app, self._snowflakes, self._monotonic, self._note = app, snowflakes, monotonic, note
        self.guilds: dict[int, dict[tuple[str, int], Json]] = {}
        self._global: dict[tuple[str, int], Json] = {}
        self._created: deque[float] = deque()
        self.syncs = self.writes = 0

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self._global)

    def __getitem__(self, name: str) -> Json:
        """A global slash command by its name. KeyError otherwise."""
        return self._global[name, CHAT_INPUT]

    @property
    def names(self) -> list[str]:
        return [name for name, kind in self._global if kind == CHAT_INPUT]

    @property
    def all(self) -> list[Json]:
        return list(self._global.values())

    def offered(self, guild: int | None, name: str) -> Json | None:
        """The slash command that a client offers there; a guild's own goes first."""
        key = (name, CHAT_INPUT)
        if guild is not None and key in self.guilds.get(guild, {}):
            return self.guilds[guild][key]
        command = self._global.get(key)
        if command is None:
            return None
        contexts = command["contexts"]
        if contexts is None:
            return command if guild is not None or command["dm_permission"] else None
        return command if (0 if guild is not None else 1) in contexts else None

    def listed(self, guild: int | None) -> list[Json]:
        return list(self._set(guild).values())

    def overwrite(self, raw: Any, guild: int | None) -> list[Json]:
        """Replace the whole set."""
        if not isinstance(raw, list):
            errors = FormErrors()
            errors.add("", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
            errors.raise_any()
        errors = FormErrors()
        for index, command in enumerate(raw):
            check_command(command, str(index), errors)
        keys = [(str(one.get("name")), int(one.get("type") or 1)) for one in raw]
        for index, key in enumerate(keys):
            if key in keys[:index]:
                message = "Application command names must be unique"
                errors.add(f"{index}.name", "APPLICATION_COMMANDS_DUPLICATE_NAME", message)
        errors.raise_any()
        if sum(kind == CHAT_INPUT for _, kind in keys) > MAX_COMMANDS:
            raise refused(30032)
        old = self._set(guild)
        new = {key: self._filled(body, key, guild, old.get(key)) for key, body in zip(keys, raw, strict=True)}
        old.clear()
        old.update(new)
        self.syncs += 1
        self.writes += 1
        return list(new.values())

    def upsert(self, raw: Json, guild: int | None) -> tuple[int, Json]:
        """Create or replace one: 201 when it is new."""
        errors = FormErrors()
        check_command(raw, "", errors)
        errors.raise_any()
        commands, key = self._set(guild), (str(raw["name"]), int(raw.get("type") or 1))
        if key not in commands and sum(kind == key[1] for _, kind in commands) >= MAX_COMMANDS:
            raise refused(30032)
        new = key not in commands
        commands[key] = self._filled(raw, key, guild, commands.get(key))
        self.writes += 1
        return (201 if new else 200), commands[key]

    def by_id(self, id: int, guild: int | None) -> Json:
        for command in self._set(guild).values():
            if command["id"] == str(id):
                return command
        raise refused(10063)

    def edit(self, id: int, changes: Json, guild: int | None) -> Json:
        command = self.by_id(id, guild)
        merged = {**command, **changes}
        errors = FormErrors()
        check_command(merged, "", errors)
        errors.raise_any()
        self.remove(id, guild)
        key = (str(merged["name"]), int(merged["type"]))
        self._set(guild)[key] = {**merged, "version": str(self._snowflakes.next())}
        return self._set(guild)[key]

    def remove(self, id: int, guild: int | None) -> None:
        command = self.by_id(id, guild)
        del self._set(guild)[command["name"], command["type"]]
        self.writes += 1

    def _set(self, guild: int | None) -> dict[tuple[str, int], Json]:
        return self._global if guild is None else self.guilds.setdefault(guild, {})

    def _filled(self, raw: Json, key: tuple[str, int], guild: int | None, old: Json | None) -> Json:
        if old is None:
            self._count_create()
        body: Json = {"id": old["id"] if old else str(self._snowflakes.next()), "application_id": str(self._app)}
        body |= {"version": str(self._snowflakes.next()), "type": key[1], "name": key[0]}
        body |= {"description": raw.get("description") or "", "options": raw.get("options") or []}
        for name, default in (("dm_permission", True), ("nsfw", False), ("integration_types", [0])):
            body[name] = raw.get(name, default)
        for name in ("name_localizations", "description_localizations", "default_member_permissions", "contexts"):
            body[name] = raw.get(name)
        return body if guild is None else {**body, "guild_id": str(guild)}

    def _count_create(self) -> None:
        now = self._monotonic()
        while self._created and self._created[0] <= now - DAY_SECONDS:
            self._created.popleft()
        if len(self._created) >= CREATES_A_DAY:
            self._note("more than 200 commands created in a day")
            raise refused(30034)
        self._created.append(now)


def check_command(command: Any, path: str, errors: FormErrors) -> None:
    """Name, description, options and translations of a command; what is wrong goes to ``errors``."""
    at = f"{path}." if path else ""
    if not isinstance(command, dict):
        errors.add(path, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
        return
    kind = command.get("type") or CHAT_INPUT
    _check_name(command.get("name"), f"{at}name", errors, slash=kind == CHAT_INPUT)
    if kind == CHAT_INPUT:
        errors.too_long(f"{at}description", command.get("description") or "", 100, least=1)
        _check_options(command.get("options") or [], f"{at}options", errors, 0)
        if _size(command) > MAX_SIZE:
            errors.add(path, "APPLICATION_COMMAND_TOO_LARGE", f"Command exceeds maximum size ({MAX_SIZE})")
    elif command.get("description"):
        message = "Context menu commands cannot have description"
        errors.add(f"{at}description", "APPLICATION_COMMAND_INVALID_DESCRIPTION", message)
    _check_translations(command, at, errors, slash=kind == CHAT_INPUT)


def _check_name(name: Any, path: str, errors: FormErrors, *, slash: bool) -> None:
    if not isinstance(name, str) or not name:
        errors.required(path)
    elif len(name) > 32:
        errors.too_long(path, name, 32, least=1)
    elif slash and (not NAME.fullmatch(name) or name != name.lower()):
        errors.add(path, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")


def _check_translations(body: Json, at: str, errors: FormErrors, *, slash: bool) -> None:
    for field, limit in (("name_localizations", 32), ("description_localizations", 100)):
        for locale, text in (body.get(field) or {}).items():
            if locale not in LOCALES:
                errors.add(f"{at}{field}.{locale}", "ENUM_TYPE_COERCE", f'Value "{locale}" is not a valid enum value.')
            elif field.startswith("name"):
                _check_name(text, f"{at}{field}.{locale}", errors, slash=slash)
            else:
                errors.too_long(f"{at}{field}.{locale}", text or "", limit, least=1)


def _check_options(options: list[Json], path: str, errors: FormErrors, depth: int) -> None:
    if len(options) > MAX_OPTIONS:
        errors.add(path, "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_OPTIONS} or fewer in length.")
    names = [option.get("name") for option in options]
    optional = False
    for index, option in enumerate(options):
        at = f"{path}.{index}"
        kind = option.get("type")
        if kind not in range(1, 12) or (kind in (SUBCOMMAND, GROUP) and depth > 1):
            errors.add(f"{at}.type", "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11).")
        _check_name(option.get("name"), f"{at}.name", errors, slash=True)
        errors.too_long(f"{at}.description", option.get("description") or "", 100, least=1)
        _check_translations(option, f"{at}.", errors, slash=True)
        if names.index(option.get("name")) < index:
            message = "Option name must be unique"
            errors.add(f"{at}.name", "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", message)
        if option.get("required") and optional:
            message = "Required options must be placed before non-required options"
            errors.add(at, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", message)
        optional = optional or (not option.get("required") and kind not in (SUBCOMMAND, GROUP))
        choices = option.get("choices") or []
        errors.too_long(f"{at}.choices", choices, MAX_CHOICES)
        for number, choice in enumerate(choices):
            errors.too_long(f"{at}.choices.{number}.name", choice.get("name") or "", 100, least=1)
        if kind in (SUBCOMMAND, GROUP):
            _check_options(option.get("options") or [], f"{at}.options", errors, depth + 1)


def _size(body: Json) -> int:
    """Names, descriptions and values together; of translations the longest counts."""
    size = 0
    for field in ("name", "description"):
        size += max(map(len, [body.get(field) or "", *(body.get(f"{field}_localizations") or {}).values()]))
    size += sum(len(choice.get("name", "")) + len(str(choice.get("value", ""))) for choice in body.get("choices") or ())
    return size + sum(_size(option) for option in body.get("options") or ())
