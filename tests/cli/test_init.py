from __future__ import annotations

import sys
from pathlib import Path

from tests.cli.programs import Pty, bowerbird

INIT = [sys.executable, "-m", "bot", "init"]


def test_without_a_terminal_the_defaults_are_written_and_the_next_steps_told(tmp_path: Path) -> None:
    done = bowerbird("init", tmp_path / "new")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == [".env", "SOUL.md", "config.yaml"]
    assert "bowerbird doctor" in done.stdout
    again = bowerbird("init", cwd=tmp_path / "new")
    assert again.returncode == 0
    assert "kept" in again.stdout


def test_in_a_terminal_the_questions_are_asked_and_a_key_is_not_echoed(tmp_path: Path) -> None:
    with Pty([*INIT, "bot"], tmp_path, {}) as terminal:
        terminal.expect(r"auto, en, zh\) \[auto\]")
        terminal.send("\n")
        terminal.expect("called")
        terminal.send("Robin\n")
        terminal.expect("Which models")
        terminal.send("openai\n")
        terminal.expect("API key")
        terminal.send("sk-test-1234567890\n")
        terminal.expect("Telegram")
        terminal.send("\n")
        assert terminal.leaves() == 0
        assert "sk-test" not in terminal.seen
    assert 'name: "Robin"' in (tmp_path / "bot" / "config.yaml").read_text()
    assert "OPENAI_API_KEY=sk-test-1234567890" in (tmp_path / "bot" / ".env").read_text()


def test_leaving_in_the_middle_writes_nothing(tmp_path: Path) -> None:
    for key, said in (("\x04", "nothing was written"), ("\x03", "")):
        with Pty([*INIT, "bot"], tmp_path, {}) as terminal:
            terminal.expect(r"auto, en, zh\) \[auto\]")
            terminal.stays(0.3)
            terminal.send(key)
            assert terminal.leaves() == 1
            assert said in terminal.seen
            assert "Traceback" not in terminal.seen
    assert not (tmp_path / "bot").exists()


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = bowerbird("init", tmp_path / "file" / "below")
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
