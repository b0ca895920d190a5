"""``bowerbird service``: what it writes, what it refuses, and that it never takes away what somebody changed by hand."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bot.app.units import Account, Plan, quoted
from tests.cli.programs import bowerbird

CONFIG = "data_dir: data\nchannels: {terminal: {}}\n"
WITH_CREDENTIALS = """
data_dir: /var/lib/bowerbird
channels:
  web: {token_file: "${CREDENTIALS_DIRECTORY:-/run/credentials/bowerbird.service}/web_token"}
providers:
  openai: {api_key_file: "${CREDENTIALS_DIRECTORY}/openai_api_key"}
tools: {files: {root: /var/lib/bowerbird/workspace}}
"""

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root's files make a service with an account of its own")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "config.yaml"
    file.write_text(CONFIG)
    return file


class Person:
    """Somebody for whom a systemd runs, as far as the command can see."""

    def __init__(self, folder: Path, **more: str) -> None:
        self.unit = folder / "home" / "systemd" / "user" / "bowerbird.service"
        (folder / "run" / "systemd").mkdir(parents=True)
        self.environment = {"XDG_RUNTIME_DIR": str(folder / "run"), "XDG_CONFIG_HOME": str(folder / "home"), **more}

    def does(self, *words: object) -> subprocess.CompletedProcess[str]:
        return bowerbird("service", *map(str, words), "--user", **self.environment)


def lines(unit: str, key: str) -> list[str]:
    return [line.partition("=")[2] for line in unit.splitlines() if line.startswith(f"{key}=")]


def test_a_unit_starts_this_bowerbird_with_this_configuration(config: Path) -> None:
    done = bowerbird("service", "install", "--user", "--dry-run", "--config", config)
    assert (done.returncode, done.stderr) == (0, "")
    script = Path(sys.executable).with_name("bowerbird")
    start = f"{script}" if script.exists() else f"{sys.executable} -m bot"
    assert lines(done.stdout, "ExecStart") == [f"{start} run --config {config}"]
    assert lines(done.stdout, "Type") == ["notify"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
@pytest.mark.parametrize("user", [True, False])
def test_systemd_finds_nothing_wrong_with_what_is_written_even_for_odd_paths(tmp_path: Path, user: bool) -> None:
    folder = tmp_path / 'my $HOME 100% "é"'
    folder.mkdir()
    (folder / "config.yaml").write_text(CONFIG)
    mode = ["--user"] if user else []
    done = bowerbird("service", "install", *mode, "--dry-run", "--config", folder / "config.yaml")
    assert done.returncode == 0
    unit = tmp_path / "bowerbird.service"
    unit.write_text(done.stdout)
    checked = subprocess.run(
        ["systemd-analyze", *mode, "verify", str(unit)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, "")
    assert lines(done.stdout, "ExecStart")[0].endswith(f'"{tmp_path}/my $$HOME 100%% \\"é\\"/config.yaml"')


def test_the_credentials_of_the_configuration_and_no_others_are_loaded(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(WITH_CREDENTIALS)
    done = bowerbird("service", "install", "--dry-run", "--config", tmp_path / "config.yaml")
    assert done.returncode == 0
    assert lines(done.stdout, "LoadCredential") == [
        "openai_api_key:bowerbird.openai_api_key",
        "web_token:bowerbird.web_token",
    ]


def test_credentials_are_not_for_a_persons_own_service(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(WITH_CREDENTIALS)
    done = Person(tmp_path).does("install", "--config", tmp_path / "config.yaml")
    assert done.returncode == 1
    assert ".env" in done.stderr


@as_root
def test_a_configuration_of_roots_gets_an_account_of_its_own_that_writes_in_one_place(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(WITH_CREDENTIALS)
    sound = bowerbird("service", "install", "--dry-run", "--config", file)
    assert lines(sound.stdout, "DynamicUser") == ["yes"]
    assert lines(sound.stdout, "User") == lines(sound.stdout, "ReadWritePaths") == []
    assert "can only write" not in sound.stderr
    file.write_text(CONFIG)
    assert f"not {tmp_path}/data" in bowerbird("service", "install", "--dry-run", "--config", file).stderr


def test_a_configuration_of_a_persons_runs_as_that_person_and_may_write_its_own_folders(tmp_path: Path) -> None:
    plan = Plan(["/opt/b/bowerbird"], Account("ann", 1000, 1000), [Path("/srv/the data"), Path("/srv/w")], in_home=True)
    unit = plan.unit()
    assert lines(unit, "User") == ["ann"]
    assert lines(unit, "ReadWritePaths") == ['"/srv/the data" /srv/w']
    assert lines(unit, "ProtectHome") == ["read-only"]
    assert lines(unit, "DynamicUser") == lines(unit, "StateDirectory") == lines(unit, "LoadCredential") == []
    assert "HOME=%S" not in unit


def test_an_account_reaches_what_every_folder_on_the_way_lets_it_reach(tmp_path: Path) -> None:
    file = tmp_path / "closed" / "open" / "file"
    file.parent.mkdir(parents=True)
    file.touch(mode=0o644)
    mine, other = Account("me", file.stat().st_uid, file.stat().st_gid), Account("you", 4_000_000, 4_000_000)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        if folder.stat().st_uid == os.getuid() and folder.is_relative_to(tmp_path.parents[2]):
            folder.chmod(0o755)
    (tmp_path / "closed").chmod(0o700)
    assert mine.reaches(file) and not other.reaches(file)
    (tmp_path / "closed").chmod(0o711)
    assert other.reaches(file)
    file.chmod(0o600)
    assert mine.reaches(file) and not other.reaches(file)


def test_it_is_written_once_told_about_and_taken_out_again(tmp_path: Path, config: Path) -> None:
    person = Person(tmp_path)
    first = person.does("install", "--config", config)
    assert (first.returncode, first.stderr) == (0, "")
    assert f"written    {person.unit}" in first.stdout
    assert "systemctl --user enable --now bowerbird" in first.stdout
    text = person.unit.read_text()
    again = person.does("install", "--config", config)
    assert f"unchanged  {person.unit}" in again.stdout and person.unit.read_text() == text

    wants = person.unit.parent / "default.target.wants"
    wants.mkdir()
    (wants / person.unit.name).symlink_to(person.unit)
    enabled = person.does("uninstall")
    assert (enabled.returncode, person.unit.exists()) == (1, True)
    assert "disable --now" in enabled.stderr
    (wants / person.unit.name).unlink()
    gone = person.does("uninstall")
    assert (gone.returncode, person.unit.exists()) == (0, False)
    assert "daemon-reload" in gone.stdout
    assert person.does("uninstall").returncode == 1


def test_a_unit_that_was_changed_by_hand_is_kept_without_force(tmp_path: Path, config: Path) -> None:
    person = Person(tmp_path)
    person.does("install", "--config", config)
    mine = person.unit.read_text().replace("WatchdogSec=90", "WatchdogSec=200")
    person.unit.write_text(mine)
    for words in (("install", "--config", config), ("uninstall",)):
        refused = person.does(*words)
        assert refused.returncode == 1 and "changed by hand" in refused.stderr
        assert person.unit.read_text() == mine
    assert person.does("install", "--force", "--config", config).returncode == 0
    assert "WatchdogSec=90" in person.unit.read_text()


def test_a_unit_of_ours_that_nobody_changed_is_brought_up_to_date(tmp_path: Path, config: Path) -> None:
    person = Person(tmp_path)
    person.does("install", "--config", config)
    moved = tmp_path / "moved.yaml"
    config.rename(moved)
    assert person.does("install", "--config", moved).returncode == 0
    assert str(moved) in person.unit.read_text()


def test_where_no_systemd_runs_it_says_so_and_writes_nothing(tmp_path: Path, config: Path) -> None:
    person = Person(tmp_path)
    (tmp_path / "run" / "systemd").rmdir()
    done = person.does("install", "--config", config)
    assert (done.returncode, person.unit.exists()) == (1, False)
    assert "no systemd runs for you" in done.stderr
    if Path("/run/systemd/system").is_dir() and os.geteuid() == 0:
        pytest.skip("here it would be installed")
    machine = bowerbird("service", "install", "--config", config)
    assert machine.returncode == 1
    assert "systemd" in machine.stderr or "needs root" in machine.stderr


def test_a_configuration_that_is_wrong_or_missing_is_78(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(WITH_CREDENTIALS + "nmae: x\n")
    wrong = bowerbird("service", "install", "--dry-run", "--config", tmp_path / "config.yaml")
    assert wrong.returncode == 78 and "nmae" in wrong.stderr
    missing = bowerbird("service", "install", "--dry-run", "--config", tmp_path / "nothing.yaml")
    assert missing.returncode == 78


@pytest.mark.parametrize("words", [[], ["dance"], ["install", "now"], ["uninstall", "--config", "x"]])
def test_wrong_usage_is_2(words: list[str]) -> None:
    assert bowerbird("service", *words).returncode == 2


def test_it_speaks_the_language_of_the_terminal(tmp_path: Path, config: Path) -> None:
    person = Person(tmp_path, LC_ALL="zh_CN.UTF-8")
    assert "已写入" in person.does("install", "--config", config).stdout


@pytest.mark.parametrize(
    ("word", "written"), [("/a/b", "/a/b"), ("/a b", '"/a b"'), ('/a"\\', '"/a\\"\\\\"'), ("/50%", "/50%%")]
)
def test_words_are_quoted_as_systemd_reads_them(word: str, written: str) -> None:
    assert quoted(word) == written
