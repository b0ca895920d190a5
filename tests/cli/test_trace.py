"""``bowerbird trace`` with the daemon running and stopped."""

from __future__ import annotations

import json
from pathlib import Path

from bot.brain.shown_prompt import as_json
from bot.core.address import Address
from bot.core.model import ImageBlock, Message, ModelRef, ModelRequest, TextBlock, Usage
from bot.core.ports import owner_of
from bot.core.stop import StopReason
from bot.core.tool import ToolSpec
from bot.core.transcript import EndRow, StepRow, UserRow
from bot.store.prompts import KEPT, PRUNE_EVERY, Prompt
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


async def test_the_prompts_of_a_turn_are_printed_with_secrets_masked(tmp_path: Path) -> None:
    config = configured(tmp_path)
    request = ModelRequest(
        ModelRef("a", "b"),
        "You are kind.",
        (Message("user", (TextBlock("my key is sk-abcdefgh12345678"), ImageBlock("image/jpeg", b"xyz"))),),
        (ToolSpec("now", "tells the time", {"type": "object"}),),
    )
    async with Store.open(tmp_path / "data") as store:
        for step in (0, 1):
            await store.prompts.keep("turn1", Prompt(step, "a/b", 1.8e9, as_json(request)))
    done = bowerbird("trace", "--prompt", "turn1", "--config", config)
    assert (done.returncode, done.stderr) == (0, "")
    assert "You are kind." in done.stdout and "now: tells the time" in done.stdout
    assert "my key is ***" in done.stdout and "[picture, image/jpeg, 3 bytes]" in done.stdout
    as_lines = lines(bowerbird("trace", "--prompt", "turn1", "--jsonl", "--config", config).stdout)
    assert [line["step"] for line in as_lines] == [0, 1] and "sk-abc" not in str(as_lines)
    none = bowerbird("trace", "--prompt", "turn9", "--config", config)
    assert none.returncode == 1 and "no prompt of turn9 is kept" in none.stderr


async def test_only_the_newest_prompts_are_kept(tmp_path: Path) -> None:
    async with Store.open(tmp_path / "data") as store:
        for number in range(KEPT + PRUNE_EVERY):
            await store.prompts.keep(f"turn{number}", Prompt(0, "a/b", 1.0, "{}"))
        assert await store.prompts.of_turn("turn0") == []
        assert len(await store.prompts.of_turn(f"turn{KEPT + PRUNE_EVERY - 1}")) == 1
