from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from bot.cli.doctor import store_advice
from bot.core.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreReadOnly
from bot.store.repair import repair
from tests.cli.programs import a_house, bowerbird, configured


def every_finding(config: Path) -> list[dict[str, str]]:
    listed: list[dict[str, str]] = json.loads(bowerbird("doctor", "--json", "--config", config).stdout)["findings"]
    return listed


def findings(config: Path, *arguments: str) -> tuple[int, dict[str, dict[str, str]]]:
    """The exit status and the last finding of each area."""
    done = bowerbird("doctor", "--json", *arguments, "--config", config)
    assert done.stderr == ""
    return done.returncode, {finding["area"]: finding for finding in json.loads(done.stdout)["findings"]}


def test_a_running_daemon_is_found(tmp_path: Path) -> None:
    config = configured(tmp_path)
    with a_house(tmp_path / "data"):
        _, found = findings(config)
    assert (found["daemon"]["level"], found["daemon"]["line"]) == ("ok", "runs as process 1")


def test_a_damaged_store_is_a_failure_that_says_what_to_do_and_is_left_as_it_is(tmp_path: Path) -> None:
    config = configured(tmp_path)
    file = tmp_path / "data" / "bowerbird.db"
    file.parent.mkdir()
    file.write_bytes(b"SQLite format 3\0" + b"\xff" * 8192)
    status, found = findings(config)
    assert status == 1
    assert found["store"]["level"] == "fail"
    assert found["store"]["advice"]
    assert file.read_bytes().endswith(b"\xff" * 8192)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (StoreFull("x"), "free some space"),
        (StoreBusy("x"), "close the other program"),
        (StoreReadOnly("x"), "give the user that runs Bowerbird the folder"),
        (StoreDamaged("x"), "saves what it can"),
        (StoreError("x"), "see the sentence above"),
    ],
)
def test_each_trouble_with_the_store_has_its_own_remedy(error: StoreError, words: str) -> None:
    advice = store_advice(error)
    assert words in advice
    assert ("backup" in advice) is isinstance(error, StoreDamaged)


def test_a_store_that_was_damaged_is_told_for_as_long_as_it_is_kept(tmp_path: Path) -> None:
    config = configured(tmp_path)
    file = tmp_path / "data" / "bowerbird.db"
    file.parent.mkdir()
    file.write_bytes(b"SQLite format 3\0" + b"\xff" * 8192)
    loss = repair(file)
    assert loss is not None
    told = [one for one in every_finding(config) if str(loss.aside) in one["line"]]
    assert [one["level"] for one in told] == ["warn"] and "delete the folder" in told[0]["advice"]
    shutil.rmtree(loss.aside)
    assert not any("has been replaced" in one["line"] for one in every_finding(config))


def test_people_read_lines_with_advice_below_them(tmp_path: Path) -> None:
    done = bowerbird("doctor", "--config", configured(tmp_path))
    assert "ok    store: is made at the first start" in done.stdout
    assert "\n      -> " in done.stdout


def test_a_channel_that_nobody_owns_is_told_with_what_to_do(tmp_path: Path) -> None:
    config = configured(tmp_path)
    sound = 'telegram: {token: "1:a", api_base: "http://127.0.0.1:9"'
    for access, level, advice in (
        ("", "ok", "bowerbird pair approve CODE"),
        (", access: {pairing: false}", "warn", "channels.telegram.access.owners"),
        (", access: {owners: [7], pairing: false}", None, ""),
    ):
        config.write_text(f"data_dir: data\nchannels: {{terminal: {{}}, {sound}{access}}}}}\n")
        _, found = findings(config)
        assert found["people"]["level"] == level if level else "people" not in found
        assert not level or advice in found["people"]["advice"]
