"""What this machine has to spare."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_MEMINFO: Final = Path("/proc/meminfo")
_CGROUP: Final = Path("/sys/fs/cgroup")


def free_memory_bytes(meminfo: Path = _MEMINFO, cgroup: Path = _CGROUP) -> int | None:
    """Memory that a new process may use: what the kernel calls available, or less inside a container with a limit
    (cgroup v2). None where the system does not tell."""
    known = [free for free in (_available(meminfo), _container(cgroup)) if free is not None]
    return min(known, default=None)


def _available(meminfo: Path) -> int | None:
    try:
        lines = meminfo.read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def _container(cgroup: Path) -> int | None:
    try:
        limit, used = (int((cgroup / name).read_text()) for name in ("memory.max", "memory.current"))
        stat = dict(line.split() for line in (cgroup / "memory.stat").read_text().splitlines())
        return max(0, limit - used + int(stat["inactive_file"]))  # cached files make way
    except (OSError, ValueError, KeyError):  # no such files, or the limit is "max"
        return None
