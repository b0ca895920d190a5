"""Real processes for the command line's tests: ``bowerbird`` itself, on a pseudo terminal or on pipes, and a house."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
CONTROL: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>78]|\r|\x1b[^A-Za-z]*$")
PATIENCE: Final = 20.0


def environment(**more: str) -> dict[str, str]:
    """Ours without what would change the program's ways."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NO_COLOR", "BOWERBIRD_LOG", "COLORTERM", "TERM")
    }
    return kept | {"PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1"} | more


def interruptible() -> None:
    """In a child before it starts: a suite that runs in the background has SIGINT ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def configured(folder: Path) -> Path:
    """A config file whose data folder is ``folder/data``."""
    file = folder / "config.yaml"
    file.write_text("data_dir: data\nchannels: {terminal: {}}\n")
    return file


def bowerbird(
    *arguments: str | Path, text: str = "", cwd: Path | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run to the end on pipes."""
    return subprocess.run(
        [sys.executable, "-m", "bot", *map(str, arguments)],
        input=text,
        capture_output=True,
        text=True,
        env=environment(**env),
        cwd=cwd,
        timeout=PATIENCE,
        check=False,
        preexec_fn=interruptible,
    )


@contextmanager
def a_house(data_dir: Path) -> Iterator[subprocess.Popen[bytes]]:
    """``tests.fakes.house`` as a process of its own, serving the control socket of ``data_dir``."""
    command = [sys.executable, "-m", "tests.fakes.house", str(data_dir)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env=environment(), cwd=ROOT, preexec_fn=interruptible
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"open\n"
            yield process
        finally:
            process.terminate()


def _on_its_terminal() -> None:
    interruptible()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Pty:
    """A program on a pseudo terminal. ``seen`` is all it ever wrote."""

    def __init__(
        self, command: list[str], cwd: Path, env: Mapping[str, str], rows: int = 24, columns: int = 80
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={"TERM": "xterm-256color"} | environment(**env),
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_on_its_terminal,
        )
        os.close(slave)
        self.seen = ""
        self._read_to = 0

    def __enter__(self) -> Pty:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)

    def send(self, text: str) -> None:
        os.write(self._master, text.encode())

    def expect(self, pattern: str) -> re.Match[str]:
        """Wait until ``pattern`` appears in what was written (without control sequences) after the last match."""
        until = time.monotonic() + PATIENCE
        while True:
            new = CONTROL.sub("", self.seen)[self._read_to :]
            if found := re.search(pattern, new):
                self._read_to += found.end()
                return found
            if time.monotonic() > until or not self._read(0.2):
                raise AssertionError(f"{pattern!r} did not appear in {new!r}")

    def leaves(self) -> int:
        """The exit status, once the program has ended by itself."""
        until = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < until:
            self._read(0.1)
        assert self.process.returncode is not None, f"it goes on: {self.seen[-500:]!r}"
        while self._read(0):
            pass
        return self.process.returncode

    def stays(self, seconds: float = 0.5) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._read(0.1)
        assert self.process.poll() is None, f"it ended: {self.seen[-500:]!r}"

    def cooked(self) -> bool:
        """True when the terminal echoes and edits lines again, as a shell expects it."""
        return bool(termios.tcgetattr(self._master)[3] & termios.ICANON)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def _read(self, seconds: float) -> bool:
        """False at the end of what can ever come."""
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return self.process.poll() is None
        try:
            data = os.read(self._master, 65536)
        except OSError:
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)
