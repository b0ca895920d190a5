"""What a configuration is once it has been read: frozen, complete, with absolute paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, SecretStr

from bot.config.model_entry import ModelEntry
from bot.config.section import is_near
from bot.config.sections import Brain, Embedder, Hook, Memory, Reranker, Schedule, Team, Tools
from bot.core.model import ModelRef
from bot.providers.settings import ProviderConfig

ANSWER_PART: Final = 4
"""An answer takes no more of a window that its entry does not name than one part in so many."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One channel or provider of the file.

    ``kind`` names its module (a channel's is its name), ``module`` has its ``build(...)``. ``missing`` says why it is
    off, in a sentence without its name; "" when it is on.
    """

    name: str
    kind: str
    config: BaseModel
    module: str
    missing: str = ""

    @property
    def on(self) -> bool:
        return not self.missing


@dataclass(frozen=True, slots=True)
class Config:
    """``file`` is None when there was none; ``base`` is where relative paths start. ``hidden`` are values from the
    environment whose variable is named like a secret; they never appear in ``repr``."""

    file: Path | None
    base: Path
    name: str
    data_dir: Path
    soul: Path
    skills: tuple[Path, ...]
    language: str
    timezone: str
    channels: Mapping[str, Entry]
    providers: Mapping[str, Entry]
    brain: Brain
    memory: Memory
    tools: Tools
    hooks: tuple[Hook, ...]
    team: Team
    schedule: Schedule
    hidden: frozenset[SecretStr] = frozenset()

    def usable(self, model: ModelRef) -> bool:
        """True when the model's provider has what it needs to be asked at the model's address."""
        entry = self.providers.get(model.provider)
        if entry is not None and model.endpoint and isinstance(entry.config, ProviderConfig):
            return not entry.config.missing(model.endpoint)
        return entry is not None and entry.on

    def ref(self, entry: ModelEntry) -> ModelRef:
        """The entry with what it leaves to its vendor, but for its window; see ``sized``."""
        ref, provider = entry.ref(), self.providers.get(entry.provider)
        if provider is None or not isinstance(provider.config, ProviderConfig):
            return ref
        known = provider.config
        return replace(
            ref,
            vision=known.sees(ref.model, ref.endpoint) if entry.vision is None else entry.vision,
            price=ref.price or known.price(ref.model, ref.endpoint),
        )

    def sized(self, ref: ModelRef, told: int | None = None) -> ModelRef:
        """With its window: what its entry says, else what its provider ``told``, else what is known of it here; None where
        nobody knows. An answer gets a quarter of a window that the entry does not name, at most."""
        provider = self.providers.get(ref.provider)
        known = provider.config if provider is not None else None
        window = told or (known.window(ref.model, ref.endpoint) if isinstance(known, ProviderConfig) else None)
        if ref.window_tokens or window is None:
            return ref
        return replace(ref, window_tokens=window, max_tokens=min(ref.max_tokens, window // ANSWER_PART))

    def secrets(self) -> set[str]:
        """Every secret value that the configuration holds, for the log's redactor and for nothing else."""
        sections: list[Any] = [self.brain, self.memory, self.tools, self.hooks, self.team, self.schedule, self.hidden]
        sections += [entry.config for entry in (*self.channels.values(), *self.providers.values())]
        return {secret.get_secret_value() for section in sections for secret in _secrets(section)} - {""}


def answers_nearby(model: ModelRef, providers: Mapping[str, Entry]) -> bool:
    """True for the embedded model, and for a server at a loopback, private or bare-name address."""
    entry = providers.get(model.provider)
    if entry is None:
        return False
    url = model.endpoint or str(getattr(entry.config, "base_url", ""))
    return is_near(url) if url else entry.kind == "local"


def effective(config: Config) -> dict[str, Any]:
    """The whole configuration as plain values, to be shown: secrets are ``***`` or empty, paths are text."""
    plain = {name: _plain(getattr(config, name)) for name in _SHOWN}
    for shelf in ("channels", "providers"):
        entries: Mapping[str, Entry] = getattr(config, shelf)
        plain[shelf] = {name: _plain(entry.config) | {"on": entry.on} for name, entry in entries.items()}
    return plain


def secret_fields(section: BaseModel) -> Iterator[tuple[str, SecretStr]]:
    """The secrets of one section by key, empty ones included; not those of the sections in it."""
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, SecretStr):
            yield name, value


def holds_secret(section: BaseModel) -> bool:
    """True when any secret in this section is given."""
    return any(secret.get_secret_value() for secret in _secrets(section))


_SHOWN = (
    *("name", "data_dir", "soul", "skills", "language", "timezone"),
    *("brain", "memory", "tools", "hooks", "team", "schedule"),
)


def _plain(value: Any) -> Any:
    if isinstance(value, Embedder | Reranker) and value.brief():
        return value.brief()
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        return {field.alias or name: _plain(getattr(value, name)) for name, field in fields.items()}
    if isinstance(value, SecretStr):
        return "***" if value.get_secret_value() else ""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _secrets(value: Any) -> Iterator[SecretStr]:
    if isinstance(value, SecretStr):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _secrets(getattr(value, name))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _secrets(item)
    elif isinstance(value, tuple | list | frozenset):
        for item in value:
            yield from _secrets(item)
