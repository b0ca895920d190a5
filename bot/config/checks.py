"""What only shows when the sections are seen together: models without a provider, jobs without a channel, files where
folders should be."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from bot.config.loaded import Entry, answers_nearby
from bot.config.model_entry import ModelEntry
from bot.config.hints import did_you_mean
from bot.config.problems import Findings, Place
from bot.config.sections import Settings


def entries(settings: Settings) -> Iterator[tuple[Place, ModelEntry]]:
    """Every model entry of the file with the place where it stands."""
    llm: Place = ("brain", "llm")
    routing = settings.brain.llm.routing
    yield (*llm, "default"), settings.brain.llm.default
    if routing.classify_model:
        yield (*llm, "routing", "classify_model"), routing.classify_model
    for number, rule in enumerate(routing.rules):
        yield (*llm, "routing", "rules", number), rule
    for number, entry in enumerate(settings.brain.llm.fallback):
        yield (*llm, "fallback", number), entry
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
    for path, entry in entries(settings):
        if entry.provider not in known:
            findings.add((*path, "provider"), _no_provider(entry.provider, known))
    for number, rule in enumerate(settings.brain.llm.routing.rules):
        if rule.private and rule.provider in providers and not answers_nearby(rule.ref(), providers):
            path = ("brain", "llm", "routing", "rules", number, "private")
            findings.add(path, "a private rule must name a model that runs on this machine or in its own network")
    embedder = settings.memory.embedder.provider
    if embedder != "none" and embedder not in known:
        findings.add(("memory", "embedder", "provider"), _no_provider(embedder, [*known, "none"]))


def _no_provider(name: str, known: Sequence[str]) -> str:
    return f"no provider has this name{did_you_mean(name, known)} (there are: {', '.join(known)})"


def jobs(settings: Settings, channels: Sequence[str], findings: Findings) -> None:
    """Every job's address begins with a channel that exists."""
    for number, job in enumerate(settings.schedule.jobs):
        if job.address().channel not in channels:
            hint = did_you_mean(job.address().channel, channels)
            findings.add(("schedule", "jobs", number, "to"), f"the address names no channel{hint}")


def paths(settings: Settings, findings: Findings) -> None:
    """Nothing stands where a folder or a file is wanted. What is merely absent is made later, or told by ``doctor``."""
    folders: list[tuple[Place, Path]] = [(("data_dir",), settings.data_dir)]
    folders.append((("tools", "files", "root"), settings.tools.files.root))
    folders += [(("skills", number), folder) for number, folder in enumerate(settings.skills)]
    for path, folder in folders:
        if folder.is_file():
            findings.add(path, "must be a folder, and a file has this name")
    if settings.soul.is_dir():
        findings.add(("soul",), "must be a file, and a folder has this name")
