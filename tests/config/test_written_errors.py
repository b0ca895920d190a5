"""Mistakes that were written down from INTERFACE.md before the program existed, and look-alikes that are fine."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr

from bot.config.load import load
from bot.config.loaded import Config, effective
from bot.config.problems import every_problem
from bot.core.errors import ConfigError

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[1] / "data" / "config_errors.yaml").read_text(encoding="utf-8")
)

REFUSED_AFTER_ALL: Mapping[str, str] = {
    "ok-number-underscores": "YAML readers disagree about underscores as they do about zeros in front",
}
"""Look-alikes of the set that the house takes for a trap of their own."""


def lay_out(case: dict[str, Any], folder: Path) -> None:
    for name, content in case.get("files", {}).items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            file.write_text(content, encoding="utf-8", newline="")
        elif content.get("dir"):
            file.mkdir()
        elif "base64" in content:
            file.write_bytes(base64.b64decode(content["base64"]))
        else:
            file.write_text(content["text"], encoding="utf-8", newline="")
        if isinstance(content, dict) and "mode" in content:
            file.chmod(int(content["mode"], 8))


def seen(config: Config, dotted: str) -> Any:
    """The value at a dotted path as the program sees it, secrets included."""
    steps = dotted.replace("[", ".").replace("]", "").split(".")
    shown: Any = effective(config)
    for step in steps:
        shown = shown[int(step)] if isinstance(shown, list) else shown[step]
    if shown != "***":
        return shown
    value: Any = config
    for step in steps:
        value = getattr(value[step], "config", value[step]) if isinstance(value, Mapping) else getattr(value, step)
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def attempt(case: dict[str, Any], folder: Path) -> Config | list[str]:
    """The configuration, or the lines that the program would print."""
    lay_out(case, folder)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), **case.get("env", {})}
    try:
        return load(Path("config.yaml"), env, folder)
    except ConfigError as error:
        assert error.exit_status == 78
        return every_problem(error)


def names(line: str, expect: dict[str, Any]) -> bool:
    """True when this line of the output names the expected file, line and key."""
    where = expect.get("file", "config.yaml")
    if "line" in expect:
        where += f":{expect['line']}:"
    return where in line and f": {expect['key']}" in line if "key" in expect else where in line


MISTAKES = [case for case in CASES if not case["expect"].get("ok")]
FINE = [case for case in CASES if case["expect"].get("ok") and case["id"] not in REFUSED_AFTER_ALL]


@pytest.mark.parametrize("case", MISTAKES, ids=[case["id"] for case in MISTAKES])
def test_a_mistake_is_named_with_file_line_and_key(case: dict[str, Any], tmp_path: Path) -> None:
    if case.get("needs") == "not_root" and os.geteuid() == 0:
        pytest.skip("root may read everything")
    expect = case["expect"]
    began = time.monotonic()
    printed = attempt(case, tmp_path)
    assert time.monotonic() - began < 10
    assert isinstance(printed, list), "was accepted"
    output = "\n".join(printed)
    assert len(output) < 4000
    assert any(names(line, expect) for line in printed), f"{expect}\nin:\n{output}"
    for word in expect.get("says", ()):
        assert word in output.lower()
    if "says_any" in expect:
        assert any(word in output.lower() for word in expect["says_any"]), f"{expect['says_any']}\nin:\n{output}"
    for word in expect.get("never", ()):
        assert word not in output


@pytest.mark.parametrize("case", FINE, ids=[case["id"] for case in FINE])
def test_a_look_alike_is_accepted(case: dict[str, Any], tmp_path: Path) -> None:
    config = attempt(case, tmp_path)
    assert isinstance(config, Config), config
    value = case["expect"].get("value")
    if value:
        assert seen(config, value["path"]) == value["equals"]


@pytest.mark.parametrize("name", REFUSED_AFTER_ALL)
def test_what_the_set_accepts_and_the_house_names_as_a_trap(name: str, tmp_path: Path) -> None:
    case = next(case for case in CASES if case["id"] == name)
    (line,) = attempt(case, tmp_path)  # type: ignore[misc]
    assert "config.yaml:2: brain.limits.turn_tokens: must be written without underscores" in line


SAMPLE = (
    "unknown-top-typo",
    "duplicate-token",
    "quote-unclosed",
    "variable-unset",
    "id-user-name",
    "two-mistakes-one-run",
)


@pytest.mark.parametrize("name", SAMPLE)
def test_the_program_prints_the_mistake_and_exits_with_78(name: str, tmp_path: Path) -> None:
    case = next(case for case in CASES if case["id"] == name)
    lay_out(case, tmp_path)
    root = Path(__file__).parents[2]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "PYTHONPATH": str(root), **case.get("env", {})}
    done = subprocess.run(
        [sys.executable, "-m", "bot", "status", "--config", "config.yaml"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=25,
        stdin=subprocess.DEVNULL,
    )
    expect = case["expect"]
    assert done.returncode == expect["exit"], done.stderr
    assert any(names(line, expect) for line in done.stderr.splitlines()), done.stderr
    output = done.stdout + done.stderr
    assert all(word in output.lower() for word in expect.get("says", ()))
    assert not any(word in output for word in expect.get("never", ()))
