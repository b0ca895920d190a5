"""From a file and an environment to a ``Config``, or to every reason why not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, SecretStr

from bot.config import checks
from bot.config.anchor import anchor_paths
from bot.config.discover import CHANNELS, PROVIDERS, Shelf
from bot.config.fit import Fitting
from bot.config.hints import Places, did_you_mean
from bot.config.loaded import Config, Entry
from bot.config.problems import Findings, Place
from bot.config.section import is_off
from bot.config.sections import Settings
from bot.config.sources import Source, read_source
from bot.core.errors import ConfigError

GIVEN: Final = ("anthropic", "openai", "ollama", "local")
"""Providers that are there without being named in the file; a key comes from ``<NAME>_API_KEY``."""

_SHELVES: Final[Mapping[str, Shelf]] = {"channels": CHANNELS, "providers": PROVIDERS}
_SECRETIVE: Final = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
_SHORTEST_HIDDEN: Final = 6


def load(path: Path | None, env: Mapping[str, str], cwd: Path | None = None) -> Config:
    """Read ``path``, or the first of the usual places, or the defaults when there is no file anywhere.

    Raises ``ConfigProblems`` (a ``ConfigError``) with everything that is wrong.
    """
    source = read_source(path, env, cwd or Path.cwd())
    findings = source.findings
    fitting = Fitting(findings, Places(_every_section), source.base, source.home)
    tree = dict(source.tree)
    sections = {shelf: _shelf_section(tree.pop(shelf, None), shelf, findings) for shelf in _SHELVES}
    settings = fitting.model(Settings, tree, ())
    channels = _channels(sections["channels"], fitting)
    providers = _providers(sections["providers"], source.env, fitting)
    if settings is not None:
        settings = anchor_paths(settings, source.base, source.home)
        for shelf, entries in (("channels", channels), ("providers", providers)):
            checks.addresses(shelf, entries, findings)
        checks.models(settings, providers, {*GIVEN, *(sections["providers"] or {})}, findings)
        checks.jobs(settings, CHANNELS.names(), findings)
        checks.paths(settings, findings)
    findings.raise_if_any()
    assert settings is not None
    return _config(source, settings, channels, providers)


def _config(
    source: Source, settings: Settings, channels: Mapping[str, Entry], providers: Mapping[str, Entry]
) -> Config:
    hidden = {
        SecretStr(value)
        for name, value in source.used.items()
        if _SECRETIVE.search(name) and len(value) >= _SHORTEST_HIDDEN
    }
    own = {name: getattr(settings, name) for name in Settings.model_fields}
    file = (source.base / source.file.name) if source.file else None
    return Config(file=file, base=source.base, channels=channels, providers=providers, hidden=frozenset(hidden), **own)


def _every_section() -> Mapping[Place, type[BaseModel]]:
    """Also those that the file does not name, but for what needs a library that is not installed."""
    sections: dict[Place, type[BaseModel]] = {(): Settings}
    for area, shelf in _SHELVES.items():
        for name in shelf.names():
            with suppress(ConfigError):
                kind = shelf.kind(name)
                sections |= {(area, name): kind.config} if kind else {}
    return sections


def _shelf_section(value: Any, shelf: str, findings: Findings) -> dict[str, Any] | None:
    """The sections below ``channels:`` or ``providers:``; None when the key is not there or has nothing below it."""
    if value is None or isinstance(value, dict):
        return value
    findings.add((shelf,), "must be a section of its own: lines of `name: …` below it")
    return None


def _channels(section: dict[str, Any] | None, fitting: Fitting) -> dict[str, Entry]:
    """The channels of the file. Where it names none that can be on, the web page is."""
    entries: dict[str, Entry] = {}
    named = {"web": {}, "terminal": {}} if section is None else section
    for name, value in named.items():
        entry = None if is_off(value) else _entry("channels", name, name, value, fitting)
        if entry is not None:
            entries[name] = entry
    reachable = any(entry.on for name, entry in entries.items() if name != "terminal")
    if not reachable and "web" not in named:
        web = _entry("channels", "web", "web", {}, fitting)
        entries |= {"web": web} if web else {}
    return entries


def _providers(section: dict[str, Any] | None, env: Mapping[str, str], fitting: Fitting) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for name, value in {**dict.fromkeys(GIVEN), **(section or {})}.items():
        if is_off(value):
            continue
        own = dict(value) if isinstance(value, dict) else {} if value is None else value
        kind = own.pop("kind", None) or name if isinstance(own, dict) else name
        if name in GIVEN and kind == name and isinstance(own, dict) and not own.keys() & {"api_key", "api_key_file"}:
            key = env.get(f"{name.upper()}_API_KEY", "")
            own |= {"api_key": key} if key else {}
        entry = _entry("providers", name, kind, own, fitting)
        if entry is not None:
            entries[name] = entry
    return entries


def _entry(shelf: str, name: str, kind: Any, value: Any, fitting: Fitting) -> Entry | None:
    found = None
    try:
        found = _SHELVES[shelf].kind(kind) if isinstance(kind, str) else None
    except ConfigError as error:
        fitting.findings.add((shelf, name), error.message)
        return None
    if found is None:
        _unknown_kind(shelf, name, kind, fitting.findings)
        return None
    config = fitting.model(found.config, {} if value is None else value, (shelf, name))
    if config is None:
        return None
    anchored = anchor_paths(config, fitting.base, fitting.home)
    return Entry(name, found.name, anchored, found.module, _missing(anchored))


def _unknown_kind(shelf: str, name: str, kind: Any, findings: Findings) -> None:
    known = _SHELVES[shelf].names()
    listed = ", ".join(known)
    if shelf == "channels":
        findings.add((shelf, name), f"unknown channel{did_you_mean(name, known)}; channels: {listed}")
    elif kind != name:
        hint = did_you_mean(kind, known) if isinstance(kind, str) else ""
        findings.add_value((shelf, name, "kind"), f"must be one of: {listed}", hint)
    else:
        findings.add((shelf, name), f"needs kind: with one of {listed}{did_you_mean(name, known)}")


def _missing(config: BaseModel) -> str:
    """What the section itself says it lacks (its ``missing()``, where it has one), "" for nothing."""
    own: Callable[[], str] | None = getattr(config, "missing", None)
    return own() if callable(own) else ""
