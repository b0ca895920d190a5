"""What free memory is, as far as the system tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.providers.local.catalogue import QWEN, ROOMY_BYTES, SMOLLM2, chosen
from bot.providers.local.machine import free_memory_bytes


def machine(folder: Path, *, available_kb: int | None = None, limit: str = "", used: int = 0) -> int | None:
    meminfo = folder / "meminfo"
    if available_kb is not None:
        meminfo.write_text(f"MemTotal: 9999999 kB\nMemAvailable: {available_kb} kB\n")
    if limit:
        (folder / "memory.max").write_text(limit)
        (folder / "memory.current").write_text(str(used))
        (folder / "memory.stat").write_text("anon 5\ninactive_file 1000\n")
    return free_memory_bytes(meminfo, folder)


def test_a_container_that_allows_less_counts(tmp_path: Path) -> None:
    assert machine(tmp_path, available_kb=10_000, limit="6000000", used=5_000_000) == 1_001_000


def test_a_container_without_a_limit_does_not(tmp_path: Path) -> None:
    assert machine(tmp_path, available_kb=10_000, limit="max") == 10_240_000


def test_a_system_that_tells_nothing_is_unknown(tmp_path: Path) -> None:
    assert machine(tmp_path) is None


@pytest.mark.parametrize(
    ("name", "free", "expected"),
    [
        ("auto", None, QWEN),
        ("auto", ROOMY_BYTES, QWEN),
        ("auto", ROOMY_BYTES - 1, SMOLLM2),
        ("qwen2.5-coder-0.5b", 1, QWEN),
        ("smollm2-135m", None, SMOLLM2),
    ],
)
def test_the_model_goes_by_memory_only_when_left_to_it(name: str, free: int | None, expected: object) -> None:
    assert chosen(name, free) is expected
