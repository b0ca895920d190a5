"""The systemd units that come with Bowerbird: how one is fitted to a machine, and which files on it are ours to change."""

from __future__ import annotations

import hashlib
import os
import pwd
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.config.starter import write_atomically
from bot.core.errors import BowerbirdError

NAME: Final = "bowerbird.service"
STATE_FOLDER: Final = Path("/var/lib/bowerbird")
"""What ``StateDirectory=bowerbird`` is."""
CREDENTIALS: Final = Path("/etc/credstore")
"""Where systemd looks for credentials without a path (``systemd.exec(5)``); a missing one is skipped."""
HOMES: Final = (Path("/home"), Path("/root"), Path("/run/user"))
"""What ``ProtectHome=yes`` hides."""

_STAMP: Final = re.compile(r"# Written by `bowerbird service install` \(sha256 (?P<sum>[0-9a-f]{64})\)[^\n]*\n")


@dataclass(frozen=True, slots=True)
class Account:
    """Who the service runs as. ``name`` "" is an account that systemd makes up while it runs (``DynamicUser=``)."""

    name: str = ""
    uid: int = -1
    gid: int = -1

    @classmethod
    def of(cls, file: Path) -> Account:
        """Whoever owns the file; root's service gets an account of its own."""
        owner = file.stat().st_uid
        if owner == 0:
            return cls()
        try:
            entry = pwd.getpwuid(owner)
        except KeyError:
            raise BowerbirdError(f"{file} belongs to nobody that this machine knows: chown it first") from None
        return cls(entry.pw_name, entry.pw_uid, entry.pw_gid)

    def reaches(self, path: Path) -> bool:
        """Whether the account may pass through every folder on the way to ``path`` and read it."""
        return self._may(path, 4) and all(self._may(folder, 1) for folder in path.parents)

    def _may(self, path: Path, bit: int) -> bool:
        """By owner, group and others, as the kernel looks; access control lists are not read."""
        try:
            found = path.stat()
        except OSError:
            return False
        shift = 6 if found.st_uid == self.uid else 3 if found.st_gid == self.gid else 0
        return bool(found.st_mode >> shift & bit)


@dataclass(frozen=True, slots=True)
class Plan:
    """What goes into a unit. ``command`` starts the daemon, ``folder`` is where ("" for the root folder); ``writable``
    are the folders that it changes, ``credentials`` the names of its secrets; ``in_home``: something that it needs
    lies below a home folder. ``account`` None is the unit of one person (``systemctl --user``)."""

    command: Sequence[str]
    account: Account | None
    writable: Sequence[Path] = ()
    credentials: Sequence[str] = ()
    in_home: bool = False
    folder: str = ""

    def unit(self) -> str:
        """The text of the unit file, stamped so that later changes by hand are noticed."""
        start = [f"WorkingDirectory={_specifiers(self.folder)}"] if self.folder else []
        lines = {
            "ExecStart": [*start, f"ExecStart={' '.join(quoted(word.replace('$', '$$')) for word in self.command)}"]
        }
        if self.account is not None:
            lines["LoadCredential"] = [f"LoadCredential={name}:bowerbird.{name}" for name in self.credentials]
            lines |= {"ProtectHome": ["ProtectHome=read-only"]} if self.in_home else {}
        if self.account is not None and self.account.name:
            writable = " ".join(quoted(str(path)) for path in self.writable)
            lines |= {
                "DynamicUser": [f"User={self.account.name}", f"ReadWritePaths={writable}"],
                "StateDirectory": [],
                "StateDirectoryMode": [],
                "Environment": ["Environment=XDG_CACHE_HOME=%C/bowerbird XDG_RUNTIME_DIR=%t/bowerbird"],
            }
        return _stamped(_with(_template(user=self.account is None), lines))


def quoted(word: str) -> str:
    """A word of a list, as systemd reads it (``systemd.syntax(7)``)."""
    plain = _specifiers(word)
    if re.fullmatch(r"[A-Za-z0-9_./:@%$+=,-]+", plain):
        return plain
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def write(file: Path, text: str, *, force: bool) -> bool:
    """False when the file already says this. Raises ``BowerbirdError`` when somebody changed it and not ``force``."""
    old = _read(file)
    if old == text:
        return False
    if old is not None and not force and not _untouched(old):
        raise BowerbirdError(
            f"{file} was changed by hand or is not ours: keep your changes with `systemctl edit`, or replace it with --force"
        )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text, 0o644)
    except OSError as error:
        raise BowerbirdError(f"{file} cannot be written: {error.strerror}") from None
    return True


def remove(file: Path, *, force: bool) -> None:
    """Raises ``BowerbirdError`` when there is nothing to remove, when it is still enabled, or not ours and not ``force``."""
    old = _read(file)
    if old is None:
        raise BowerbirdError(f"there is no {file}")
    if any(file.parent.glob(f"*.wants/{file.name}")):
        raise BowerbirdError(
            "the service is still enabled: `systemctl disable --now bowerbird` first (--user for your own)"
        )
    if not force and not _untouched(old):
        raise BowerbirdError(f"{file} was changed by hand or is not ours: take it out with --force")
    try:
        file.unlink()
    except OSError as error:
        raise BowerbirdError(f"{file} cannot be removed: {error.strerror}") from None


def make_folders(account: Account, folders: Sequence[Path]) -> None:
    """Make those that are missing, each the account's own. Raises ``BowerbirdError``."""
    for folder in folders:
        if folder.exists():
            continue
        try:
            folder.mkdir(mode=0o700, parents=True)
            os.chown(folder, account.uid, account.gid)
        except OSError as error:
            raise BowerbirdError(f"{folder} cannot be made: {error.strerror}") from None


def _template(*, user: bool) -> str:
    """As it comes with Bowerbird, in the package or in its source tree, without the words for those who copy it."""
    inside = Path(__file__).parent / "systemd"
    folder = inside if inside.exists() else Path(__file__).parents[2] / "systemd"
    text = (folder / "user" / NAME if user else folder / NAME).read_text(encoding="utf-8")
    return text[text.index("[Unit]") :]


def _with(template: str, lines: Mapping[str, Sequence[str]]) -> str:
    """``template`` with the settings named in ``lines`` replaced, where the first of each stands."""
    left, result = dict(lines), list[str]()
    for line in template.splitlines():
        key = line.partition("=")[0]
        if key in lines:
            result += left.pop(key, ())
        else:
            result.append(line)
    return "\n".join(result) + "\n"


def _specifiers(text: str) -> str:
    return text.replace("%", "%%")


def _stamped(text: str) -> str:
    total = hashlib.sha256(text.encode()).hexdigest()
    return f"# Written by `bowerbird service install` (sha256 {total}); change it with `systemctl edit`.\n{text}"


def _untouched(text: str) -> bool:
    stamp = _STAMP.match(text)
    return stamp is not None and hashlib.sha256(text[stamp.end() :].encode()).hexdigest() == stamp["sum"]


def _read(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BowerbirdError(f"{file} cannot be read: {error.strerror}") from None
