"""What ``bowerbird doctor`` says about a configuration that can be read: what is on, what is missing, what to do."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel

from bot.config.checks import model_entries
from bot.config.loaded import Config, Entry, holds_secret, secret_fields
from bot.config.problems import dotted, every_problem
from bot.config.unread import UNREAD, unread_and_set
from bot.core.errors import ConfigError
from bot.core.model import ModelRef
from bot.inbox.access import Access
from bot.providers.settings import ProviderConfig
from bot.tools.web import WebSettings, missing_for_reading, missing_for_searching

Level = Literal["ok", "warn", "fail"]
_MARKS: Final[dict[Level, str]] = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}
_PLACEHOLDERS: Final = frozenset(
    {
        *("changeme", "change-me", "secret", "token", "xxx", "todo", "undefined", "null", "none", "true", "false"),
        *("your-token", "your_token", "yourtoken", "your-api-key", "your_api_key", "api_key"),
        *("sk-...", "***", "…", "...", "<token>", "<key>"),
    }
)
_INSTALL: Final = re.compile(r"pip install '[^']+'|pip install \S+")
LITTLE_BYTES: Final = 300_000_000
NOTHING_BYTES: Final = 10_000_000
"""Free on the disk: below the first a few weeks of files and logs, below the second not even a day of messages."""
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
    advice = "correct this line" if error.line is not None else ""
    return [Finding("fail", "config", line, advice) for line in every_problem(error)]


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
    yield from _data_folder(config.data_dir)
    if not config.soul.exists():
        yield Finding("warn", "config", f"{config.soul} does not exist; a short built-in text is used", "write one")
    for path in config.memory.knowledge:
        if not path.exists():
            yield Finding("warn", "config", f"knowledge: {path} does not exist", "correct the path, or make it")
    yield from _approvals(config)
    yield from _programs(config)
    yield from _jobs(config)
    yield from _unread(config)


def _readable_by_others(config: Config) -> Iterator[Finding]:
    """Files that hold secrets and that other users of the machine may read."""
    secrets = [secret for secret in config.secrets() if len(secret) > 3]
    for file in (config.base / ".env", config.file):
        if file is None or not file.is_file() or not file.stat().st_mode & 0o077:
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        if any(secret in text for secret in secrets):
            yield Finding("warn", "config", f"{file} holds a secret and others may read it", f"chmod 600 {file}")


def _data_folder(folder: Path) -> Iterator[Finding]:
    nearest = next(parent for parent in (folder, *folder.parents) if os.path.lexists(parent))
    try:
        with suppress(FileNotFoundError):
            os.lstat(folder)
        os.rmdir(tempfile.mkdtemp(prefix=".bowerbird-", dir=nearest))
        free = shutil.disk_usage(nearest).free
    except NotADirectoryError:
        yield Finding("fail", "config", f"{nearest} is not a folder", "set data_dir to one")
    except PermissionError:
        advice = "give the bot's user this folder, or set data_dir"
        yield Finding("fail", "config", f"{nearest} cannot be written", advice)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            yield from room(folder, 0)
            return
        advice = "set data_dir to a folder that can be made and written"
        yield Finding("fail", "config", f"{folder} cannot be made or written: {os.strerror(error.errno or 0)}", advice)
    else:
        yield Finding("ok", "config", f"data goes to {folder}")
        yield from room(folder, free)


def room(folder: Path, free: int) -> Iterator[Finding]:
    """``free`` bytes are left on the disk of the data folder."""
    if free < LITTLE_BYTES:
        line = f"the disk of {folder} is nearly full: {free // 1_000_000} MB are free"
        advice = "free some space there: a message that cannot be stored is not answered"
        yield Finding("fail" if free < NOTHING_BYTES else "warn", "config", line, advice)


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
    for missing in (missing_for_reading(), missing_for_searching(WebSettings(**config.tools.web.model_dump()))):
        if missing:
            yield Finding("warn", "config", missing, 'pip install "bowerbird[web]"')
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


def _jobs(config: Config) -> Iterator[Finding]:
    for job in config.schedule.jobs:
        channel = config.channels.get(job.address().channel)
        if channel is None or not channel.on:
            line = f'the job "{job.name}" writes to {job.address().channel}, which is off'
            yield Finding("warn", "config", line, "switch the channel on, or change the job's to:")


def _unread(config: Config) -> Iterator[Finding]:
    """Settings that promise what this version does not do yet."""
    relied_on = unread_and_set(config)
    for key in relied_on:
        yield Finding("warn", "config", f"{key} is not built into this version: it has no effect", "do not rely on it")
    rest = ", ".join(key for key in UNREAD if key not in relied_on)
    if rest:
        yield Finding("ok", "config", f"not built into this version, and left as they are: {rest}")


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
    line = f"{name} is off. {entry.missing}"
    if not holds_secret(entry.config):
        return Finding("ok", area, line)
    return Finding("warn", area, line, _advice(area, name, entry))


def _advice(area: str, name: str, entry: Entry) -> str:
    """What to do about an entry that is off: the library first, since without it no key helps."""
    command = _INSTALL.search(entry.missing)
    if command:
        return f"run {command.group()}"
    empty = [key for key, secret in secret_fields(entry.config) if not secret.get_secret_value()]
    if not empty:
        return "see the sentence above"
    return f"set {area}.{name}.{empty[0]}, or {name.upper()}_{empty[0].upper()} in .env"


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
        if entry.on and (wrong := _wrong(entry)):
            yield Finding("fail", area, f"providers.{name}.{wrong}", "correct it, or take the line out")
        elif entry.on:
            yield Finding("ok", area, _set_up(name, entry))
        elif name in used:
            advice = _advice("providers", name, entry)
            yield Finding("warn", area, f"models of {name} are skipped. {entry.missing}", advice)
        else:
            yield _off(area, name, entry)
    for place, model in model_entries(config):
        kind = config.providers[model.provider].kind if model.provider in config.providers else ""
        if model.temperature is not None and kind in _REFUSES_TEMPERATURE:
            line = f"{dotted(place)}.temperature is dropped: {kind} refuses it"
            yield Finding("warn", "providers", line, "remove it, or use another vendor")
    yield _chain(config)


def _wrong(entry: Entry) -> str:
    return entry.config.wrong() if isinstance(entry.config, ProviderConfig) else ""


def _set_up(name: str, entry: Entry) -> str:
    """What is known without asking anybody: how it is set up, never that it works."""
    address = str(getattr(entry.config, "base_url", ""))
    if entry.kind == "local":
        own = getattr(entry.config, "path", None)
        return f"{name} is set up; its model is {own or 'fetched when it is needed'}"
    if entry.kind == "ollama":
        return f"{name} is used when Ollama runs at {address}; --online looks whether it does"
    key = "a key" if holds_secret(entry.config) else "no key"
    return f"{name} is set up with {key} for {address}; --online tries it"


def _chain(config: Config) -> Finding:
    """The local model is always the last, unless it is off; an Ollama that does not run is passed over."""
    llm = config.brain.llm
    local = [name for name, entry in config.providers.items() if entry.kind == "local" and entry.on]
    refs = [entry.ref() for entry in (llm.default, *llm.fallback) if config.usable(entry.ref())]
    chain = [f"{ref}{_if_it_runs(config, ref)}" for ref in refs if ref.provider not in local]
    if chain:
        last = ", then the local model" if local else ""
        return Finding("ok", "providers", f"models are tried in this order: {', '.join(chain)}{last}")
    if local:
        return Finding(
            "warn", "providers", "only the local model answers", "give a provider its key, then see README.md"
        )
    advice = "give a provider its key, or switch the local model on (providers: {local: {}})"
    return Finding("warn", "providers", "no model answers; commands such as /help still do", advice)


def _if_it_runs(config: Config, model: ModelRef) -> str:
    return " (if it runs)" if config.providers[model.provider].kind == "ollama" else ""
