"""What only shows when the sections are seen together: models without a provider, jobs without a channel, a page that
is open to everyone, files where folders should be."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import SecretStr

from bot.config.hints import did_you_mean
from bot.config.loaded import Config, Entry, answers_nearby
from bot.config.model_entry import ModelEntry
from bot.config.problems import Findings, Place
from bot.config.section import NO_CREDENTIALS, checked_host, holds_credentials, is_loopback
from bot.config.sections import Settings
from bot.providers.settings import ProviderConfig


def model_entries(settings: Settings | Config) -> Iterator[tuple[Place, ModelEntry]]:
    """Every model entry with the place where it stands in the file."""
    llm: Place = ("brain", "llm")
    routing = settings.brain.llm.routing
    yield (*llm, "default"), settings.brain.llm.default
    if routing.classify_model:
        yield (*llm, "routing", "classify_model"), routing.classify_model
    for number, rule in enumerate(routing.rules):
        yield (*llm, "routing", "rules", number), rule
    if routing.alternative:
        yield (*llm, "routing", "alternative"), routing.alternative
    for number, entry in enumerate(settings.brain.llm.fallback):
        yield (*llm, "fallback", number), entry
    if settings.brain.llm.transcribe:
        yield (*llm, "transcribe"), settings.brain.llm.transcribe
    if settings.memory.distill.model:
        yield ("memory", "distill", "model"), settings.memory.distill.model
    for name, role in settings.team.roles.items():
        for number, entry in enumerate(role.models):
            yield ("team", "roles", name, "models", number), entry
    for number, job in enumerate(settings.schedule.jobs):
        if job.model:
            yield ("schedule", "jobs", number, "model"), job.model


def models(settings: Settings, providers: Mapping[str, Entry], named: Collection[str], findings: Findings) -> None:
    """Every entry names a provider (``named`` are those that the file mentions); a private rule one that is near."""
    known = sorted({*providers, *named})
    for place, entry in model_entries(settings):
        if entry.provider not in known:
            findings.add((*place, "provider"), _no_provider(entry.provider, known))
    for number, rule in enumerate(settings.brain.llm.routing.rules):
        if rule.private and rule.provider in providers and not answers_nearby(rule.ref(), providers):
            place = ("brain", "llm", "routing", "rules", number, "private")
            findings.add(place, "a private rule must name a local model: one on this machine or in its own network")
    listener = settings.brain.llm.transcribe
    config = providers[listener.provider].config if listener and listener.provider in providers else None
    if isinstance(config, ProviderConfig) and not config.transcribes:
        findings.add(("brain", "llm", "transcribe", "provider"), "writes no speech down; one of the kind openai may")
    embedder = settings.memory.embedder.provider
    if embedder != "none" and embedder not in known:
        findings.add(("memory", "embedder", "provider"), _no_provider(embedder, [*known, "none"]))


def _no_provider(name: str, known: Sequence[str]) -> str:
    return f'no provider is called "{name}"{did_you_mean(name, known)}; providers: {", ".join(known)}'


def jobs(settings: Settings, channels: Sequence[str], findings: Findings) -> None:
    """Every job has its own name, and an address that begins with a channel."""
    names: set[str] = set()
    for number, job in enumerate(settings.schedule.jobs):
        place = ("schedule", "jobs", number)
        if job.name in names:
            findings.add((*place, "name"), f'another job is already called "{job.name}"')
        names.add(job.name)
        if job.address().channel not in channels:
            hint = did_you_mean(job.address().channel, channels)
            findings.add_value((*place, "to"), "the address does not begin with a channel", hint)


def addresses(shelf: str, entries: Mapping[str, Entry], findings: Findings) -> None:
    """No address holds a password, and what listens beyond this machine has a token."""
    for name, entry in entries.items():
        for key in ("base_url", "api_base"):
            if holds_credentials(str(getattr(entry.config, key, ""))):
                findings.add((shelf, name, key), NO_CREDENTIALS)
        host, token = getattr(entry.config, "host", None), getattr(entry.config, "token", None)
        if isinstance(host, str) and isinstance(token, SecretStr):
            _listener((shelf, name, "host"), host, token, findings)


def _listener(place: Place, host: str, token: SecretStr, findings: Findings) -> None:
    try:
        checked_host(host)
    except ValueError as error:
        findings.add_value(place, str(error))
        return
    if not is_loopback(host) and not token.get_secret_value():
        findings.add(place, "others can reach this address, so a token is needed; or write 127.0.0.1")


def paths(settings: Settings, findings: Findings) -> None:
    """Nothing stands where a folder or a file is wanted, and what was named on purpose is there. A path that no system
    takes is one that is not there (``Path.is_file`` and its like would raise)."""
    folders: list[tuple[Place, Path]] = [(("data_dir",), settings.data_dir)]
    folders.append((("tools", "files", "root"), settings.tools.files.root))
    folders += [(("skills", number), folder) for number, folder in enumerate(settings.skills)]
    for place, folder in folders:
        if os.path.isfile(folder):
            findings.add_value(place, "must be a folder, and a file has this name")
        elif place[0] == "skills" and not os.path.isdir(folder) and folder.name != "skills":
            findings.add_value(place, "there is no such folder")
    if os.path.isdir(settings.soul):
        findings.add_value(("soul",), "must be a file, and a folder has this name")
    elif not os.path.exists(settings.soul) and settings.soul.name != "SOUL.md":
        findings.add_value(("soul",), "there is no such file")
    encoder = settings.memory.reranker.cross_encoder
    if encoder and not os.path.exists(encoder):
        findings.add_value(("memory", "reranker", "cross_encoder"), "there is no such file or folder")
