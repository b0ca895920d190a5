"""``bowerbird chat`` as people run it: a real process on a pseudo terminal or a pipe, and a house on a real socket."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.programs import Pty, a_house, bowerbird, configured, interruptible

READY = r"Ctrl.C stops[\s\S]*\n›"
CTRL_C, CTRL_D, ENTER, ALT_ENTER = "\x03", "\x04", "\r", "\x1b\r"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return configured(tmp_path)


@pytest.fixture
def house(config: Path) -> Iterator[subprocess.Popen[bytes]]:
    with a_house(config.parent / "data") as process:
        yield process


def chat(config: Path, *arguments: str, rows: int = 24, **env: str) -> Pty:
    command = [sys.executable, "-m", "bot", "chat", "--config", str(config), *arguments]
    return Pty(command, config.parent, env, rows=rows)


@pytest.mark.usefixtures("house")
class TestTerminal:
    def test_a_message_is_answered_and_ctrl_d_leaves(self, config: Path) -> None:
        with chat(config) as terminal:
            terminal.expect(READY)
            terminal.send("你好 there" + ENTER)
            terminal.expect("› 你好 there")
            terminal.expect("✓ echo")
            terminal.expect("You said 你好 there")
            terminal.send(CTRL_D)
            assert terminal.leaves() == 0
            assert terminal.cooked()

    def test_ctrl_c_stops_the_answer_and_the_next_one_leaves(self, config: Path) -> None:
        with chat(config) as terminal:
            terminal.expect(READY)
            terminal.send("slow" + ENTER)
            terminal.expect("word5")
            terminal.send(CTRL_C)
            terminal.expect("Stopped")
            terminal.stays()
            terminal.send("again" + ENTER)
            terminal.expect("You said again")
            terminal.send(CTRL_C)
            assert terminal.leaves() == 0
            assert terminal.cooked()

    def test_a_second_ctrl_c_leaves_although_the_answer_has_not_stopped(
        self, config: Path, house: subprocess.Popen[bytes]
    ) -> None:
        with chat(config) as terminal:
            terminal.expect(READY)
            terminal.send("slow" + ENTER)
            terminal.expect("word3")
            house.send_signal(signal.SIGSTOP)
            try:
                terminal.send(CTRL_C)
                terminal.expect("stopping")
                terminal.send(CTRL_C)
                assert terminal.leaves() == 0
            finally:
                house.send_signal(signal.SIGCONT)

    def test_ctrl_c_while_idle_leaves_but_clears_a_half_written_line_first(self, config: Path) -> None:
        with chat(config) as terminal:
            terminal.expect(READY)
            terminal.send("half a line")
            terminal.expect("half a line")
            terminal.send(CTRL_C)
            terminal.stays()
            terminal.send(CTRL_C)
            assert terminal.leaves() == 0

    def test_a_tool_that_asks_waits_for_the_command_and_for_nothing_else(self, config: Path) -> None:
        with chat(config) as terminal:
            terminal.expect(READY)
            terminal.send("ask" + ENTER)
            terminal.expect(r'1\. May shell run\?[\s\S]*"command": "ls"')
            terminal.expect("waiting for your decision")
            terminal.send("yes" + ENTER)
            terminal.expect("You said yes")
            terminal.expect("waiting for your decision")
            terminal.send("/once" + ENTER)
            terminal.expect("Noted: once")
            terminal.expect("Decided: once[\\s\\S]*shell: Approved once")
            terminal.send("/once" + ENTER)
            terminal.expect("Nothing waits for your decision")
            terminal.send("/exit" + ENTER)
            assert terminal.leaves() == 0

    def test_pasted_lines_are_one_message_and_alt_enter_begins_a_line(self, config: Path) -> None:
        with chat(config) as terminal:
            terminal.expect(READY)
            terminal.send("\x1b[200~first\r\nsecond\nthird\x1b[201~")
            terminal.expect("third")
            terminal.send(ALT_ENTER + "fourth" + ENTER)
            terminal.expect(r"› first\s+second\s+third\s+fourth")
            terminal.expect(r"You said first\s+second\s+third\s+fourth\.")
            terminal.send(CTRL_D)
            assert terminal.leaves() == 0

    def test_an_answer_taller_than_the_window_is_whole_in_the_scrollback(self, config: Path) -> None:
        with chat(config, rows=12) as terminal:
            terminal.expect(READY)
            terminal.send("long 60" + ENTER)
            terminal.expect("paragraph 60\n")
            terminal.send(CTRL_D)
            assert terminal.leaves() == 0
            for number in range(1, 61):
                assert f"paragraph {number}" in terminal.seen

    def test_without_colour_there_is_none(self, config: Path) -> None:
        with chat(config, NO_COLOR="1") as terminal:
            terminal.expect(READY)
            terminal.send("hi" + ENTER)
            terminal.expect("You said hi")
            terminal.send(CTRL_D)
            terminal.leaves()
            assert not any(f"\x1b[{code}" in terminal.seen for code in ("1m", "2m", "31m", "33m", "38;", "36m"))

    def test_a_refused_message_is_told_and_the_chat_goes_on(self, config: Path) -> None:
        with chat(config) as terminal:
            terminal.expect(READY)
            terminal.send("refuse" + ENTER)
            terminal.expect("Not today")
            terminal.send(CTRL_C)
            assert terminal.leaves() == 0

    def test_the_conversation_is_there_again_the_next_time_and_chats_are_apart(self, config: Path) -> None:
        with chat(config) as terminal:
            terminal.expect(READY)
            terminal.send("remember" + ENTER)
            terminal.expect("You said remember")
            terminal.send(CTRL_D)
            terminal.leaves()
        with chat(config) as terminal:
            terminal.expect(r"› remember\s+You said remember")
            terminal.send(CTRL_D)
            terminal.leaves()
        with chat(config, "--chat", "work") as terminal:
            terminal.expect(READY)
            terminal.stays()
            assert "remember" not in terminal.seen

    def test_a_terminating_signal_leaves_the_terminal_usable(self, config: Path) -> None:
        with chat(config) as terminal:
            terminal.expect(READY)
            terminal.stays(0.3)
            assert not terminal.cooked()
            terminal.signal(signal.SIGTERM)
            assert terminal.leaves() == 1
            assert terminal.cooked()

    def test_a_bad_chat_name_is_a_sentence(self, config: Path) -> None:
        with chat(config, "--chat", "x" * 70) as terminal:
            terminal.expect("This chat cannot be opened: a chat's name is 1 to 64 printable characters")
            assert terminal.leaves() == 1
            assert "Traceback" not in terminal.seen


def test_what_is_written_while_the_daemon_is_away_is_sent_when_it_is_back(config: Path) -> None:
    with a_house(config.parent / "data") as first, chat(config) as terminal:
        terminal.expect(READY)
        terminal.send("one" + ENTER)
        terminal.expect("You said one")
        first.kill()
        first.wait()
        terminal.expect("Bowerbird is away")
        terminal.send("two" + ENTER)
        terminal.expect("› two")
        with a_house(config.parent / "data"):
            terminal.expect("You said two")
            terminal.send(CTRL_D)
            assert terminal.leaves() == 0


class TestPipe:
    @pytest.mark.usefixtures("house")
    def test_the_answer_is_all_there_is_on_standard_output(self, config: Path) -> None:
        done = bowerbird("chat", "--config", config, text="hi\n")
        assert (done.stdout, done.stderr, done.returncode) == ("You said **hi\n**.\n", "", 0)

    @pytest.mark.usefixtures("house")
    def test_all_of_standard_input_is_one_message(self, config: Path) -> None:
        done = bowerbird("chat", "--config", config, text="erste Zeile\n第二行")
        assert done.stdout == "You said **erste Zeile\n第二行**.\n"
        assert "\x1b" not in done.stdout

    @pytest.mark.usefixtures("house")
    def test_a_file_is_told_of_beside_the_answer(self, config: Path) -> None:
        done = bowerbird("chat", "--config", config, text="draw")
        assert (done.stdout, done.returncode) == ("Drawn.\n", 0)
        assert re.fullmatch(r"file: chart\.svg \(\d+ KB\), at /\S+\n", done.stderr)

    @pytest.mark.usefixtures("house")
    def test_what_the_terminal_would_obey_is_shown_instead(self, config: Path) -> None:
        done = bowerbird("chat", "--config", config, text="\x1b]0;x\x07")
        assert done.stdout == "You said **␛]0;x␇**.\n"

    @pytest.mark.usefixtures("house")
    def test_a_failed_answer_is_status_1_with_its_sentence_on_standard_error(self, config: Path) -> None:
        done = bowerbird("chat", "--config", config, text="fail")
        assert (done.stdout, done.stderr, done.returncode) == ("", "No model can be reached.\n", 1)

    @pytest.mark.usefixtures("house")
    def test_a_refused_message_is_status_1(self, config: Path) -> None:
        done = bowerbird("chat", "--config", config, text="refuse")
        assert (done.stdout, done.stderr, done.returncode) == ("", "Not today.\n", 1)

    @pytest.mark.usefixtures("house")
    def test_a_reader_that_leaves_early_causes_no_noise(self, config: Path) -> None:
        command = f"echo hi | {sys.executable} -m bot chat --config {config} | true"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        assert done.stderr == ""

    @pytest.mark.parametrize("text", ["", "  \n"])
    def test_nothing_to_send_is_wrong_usage(self, config: Path, text: str) -> None:
        done = bowerbird("chat", "--config", config, text=text)
        assert done.returncode == 2
        assert "nothing to send" in done.stderr

    @pytest.mark.usefixtures("house")
    def test_ctrl_c_stops_the_answer_before_it_leaves(self, config: Path) -> None:
        command = [sys.executable, "-m", "bot", "chat", "--config", str(config)]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=interruptible,
        )
        with process:
            assert process.stdin is not None
            process.stdin.write("slow")
            process.stdin.close()
            watcher = [sys.executable, "-m", "bot", "chat", "--config", str(config)]
            with Pty(watcher, config.parent, {}) as terminal:
                terminal.expect("word5")
                process.send_signal(signal.SIGINT)
                assert process.wait(20) == 1
                terminal.expect("Stopped")
            assert process.stderr is not None
            assert "Traceback" not in process.stderr.read()
