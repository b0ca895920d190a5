"""``bowerbird trace`` with the daemon running and stopped."""

from __future__ import annotations

import json
from pathlib import Path

from bot.core.address import Address
from bot.core.model import TextBlock, Usage
from bot.core.ports import owner_of
from bot.core.stop import StopReason
from bot.core.transcript import EndRow, StepRow, UserRow
from bot.store.store import Store
from tests.cli.programs import a_house, bowerbird, configured

MAIN = Address("terminal", "main", "main")


async def stored(data_dir: Path) -> None:
    async with Store.open(data_dir) as store:
        for number in (1, 2):
            question = UserRow(f"question {number} 你好", owner_of("terminal"), f"m{number}")
            step = StepRow(1, (TextBlock(f"answer {number}"),), "a/b", "end", Usage(1, 1))
            await store.transcript.append(MAIN, f"turn{number}", 1.8e9, question, step, EndRow(StopReason.ANSWERED))


def lines(output: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.splitlines()]


async def test_a_stopped_daemons_transcript_is_read_and_nothing_is_changed(tmp_path: Path) -> None:
    config = configured(tmp_path)
    await stored(tmp_path / "data")
    before = sorted((file.name, file.stat().st_mtime_ns) for file in (tmp_path / "data").iterdir())
    whole = bowerbird("trace", "terminal:main:main:", "--jsonl", "--config", config)
    assert (whole.returncode, whole.stderr) == (0, "")
    assert [row["kind"] for row in lines(whole.stdout)] == ["user", "step", "end"] * 2
    assert lines(whole.stdout)[0]["text"] == "question 1 你好"
    newest = bowerbird("trace", "terminal:main:main:", "--jsonl", "--last", "2", "--config", config)
    assert [row["kind"] for row in lines(newest.stdout)] == ["step", "end"]
    one = bowerbird("trace", "turn1", "--config", config)
    assert "Owner: question 1 你好" in one.stdout
    assert "question 2" not in one.stdout
    after = sorted((file.name, file.stat().st_mtime_ns) for file in (tmp_path / "data").iterdir())
    assert [name for name, _ in after if name == "daemon.lock"] == []
    assert dict(before)["bowerbird.db"] == dict(after)["bowerbird.db"]


async def test_what_is_not_there_is_said_and_is_status_1(tmp_path: Path) -> None:
    config = configured(tmp_path)
    await stored(tmp_path / "data")
    for target in ("terminal:main:other:", "turn9"):
        done = bowerbird("trace", target, "--config", config)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"bowerbird: nothing is recorded under {target}\n"


def test_a_running_daemon_is_asked_over_its_socket(tmp_path: Path) -> None:
    config = configured(tmp_path)
    with a_house(tmp_path / "data"):
        bowerbird("chat", "--config", config, text="你好")
        done = bowerbird("trace", "terminal:main:main:", "--jsonl", "--config", config)
        assert [row["kind"] for row in lines(done.stdout)] == ["user", "step", "end"]
        told = bowerbird("trace", "terminal:main:main:", "--config", config)
        assert "Owner: 你好" in told.stdout
        assert "end     answered" in told.stdout
        assert bowerbird("trace", "turn9", "--config", config).returncode == 1
