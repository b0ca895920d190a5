"""What ``bowerbird doctor`` says about a configuration that can be read: what is on, what is missing, what to do."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel

from bot.config.checks import model_entries
from bot.config.discover import NOT_BUILT
from bot.config.loaded import Config, Entry, holds_secret, secret_fields
from bot.config.problems import dotted, every_problem
from bot.core.errors import ConfigError
from bot.inbox.access import Access

Level = Literal["ok", "warn", "fail"]
_MARKS: Final[dict[Level, str]] = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}
_PLACEHOLDERS: Final = frozenset(
    {
        *("changeme", "change-me", "secret", "token", "xxx", "todo", "undefined", "null", "none", "true", "false"),
        *("your-token", "your_token", "yourtoken", "your-api-key", "your_api_key", "api_key"),
        *("sk-...", "***", "…", "...", "<token>", "<key>"),
    }
)
_RUNS_PROGRAMS: Final = ("shell",)
_REFUSES_TEMPERATURE: Final = frozenset({"anthropic"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor. ``advice`` says what to do; "" when nothing needs doing."""

    level: Level
    area: str
    line: str
    advice: str = ""

    def __str__(self) -> str:
        tail = f"\n      -> {self.advice}" if self.advice else ""
        return f"{_MARKS[self.level]}  {self.area}: {self.line}{tail}"


Check = Callable[[Config], Iterable[Finding]]
"""What another room adds: the store, the vectors, the embedder, the local model."""
OnlineCheck = Callable[[Config], Awaitable[Iterable[Finding]]]


async def check(config: Config, more: Sequence[Check] = (), online: Sequence[OnlineCheck] = ()) -> list[Finding]:
    """Every finding, area by area. Touches the network only through ``online``."""
    findings = [*_config(config), *_tokens(config), *_channels(config), *_providers(config)]
    for further in more:
        findings += further(config)
    for distant in online:
        findings += await distant(config)
    return findings


def refused(error: ConfigError) -> list[Finding]:
    """The findings about a configuration that cannot be read."""
    return [Finding("fail", "config", line, "correct this line") for line in every_problem(error)]


def failed(findings: Iterable[Finding]) -> bool:
    return any(finding.level == "fail" for finding in findings)


def as_json(findings: Iterable[Finding]) -> str:
    """``{"ok": …, "findings": [{"level", "area", "line", "advice"}]}``."""
    listed = list(findings)
    body = {"ok": not failed(listed), "findings": [asdict(finding) for finding in listed]}
    return json.dumps(body, ensure_ascii=False, indent=2)


def _config(config: Config) -> Iterator[Finding]:
    if config.file is None:
        yield Finding("warn", "config", "there is no config.yaml; the defaults are used", "run `bowerbird init`")
    else:
        yield Finding("ok", "config", f"{config.file} is sound")
    yield from _readable_by_others(config)
    yield _data_folder(config.data_dir)
    if not config.soul.exists():
        yield Finding("warn", "config", f"{config.soul} does not exist; a short built-in text is used", "write one")
    for path in config.memory.knowledge:
        if not path.exists():
            yield Finding("warn", "config", f"knowledge: {path} does not exist", "correct the path, or make it")
    yield from _approvals(config)
    yield from _programs(config)
    yield _clockwork(config)
    yield from _jobs(config)


def _readable_by_others(config: Config) -> Iterator[Finding]:
    """Files that hold secrets and that other users of the machine may read."""
    secrets = [secret for secret in config.secrets() if len(secret) > 3]
    for file in (config.base / ".env", config.file):
        if file is None or not file.is_file() or not file.stat().st_mode & 0o077:
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        if any(secret in text for secret in secrets):
            yield Finding("warn", "config", f"{file} holds a secret and others may read it", f"chmod 600 {file}")


def _data_folder(folder: Path) -> Finding:
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if os.access(nearest, os.W_OK | os.X_OK):
        return Finding("ok", "config", f"data goes to {folder}")
    return Finding("fail", "config", f"{nearest} cannot be written", "give the bot's user this folder, or set data_dir")


def _approvals(config: Config) -> Iterator[Finding]:
    patterns = list(config.tools.approve)
    for number, pattern in enumerate(patterns):
        earlier = next((other for other in patterns[:number] if fnmatchcase(pattern, other)), None)
        if earlier is not None:
            line = f'tools.approve: "{pattern}" is never reached, because "{earlier}" stands above it'
            yield Finding("warn", "config", line, "put the narrower pattern first")
        elif config.tools.approve[pattern] == "allow" and any(fnmatchcase(tool, pattern) for tool in _RUNS_PROGRAMS):
            line = f'tools.approve: "{pattern}": allow lets a model run any program without asking'
            yield Finding("warn", "config", line, "write ask, unless you mean it")


def _programs(config: Config) -> Iterator[Finding]:
    if config.tools.shell.sandbox == "none":
        yield Finding(
            "warn", "config", "tools.shell.sandbox: none runs commands with the bot's own rights", "write bubblewrap"
        )
    elif shutil.which("bwrap") is None:
        yield Finding("warn", "config", "bubblewrap is not installed; the shell tool stays off", "install bubblewrap")
    commands = [(f"hooks[{number}]", hook.command[0]) for number, hook in enumerate(config.hooks)]
    commands += [
        (f"tools.mcp.{name}", server.command[0]) for name, server in config.tools.mcp.items() if server.command
    ]
    for place, program in commands:
        if shutil.which(str(config.base / program) if "/" in program else program) is None:
            yield Finding(
                "warn", "config", f"{place}: the program {program} is not found", "install it, or give its path"
            )
    for number, hook in enumerate(config.hooks):
        if not hook.trusted:
            yield Finding("warn", "config", f"hooks[{number}] does not run", "read it, then add trusted: true")


def _clockwork(config: Config) -> Finding:
    """The effective schedule in one line, so that what runs by itself is never a surprise."""
    distill = config.memory.distill
    nightly = f'at "{distill.nightly}"' if distill.nightly else "never at night"
    after = "after turns" if distill.after_turn else "not after turns"
    quiet = config.schedule.quiet_hours or "none"
    line = f"memory is distilled {after} and {nightly}; quiet hours {quiet}; jobs: {len(config.schedule.jobs)}"
    return Finding("ok", "config", line)


def _jobs(config: Config) -> Iterator[Finding]:
    for job in config.schedule.jobs:
        channel = config.channels.get(job.address().channel)
        if channel is None or not channel.on:
            line = f'the job "{job.name}" writes to {job.address().channel}, which is off'
            yield Finding("warn", "config", line, "switch the channel on, or change the job's to:")


def _tokens(config: Config) -> Iterator[Finding]:
    for shelf, entries in (("channels", config.channels), ("providers", config.providers)):
        for name, entry in entries.items():
            for key, secret in secret_fields(entry.config):
                if secret.get_secret_value().lower() in _PLACEHOLDERS:
                    line = f"{shelf}.{name}.{key} holds a word that stands for a secret, not a secret"
                    yield Finding("fail", "tokens", line, "put the real one there, or leave it empty")


def _channels(config: Config) -> Iterator[Finding]:
    for name, entry in config.channels.items():
        if entry.on:
            yield Finding("ok", "channels", f"{name} is on{_who(entry.config)}", _nobody(name, entry.config))
        else:
            yield _off("channels", name, entry)
    if not any(entry.on for name, entry in config.channels.items() if name != "terminal"):
        yield Finding("fail", "channels", "no channel is on", "give one a token, or add web: {} under channels")


def _off(area: str, name: str, entry: Entry) -> Finding:
    """Off for want of a secret is a choice; off in spite of one needs a look."""
    wanted = holds_secret(entry.config) or (entry.missing == NOT_BUILT and not list(secret_fields(entry.config)))
    line = f"{name} is off. {entry.missing}"
    if not wanted:
        return Finding("ok", area, line)
    advice = "use a version that has it" if entry.missing == NOT_BUILT else "see the sentence above"
    return Finding("warn", area, line, advice)


def _who(config: BaseModel) -> str:
    access = getattr(config, "access", None)
    if not isinstance(access, Access):
        return ""
    lists = {"owners": access.owners, "users": access.users, "groups": access.groups}
    said = [f"{name} {'anyone' if '*' in ids else ', '.join(ids) or 'nobody'}" for name, ids in lists.items()]
    return f" ({'; '.join(said)}; pairing {'on' if access.pairing else 'off'})"


def _nobody(name: str, config: BaseModel) -> str:
    access = getattr(config, "access", None)
    if isinstance(access, Access) and not (access.owners or access.users or access.pairing):
        return f"nobody may talk to it: add an id to channels.{name}.access.owners, or set pairing: true"
    return ""


def _providers(config: Config) -> Iterator[Finding]:
    used = {entry.provider for _, entry in model_entries(config)}
    for name, entry in config.providers.items():
        area = "local model" if entry.kind == "local" else "providers"
        if entry.on:
            yield Finding("ok", area, f"{name} can be used")
        elif name in used:
            advice = _key_advice(name, entry)
            yield Finding("warn", area, f"models of {name} are skipped. {entry.missing}", advice)
        else:
            yield _off(area, name, entry)
    for place, model in model_entries(config):
        kind = config.providers[model.provider].kind if model.provider in config.providers else ""
        if model.temperature is not None and kind in _REFUSES_TEMPERATURE:
            line = f"{dotted(place)}.temperature is dropped: {kind} refuses it"
            yield Finding("warn", "providers", line, "remove it, or use another vendor")
    yield _chain(config)


def _key_advice(name: str, entry: Entry) -> str:
    empty = [key for key, secret in secret_fields(entry.config) if not secret.get_secret_value()]
    return f"set providers.{name}.{empty[0]}, or {name.upper()}_{empty[0].upper()} in .env" if empty else "see above"


def _chain(config: Config) -> Finding:
    llm = config.brain.llm
    chain = [str(entry.ref()) for entry in (llm.default, *llm.fallback) if config.usable(entry.ref())]
    if chain:
        return Finding("ok", "providers", f"models are tried in this order: {', '.join(chain)}, then the local model")
    return Finding("warn", "providers", "only the local model answers", "give a provider its key, then see README.md")
