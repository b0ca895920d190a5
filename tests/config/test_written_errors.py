"""Mistakes that were written down from INTERFACE.md before the program existed, and look-alikes that are fine."""

from __future__ import annotations

import base64
import os
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.config.load import load
from bot.config.loaded import effective
from bot.config.problems import every_problem
from bot.core.errors import ConfigError

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[1] / "data" / "config_errors.yaml").read_text(encoding="utf-8")
)


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


def at(tree: Any, dotted: str) -> Any:
    for step in dotted.replace("[", ".").replace("]", "").split("."):
        tree = tree[int(step)] if isinstance(tree, list) else tree[step]
    return tree


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_written_mistake(case: dict[str, Any], tmp_path: Path) -> None:
    if case.get("needs") == "not_root" and os.geteuid() == 0:
        pytest.skip("root may read everything")
    lay_out(case, tmp_path)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), **case.get("env", {})}
    expect = case["expect"]
    began = time.monotonic()
    try:
        config = load(Path("config.yaml"), env, tmp_path)
        printed: list[str] = []
    except ConfigError as error:
        assert not expect.get("ok"), f"refused: {every_problem(error)}"
        printed = every_problem(error)
        assert error.exit_status == expect["exit"]
    assert time.monotonic() - began < 10
    if expect.get("ok"):
        if "value" in expect:
            assert at(effective(config), expect["value"]["path"]) == expect["value"]["equals"]
        return
    output = "\n".join(printed)
    assert printed, "was accepted"
    assert len(output) < 4000
    for word in expect.get("never", ()):
        assert word not in output
    named = [line for line in printed if fits(line, expect)]
    assert named, (
        f"no line for {expect.get('file', 'config.yaml')}:{expect.get('line')} {expect.get('key')} in:\n{output}"
    )
    message = "\n".join(named).lower()
    for word in expect.get("says", ()):
        assert word in message
    if "says_any" in expect:
        assert any(word in message for word in expect["says_any"]), f"{message}\nhas none of {expect['says_any']}"


def fits(line: str, expect: dict[str, Any]) -> bool:
    """True when this line of the output names the expected file, line and key."""
    where = expect.get("file", "config.yaml")
    if "line" in expect:
        where += f":{expect['line']}:"
    if where not in line:
        return False
    key = expect.get("key", "")
    return f": {key}" in line if key else True
