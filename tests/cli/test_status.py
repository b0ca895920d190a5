from __future__ import annotations

import json
from pathlib import Path

from bot.cli.status import lines_of, routes_table
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


def test_routes_stand_in_a_table_by_means_of_a_turn() -> None:
    one = {"rule": "default", "turns": 10, "answered": 9, "input_tokens": 12_340, "output_tokens": 2_005, "usd": 0.5}
    one |= {"unpriced": 0, "seconds": 3.21, "likes": 2, "dislikes": 0}
    other = one | {"rule": 'intent == "code"\x1b[2J', "turns": 1, "answered": 1, "unpriced": 1, "seconds": None}
    head, *rows, note, plus = routes_table({"days": 30, "routes": [one, other]})
    assert " ".join(head.split()) == "turns answered tokens read written USD seconds liked disliked route"
    assert rows[0].split() == ["10", "90%", "1234", "200", "0.0500", "3.2", "2", "0", "default"]
    assert rows[1].split(maxsplit=8) == ["1", "100%", "12340", "2005", "0.5000+", "-", "2", "0", 'intent == "code"␛[2J']
    assert (
        len({line.index(end) for line, end in ((head, "  route"), (rows[0], "  default"), (rows[1], "  intent"))}) == 1
    )
    assert "30 days" in note and "not known" in plus
    assert list(routes_table({"days": 30, "routes": []})) == ["No turn of the last 30 days was given a route."]
