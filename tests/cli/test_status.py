from __future__ import annotations

import json
from pathlib import Path

from bot.cli.status import lines_of
from tests.cli.programs import a_house, bowerbird, configured


def test_a_running_daemon_is_asked_and_shown_to_people_and_to_programs(tmp_path: Path) -> None:
    config = configured(tmp_path)
    with a_house(tmp_path / "data"):
        told = bowerbird("status", "--config", config)
        assert (told.returncode, told.stderr) == (0, "")
        assert "name: Bowerbird" in told.stdout
        assert "terminal: connected" in told.stdout
        exact = bowerbird("status", "--json", "--config", config)
        assert json.loads(exact.stdout)["channels"] == {"terminal": "connected"}


def test_facts_line_up_and_sections_are_indented_below_their_name() -> None:
    status = {
        "name": "B",
        "uptime_seconds": 12.5,
        "trouble": "",
        "demo": True,
        "channels": {"web": "connected", "telegram": "down"},
        "urls": ["http://127.0.0.1/", "\x1b[2J"],
        "jobs": [{"name": "n", "next_run": None}],
        "nothing": {},
        "none": [],
    }
    assert list(lines_of(status)) == [
        "name:           B",
        "uptime seconds: 12.5",
        "trouble:        -",
        "demo:           yes",
        "channels:",
        "  web:      connected",
        "  telegram: down",
        "urls:",
        "  - http://127.0.0.1/",
        "  - ␛[2J",
        "jobs:",
        "  - name: n, next run: -",
        "nothing:        none",
        "none:           none",
    ]
