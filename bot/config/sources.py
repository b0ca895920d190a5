"""Which files a configuration is read from, and what the environment adds to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bot.config.dotenv import read_dotenv
from bot.config.expand import Expansion
from bot.config.packaged import packaged
from bot.config.problems import Findings
from bot.config.yaml_source import read_yaml
from bot.core.errors import ConfigError

FILE_NAME: Final = "config.yaml"
HOME_PLACE: Final = Path(".config/bowerbird") / FILE_NAME


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read: its ``tree`` with every variable expanded, what is wrong so far, and the environment it
    was read in (``.env`` included). ``file`` is None when the defaults were read instead."""

    file: Path | None
    base: Path
    home: Path
    tree: dict[str, Any]
    findings: Findings
    env: Mapping[str, str]
    used: Mapping[str, str] = field(default_factory=dict)


def locate(path: Path | None, env: Mapping[str, str], cwd: Path) -> Path | None:
    """The file to read: ``path``, else ``./config.yaml``, else ``~/.config/bowerbird/config.yaml``, else None.

    A ``path`` that was asked for must exist; raises ``ConfigError``.
    """
    if path is not None:
        if not (cwd / path).exists():
            raise ConfigError("this file does not exist; `bowerbird init` writes one", file=str(path))
        return path
    places = [Path(FILE_NAME), home_of(env) / HOME_PLACE]
    return next((place for place in places if (cwd / place).exists()), None)


def home_of(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or Path.home())


def read_source(path: Path | None, env: Mapping[str, str], cwd: Path) -> Source:
    """Read the file and the ``.env`` beside it. Without a file, the defaults that come with Bowerbird, from ``cwd``."""
    file = locate(path, env, cwd)
    base = (cwd / file).absolute().parent if file else cwd.absolute()
    findings = Findings(str(file) if file else FILE_NAME)
    dotenv = Findings(str(file.parent / ".env") if file else ".env")
    beside = base / ".env"
    variables = {**(read_dotenv(_read(beside, dotenv.file), dotenv) if beside.is_file() else {}), **env}
    tree = read_yaml(_read(cwd / file, findings.file) if file else packaged(FILE_NAME).encode(), findings)
    findings.written = tree
    expansion = Expansion(variables, findings)
    expanded = expansion.tree(tree)
    findings.problems[:0] = dotenv.problems
    return Source(file, base, home_of(env), expanded, findings, variables, expansion.used)


def _read(file: Path, shown: str) -> bytes:
    try:
        return file.read_bytes()
    except IsADirectoryError:
        raise ConfigError("this is a folder, not a file", file=shown) from None
    except PermissionError:
        raise ConfigError(
            "this file may not be read: give the user that runs Bowerbird the right to", file=shown
        ) from None
    except OSError as error:
        raise ConfigError(f"this file cannot be read: {error.strerror}", file=shown) from None
