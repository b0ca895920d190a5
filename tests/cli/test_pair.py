from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli.pair import lines_of
from bot.inbox.pairing import Listing
from bot.store.people import Person, Stranger
from tests.cli.programs import a_house, bowerbird, configured


def with_access(folder: Path, access: str = "users: [9]") -> Path:
    file = configured(folder)
    file.write_text(f"data_dir: data\nchannels: {{terminal: {{}}, web: {{access: {{{access}}}}}}}\n")
    return file


@pytest.mark.parametrize(
    "arguments", [[], ["dance"], ["approve"], ["revoke"], ["revoke", "7"], ["revoke", ":7"], ["list", "x"]]
)
def test_wrong_usage_is_2_and_says_what_is_right(arguments: list[str]) -> None:
    done = bowerbird("pair", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: bowerbird")


def test_a_wrong_configuration_is_78(tmp_path: Path) -> None:
    assert bowerbird("pair", "list", "--config", tmp_path / "none.yaml").returncode == 78


def test_before_the_first_start_the_list_says_how_it_begins_and_makes_nothing(tmp_path: Path) -> None:
    config = configured(tmp_path)
    done = bowerbird("pair", "list", "--config", config)
    assert (done.returncode, done.stderr) == (0, "")
    assert "bowerbird pair approve CODE" in done.stdout
    assert not (tmp_path / "data").exists()


def test_options_count_before_and_behind_the_action(tmp_path: Path) -> None:
    config = with_access(tmp_path)
    found = [
        bowerbird("pair", *arguments).stdout
        for arguments in (
            ("list", "--json", "--config", config),
            ("--json", "--config", config, "list"),
            ("--config", config, "list", "--json"),
        )
    ]
    assert json.loads(found[0])["people"][0] == {
        "channel": "web",
        "id": "9",
        "name": "",
        "standing": "user",
        "since": None,
        "by": "config.yaml",
    }
    assert found[0] == found[1] == found[2]


def test_what_cannot_be_done_is_1_with_the_reason_in_the_language_of_the_terminal(tmp_path: Path) -> None:
    config = with_access(tmp_path)
    for arguments, words in (
        (("approve", "34679ACD"), "This code is wrong"),
        (("approve", "3467", "9acd"), "This code is wrong"),
        (("revoke", "web:7"), "web:7 was let in"),
        (("revoke", "web:9"), "config.yaml: take the id out of channels.web.access"),
    ):
        done = bowerbird("pair", *arguments, "--config", config)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("bowerbird: ") and words in done.stderr
    chinese = bowerbird("pair", "approve", "34679ACD", "--config", config, LC_ALL="zh_CN.UTF-8", PYTHONUTF8="1")
    assert "配对码" in chinese.stderr
    exact = bowerbird("pair", "approve", "34679ACD", "--json", "--config", config)
    assert (exact.returncode, json.loads(exact.stdout)) == (1, {"outcome": "unknown", "person": None})


def test_a_daemon_that_cannot_pair_is_an_error_and_its_folder_is_left_alone(tmp_path: Path) -> None:
    config = configured(tmp_path)
    with a_house(tmp_path / "data"):
        done = bowerbird("pair", "approve", "34679ACD", "--config", config)
    assert done.returncode == 1 and "could not answer" in done.stderr
    assert not (tmp_path / "data" / "bowerbird.db").exists()


def test_the_tables_line_up_whatever_people_call_themselves() -> None:
    listing = Listing(
        (Stranger("telegram", "7", "安娜\x1b[2J", "34679ACD", 0.0, True),),
        (
            Person("telegram", "8", "Bob", "owner", 0.0, "command line"),
            Person("web", "*", "", "user", None, "config.yaml"),
        ),
    )
    lines = list(lines_of(listing))
    assert lines[0] == "Waiting to be let in:"
    assert lines[2].startswith("  34679ACD  安娜␛[2J (telegram:7)  until ") and lines[2].endswith("sent away before")
    assert lines[1].index("COUNTS") == len("  CODE      WHO                     ") - 1
    assert lines[3] == "Known:"
    assert lines[5].split()[:3] == ["Bob", "(telegram:8)", "owner"]
    assert lines[6].split() == ["web:*", "user", "-", "config.yaml"]
