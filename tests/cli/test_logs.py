from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli import logs
from bot.config.redact import Redactor
from bot.core.errors import ConfigError

SECRET = "sk-abcdefghijklmnop"


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    for handler in handlers:
        root.removeHandler(handler)
    yield
    for handler in root.handlers[:]:
        root.removeHandler(handler)
        handler.close()
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(level)
    logging.captureWarnings(False)


def test_lines_go_to_standard_error_without_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    logs.to_stderr({}, "info", Redactor([SECRET]))
    logging.getLogger("bot.x").info("a key: %s", SECRET)
    try:
        raise RuntimeError(SECRET)
    except RuntimeError:
        logging.getLogger("bot.x").exception("it broke")
    said = capsys.readouterr()
    assert said.out == ""
    assert "INFO bot.x: a key: ***" in said.err
    assert "RuntimeError" in said.err
    assert SECRET not in said.err


def test_b262_the_http_clients_addresses_are_not_logged_at_info(capsys: pytest.CaptureFixture[str]) -> None:
    logs.to_stderr({}, "info", Redactor())
    logging.getLogger("httpx").info("HTTP Request: POST https://api.telegram.org/bot123:abc/getMe")
    logging.getLogger("bot.x").info("ours")
    said = capsys.readouterr().err
    assert "api.telegram.org" not in said
    assert "ours" in said


@pytest.mark.parametrize(
    ("environ", "level"),
    [({}, logging.WARNING), ({"BOWERBIRD_LOG": "DEBUG"}, logging.DEBUG), ({"BOWERBIRD_LOG": " "}, logging.WARNING)],
)
def test_the_level_is_the_environments_or_the_usual_one(environ: dict[str, str], level: int) -> None:
    assert logs.level_of(environ, "warning") == level


def test_an_unknown_level_is_an_error_that_names_the_variable() -> None:
    with pytest.raises(ConfigError, match="BOWERBIRD_LOG: must be one of debug, info, warning, error"):
        logs.level_of({"BOWERBIRD_LOG": "verbose"}, "info")


def test_the_journal_keeps_the_time_itself(capsys: pytest.CaptureFixture[str]) -> None:
    logs.to_stderr({"JOURNAL_STREAM": "8:1"}, "info", Redactor())
    logging.getLogger("bot.x").info("ours")
    assert capsys.readouterr().err == "INFO bot.x: ours\n"


def test_a_file_is_the_owners_alone_and_an_impossible_one_does_not_stop_the_work(tmp_path: Path) -> None:
    logs.to_file(tmp_path / "data" / "chat.log", {}, "info", Redactor([SECRET]))
    logging.getLogger("bot.x").info("a key: %s", SECRET)
    file = tmp_path / "data" / "chat.log"
    assert "a key: ***" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    logs.to_file(file / "below" / "chat.log", {}, "info", Redactor())
    logging.getLogger("bot.x").info("goes nowhere")


def failure() -> RuntimeError:
    try:
        raise RuntimeError(f"refused {SECRET}")
    except RuntimeError as error:
        return error


def test_details_go_to_the_first_folder_that_takes_them_and_hold_no_secret(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = logs.keep_details(failure(), "r1", [tmp_path / "file", tmp_path / "state"], Redactor([SECRET]))
    assert path == tmp_path / "state" / "errors.log"
    logs.keep_details(failure(), "r2", [tmp_path / "state"], Redactor([SECRET]))
    text = path.read_text()
    assert text.index("reference r1") < text.index("reference r2")
    assert "RuntimeError: refused ***" in text
    assert SECRET not in text
    assert logs.keep_details(failure(), "r3", [tmp_path / "file"], Redactor()) is None


def test_details_are_bounded_and_do_not_follow_links(tmp_path: Path) -> None:
    (tmp_path / "errors.log").write_text("x" * (logs.FILE_BYTES + 1))
    path = logs.keep_details(failure(), "r1", [tmp_path], Redactor())
    assert path is not None
    assert path.stat().st_size < 10_000
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "errors.log").symlink_to(tmp_path / "elsewhere")
    assert logs.keep_details(failure(), "r2", [linked], Redactor()) is None
    assert not (tmp_path / "elsewhere").exists()
