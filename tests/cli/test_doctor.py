from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bot.cli.doctor import store_advice
from bot.core.address import Address, Sender
from bot.core.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreReadOnly
from bot.core.transcript import UserRow
from bot.store.repair import repair
from bot.store.store import Store
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


def torn(file: Path) -> None:
    """A page is blank that listing the chats of the terminal does not come by."""
    data = bytearray(file.read_bytes())
    data[-4096:] = b"\0" * 4096
    file.write_bytes(data)


def foreign(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE songs (title)")


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (torn, "is damaged"),
        (foreign, "the database of another program"),
        (lambda file: file.write_bytes(b""), "it is empty"),
        (lambda file: file.write_bytes(b"%PDF-1.7 " * 999), "it is no database"),
        (Path.unlink, "it is gone"),
    ],
)
async def test_what_the_next_start_would_set_aside_is_told_before_and_nothing_is_changed(
    tmp_path: Path, harm: Callable[[Path], None], words: str
) -> None:
    config, data = configured(tmp_path), tmp_path / "data"
    async with Store.open(data) as store:
        for n in range(200):
            row = UserRow(f"message {n} " + "x" * 200, Sender("web", "owner"), str(n))
            await store.transcript.append(Address("web", "main", "c"), f"t{n}", 1.0, row)
    assert findings(config)[1]["store"]["level"] == "ok"
    assert sorted(path.name for path in data.iterdir()) == ["bowerbird.born", "bowerbird.db"]
    harm(data / "bowerbird.db")
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    status, found = findings(config)
    assert (status, found["store"]["level"]) == (1, "fail")
    assert words in found["store"]["line"] and "keeps the old file" in found["store"]["advice"]
    assert {path.name: path.read_bytes() for path in data.iterdir()} == before


async def test_a_store_in_use_is_looked_at_without_a_word_to_its_daemon(tmp_path: Path) -> None:
    config = configured(tmp_path)
    async with Store.open(tmp_path / "data") as store, asyncio.TaskGroup() as group:
        looking = group.create_task(asyncio.to_thread(findings, config))
        written = 0
        while not looking.done():
            written += 1
            row = UserRow(f"message {written}", Sender("web", "owner"), str(written))
            await store.transcript.append(Address("web", "main", "c"), f"t{written}", 1.0, row)
            await asyncio.sleep(0.01)
        assert looking.result()[1]["store"]["level"] == "ok"
        assert len(await store.transcript.rows(Address("web", "main", "c"), 10_000)) == written


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
