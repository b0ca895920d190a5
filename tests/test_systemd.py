"""The units that come with Bowerbird: sound, confined, in step with the daemon's own limits, and with room for a sandbox."""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.app import notify, supervision
from bot.app.daemon import DRAIN_SECONDS
from bot.app.supervision import CLOSE_SECONDS
from bot.cli.signals import LAST_RESORT
from bot.core.errors import ConfigError
from bot.store.database import BUSY_SECONDS
from bot.web.server import GRACE

ROOT = Path(__file__).parents[1]
SYSTEM = ROOT / "systemd" / "bowerbird.service"
USER = ROOT / "systemd" / "user" / "bowerbird.service"
MARGIN_SECONDS = 5.0

units = pytest.mark.parametrize("file", [SYSTEM, USER], ids=["system", "user"])
analyze = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")


def settings(file: Path) -> dict[str, list[str]]:
    """Every value of every setting, in order."""
    found: dict[str, list[str]] = {}
    for line in file.read_text("utf-8").splitlines():
        if "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


def one(file: Path, key: str) -> str:
    [value] = settings(file)[key]
    return value


def seconds(file: Path, key: str) -> float:
    return float(one(file, key))


@analyze
@units
def test_systemd_finds_nothing_wrong_with_it(file: Path, tmp_path: Path) -> None:
    mode = ["--user"] if file == USER else []
    done = subprocess.run(
        ["systemd-analyze", *mode, "verify", str(file)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@analyze
def test_the_exposure_stays_below_three() -> None:
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=29", str(SYSTEM)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"Overall exposure level for bowerbird.service: (\d+\.\d)", done.stdout)
    assert found is not None and float(found[1]) < 3.0
    assert done.returncode == 0


@units
def test_b251_every_limit_leaves_room_for_the_one_inside_it(file: Path) -> None:
    stop, watchdog = seconds(file, "TimeoutStopSec"), seconds(file, "WatchdogSec")
    assert LAST_RESORT > DRAIN_SECONDS + CLOSE_SECONDS, (
        "the daemon must not leave by force while all is as it should be"
    )
    assert stop > max(LAST_RESORT, DRAIN_SECONDS + CLOSE_SECONDS + GRACE) + MARGIN_SECONDS
    assert watchdog > stop + MARGIN_SECONDS, "the watchdog must not strike while the daemon stops in order"
    assert watchdog / 2 > supervision.LOOK_SECONDS + CLOSE_SECONDS + notify.LOOK_SECONDS + MARGIN_SECONDS, (
        "a channel that hangs must have been started again before the watchdog strikes"
    )
    assert watchdog - (watchdog / 2 - notify.LOOK_SECONDS) > notify.STORE_SECONDS > 2 * BUSY_SECONDS, (
        "a store that waits for another program is not dead"
    )
    assert seconds(file, "TimeoutStartSec") > 10 * BUSY_SECONDS
    assert seconds(file, "TimeoutAbortSec") > MARGIN_SECONDS


@units
def test_it_is_started_again_after_a_failure_but_not_for_ever_and_not_for_a_wrong_configuration(file: Path) -> None:
    assert one(file, "Restart") == "on-failure"
    assert one(file, "RestartPreventExitStatus") == str(ConfigError.exit_status)
    window, burst = seconds(file, "StartLimitIntervalSec"), int(one(file, "StartLimitBurst"))
    assert burst * seconds(file, "RestartSec") < window, "the limit would never be reached"
    assert burst * seconds(file, "WatchdogSec") > window, "restarts by the watchdog alone must not end it"


@units
def test_it_speaks_the_protocol_of_the_daemon(file: Path) -> None:
    assert (one(file, "Type"), one(file, "NotifyAccess"), one(file, "KillMode")) == ("notify", "main", "mixed")
    assert one(file, "OOMPolicy") == "continue"
    assert one(file, "LimitCORE") == "0", "a core file would hold every token"


@units
def test_nothing_covers_a_part_of_proc_or_forbids_namespaces(file: Path) -> None:
    """Seen with systemd 252 and Linux 6.18: a covered /proc makes ``bwrap --proc`` fail, ``ProcSubset=pid`` any bwrap,
    ``RestrictNamespaces=~cgroup`` its ``--unshare-all``, ``MemoryDenyWriteExecute=yes`` ends Node at once."""
    found = settings(file)
    assert not {"ProtectKernelTunables", "ProtectKernelLogs", "ProcSubset"} & set(found)
    assert (one(file, "RestrictNamespaces"), one(file, "MemoryDenyWriteExecute")) == ("no", "no")
    assert set(one(file, "RestrictAddressFamilies").split()) == {"AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"}


SANDBOX = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/"]
SANDBOX += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "true"]
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM


def system_calls(words: str) -> set[str]:
    """The names of system calls that a list of names and @sets stands for."""
    found: set[str] = set()
    for word in words.split():
        if not word.startswith("@"):
            found.add(word)
            continue
        lines = subprocess.run(
            ["systemd-analyze", "syscall-filter", word], capture_output=True, text=True, check=True
        ).stdout
        found |= system_calls(" ".join(line.partition("#")[0] for line in lines.splitlines()[1:]))
    return found


def allowed(file: Path) -> set[str]:
    """What ``SystemCallFilter=`` lets through; the first line says that it is a list of what is allowed."""
    first, *more = settings(file)["SystemCallFilter"]
    result = system_calls(first) | system_calls("@default")
    for line in more:
        result = result - system_calls(line[1:]) if line.startswith("~") else result | system_calls(line)
    return result


def confined(names: set[str]) -> Callable[[], None]:
    """For ``preexec_fn``: from now on nothing but these, as systemd itself does it."""
    seccomp = ctypes.CDLL("libseccomp.so.2")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(seccomp.seccomp_init(REFUSE))
    for name in names:
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            assert seccomp.seccomp_rule_add(context, ALLOW, number, 0) == 0

    def confine() -> None:
        if seccomp.seccomp_load(context) != 0:
            os._exit(99)

    return confine


@pytest.fixture
def sandbox() -> Iterator[Callable[[set[str]], int]]:
    if not shutil.which("bwrap") or not shutil.which("systemd-analyze") or not ctypes.util.find_library("seccomp"):
        pytest.skip("bubblewrap, systemd-analyze and libseccomp are needed")
    if subprocess.run(SANDBOX, capture_output=True, check=False).returncode:
        pytest.skip("this machine grants no user namespaces")
    yield lambda names: subprocess.run(SANDBOX, preexec_fn=confined(names), capture_output=True, check=False).returncode


@units
def test_a_sandbox_can_be_made_under_its_system_call_filter(file: Path, sandbox: Callable[[set[str]], int]) -> None:
    names = allowed(file)
    assert sandbox(names) == 0
    assert sandbox(names - system_calls("@mount")) != 0, "the filter is not in force"
    assert not names & {"reboot", "swapon", "init_module", "settimeofday", "add_key", "bpf", "perf_event_open"}
