"""``bowerbird init``: a few questions, three files, nothing overwritten unasked."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from bot.config.dotenv import read_dotenv
from bot.config.load import load
from bot.config.packaged import packaged
from bot.config.problems import Findings
from bot.config.starter import SENTENCES, Answers, config_text, init, write_atomically
from bot.core.errors import BowerbirdError

TOKEN = "123456789:AAFakeTokenFakeTokenFakeTokenFake12"


class Person:
    """Answers questions in order and remembers them; an unexpected question fails the test."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked, self.told, self.secret = list(answers), [], [], 0  # type: ignore[var-annotated]

    def ask(self, question: str, *, default: str = "", secret: bool = False) -> str:
        self.asked.append(question)
        self.secret += secret
        return self.answers.pop(0) or default

    def tell(self, line: str) -> None:
        self.told.append(line)


def test_with_nobody_to_ask_the_defaults_make_a_folder_that_loads(tmp_path: Path) -> None:
    told: list[str] = []
    folder = tmp_path / "new" / "bird"
    written = init(folder, None, told.append)
    assert [file.name for file in written] == ["config.yaml", "SOUL.md", ".env"]
    config = load(folder / "config.yaml", {"HOME": str(tmp_path)})
    assert (config.name, config.language) == ("Bowerbird", "auto")
    assert config.soul.read_text() == packaged("SOUL.md")
    assert config.channels["telegram"].missing
    assert any("bowerbird run --config" in line for line in told)


def test_answers_go_where_they_belong_and_secrets_only_to_dotenv(tmp_path: Path) -> None:
    person = Person("zh", '小 "鸟"', "anthropic", "sk-ant-FAKEKEY", TOKEN)
    init(tmp_path, person.ask, person.tell)
    assert not person.answers
    assert person.secret == 2
    assert "密钥" in person.asked[3]
    assert TOKEN not in (tmp_path / "config.yaml").read_text()
    assert "sk-ant" not in (tmp_path / "config.yaml").read_text()
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    config = load(tmp_path / "config.yaml", {"HOME": str(tmp_path)})
    assert (config.name, config.language) == ('小 "鸟"', "zh")
    assert str(config.brain.llm.default.ref()) == "anthropic/claude-sonnet-5-5"
    assert config.secrets() >= {"sk-ant-FAKEKEY", TOKEN}
    assert not any(secret in line for line in person.told for secret in ("sk-ant-FAKEKEY", TOKEN))
    assert any("bowerbird pair approve" in line for line in person.told)


def test_answers_that_cannot_be_right_are_asked_for_again(tmp_path: Path) -> None:
    person = Person("french", "en", "", "gpt", "openai", "", "my token", TOKEN)
    init(tmp_path, person.ask, person.tell)
    assert not person.answers
    assert "That is not one of: auto, en, zh." in person.told
    assert "A Telegram token looks like 123456:ABC…; this one does not." in person.told
    assert any("OPENAI_API_KEY=" in line for line in person.told)


def test_existing_files_are_kept_unless_the_person_agrees(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("name: Mine\n")
    (tmp_path / "SOUL.md").write_text("mine\n")
    (tmp_path / ".env").write_text("# mine\nOTHER=1\nTELEGRAM_BOT_TOKEN=old\n")
    assert init(tmp_path, None, lambda line: None) == []
    person = Person("en", "New", "local", TOKEN, "n", "yes", "n")
    written = init(tmp_path, person.ask, person.tell)
    assert [file.name for file in written] == ["SOUL.md"]
    assert (tmp_path / "config.yaml").read_text() == "name: Mine\n"
    assert "TELEGRAM_BOT_TOKEN=old" in (tmp_path / ".env").read_text()
    person = Person("en", "New", "local", TOKEN, "y", "n", "y")
    init(tmp_path, person.ask, person.tell)
    assert 'name: "New"' in (tmp_path / "config.yaml").read_text()
    assert (tmp_path / ".env").read_text() == f"# mine\nOTHER=1\nTELEGRAM_BOT_TOKEN={TOKEN}\n"


@pytest.mark.parametrize("key", ["plain", 'a"b', "a\\b", "a b#c", "$X", "a'b"])
def test_any_key_survives_the_way_through_dotenv(tmp_path: Path, key: str) -> None:
    person = Person("en", "", "openai", key, "")
    init(tmp_path, person.ask, person.tell)
    assert read_dotenv((tmp_path / ".env").read_bytes(), Findings(".env")) == {"OPENAI_API_KEY": key}


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BowerbirdError, match="cannot be written"):
        init(tmp_path / "file" / "inside", None, lambda line: None)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a"
    write_atomically(file, "old", 0o600)
    with pytest.raises(UnicodeEncodeError):
        write_atomically(file, "new \udcff", 0o600)
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("a", "old")]


@pytest.mark.parametrize("provider", ["anthropic", "openai", "ollama", "local"])
def test_every_answer_makes_a_file_that_loads_without_any_variable(tmp_path: Path, provider: str) -> None:
    (tmp_path / "config.yaml").write_text(config_text(Answers(provider=provider)))
    config = load(tmp_path / "config.yaml", {"HOME": str(tmp_path)})
    assert "web" in config.channels
    assert config.brain.llm.default.provider == provider


def test_who_chose_the_local_model_is_not_served_by_a_cloud_whose_key_lies_about(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(config_text(Answers(provider="local")))
    llm = load(tmp_path / "config.yaml", {"HOME": str(tmp_path), "ANTHROPIC_API_KEY": "sk-ant-1234567"}).brain.llm
    models = [llm.default, *llm.fallback, *([llm.routing.classify_model] if llm.routing.classify_model else [])]
    assert {model.provider for model in models} == {"local"}


def test_nothing_is_written_when_the_person_leaves_before_the_last_question(tmp_path: Path) -> None:
    (tmp_path / "SOUL.md").write_text("mine\n")
    person = Person("en", "New", "local", "")
    with pytest.raises(IndexError):
        init(tmp_path, person.ask, person.tell)
    assert [entry.name for entry in tmp_path.iterdir()] == ["SOUL.md"]


def test_a_dotenv_that_is_not_text_is_told(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"A=\xff\n")
    with pytest.raises(BowerbirdError, match="is not UTF-8 text"):
        init(tmp_path, None, lambda line: None)


def test_every_sentence_exists_in_both_languages_with_the_same_blanks() -> None:
    import string

    for key, entry in SENTENCES.items():
        assert set(entry) == {"en", "zh"}, key
        blanks = [{field for _, field, _, _ in string.Formatter().parse(text) if field} for text in entry.values()]
        assert blanks[0] == blanks[1], key
