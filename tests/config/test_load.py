"""From a file to a Config: search order, defaults, what empty and off mean, every problem at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config.load import load
from bot.config.loaded import Config, effective
from bot.config.problems import ConfigProblems
from bot.core.errors import ConfigError
from bot.core.model import ModelRef, Price

from .conftest import Complain, Load

ROOT = Path(__file__).parents[2]


def test_without_any_file_the_defaults_hold_and_paths_start_at_the_working_folder(tmp_path: Path) -> None:
    config = load(None, {"HOME": str(tmp_path / "home")}, tmp_path)
    assert config.file is None
    assert config.data_dir == tmp_path / "data"
    assert config.tools.files.root == tmp_path / "workspace"
    assert set(config.channels) >= {"web", "terminal"}
    assert not config.channels["telegram"].on
    assert config.brain.llm.default.ref() == ModelRef("anthropic", "claude-sonnet-5-5", max_tokens=8192)


def test_without_any_file_a_token_in_the_environment_is_enough(tmp_path: Path) -> None:
    config = load(None, {"HOME": str(tmp_path), "TELEGRAM_BOT_TOKEN": "1234567:" + "a" * 35}, tmp_path)
    assert "token" not in config.channels["telegram"].missing


def test_the_home_file_is_read_when_the_folder_has_none_and_the_folder_wins(tmp_path: Path) -> None:
    home = tmp_path / "home" / ".config" / "bowerbird"
    home.mkdir(parents=True)
    (home / "config.yaml").write_text("name: Home")
    env = {"HOME": str(tmp_path / "home")}
    config = load(None, env, tmp_path)
    assert (config.name, config.base, config.data_dir) == ("Home", home, home / "data")
    (tmp_path / "config.yaml").write_text("name: Here")
    assert load(None, env, tmp_path).name == "Here"


def test_a_file_that_was_asked_for_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^other\.yaml: this file does not exist") as raised:
        load(Path("other.yaml"), {}, tmp_path)
    assert raised.value.exit_status == 78
    with pytest.raises(ConfigError, match="a folder, not a file"):
        load(tmp_path, {}, tmp_path)


def test_paths_start_at_the_file_and_home_is_a_tilde(tmp_path: Path) -> None:
    folder = tmp_path / "etc"
    folder.mkdir()
    (folder / "my.yaml").write_text("data_dir: ../var\nmemory: {knowledge: [notes, ~/doc, /srv/x]}\n")
    config = load(Path("etc/my.yaml"), {"HOME": "/home/me"}, tmp_path)
    assert config.data_dir.resolve() == tmp_path / "var"
    assert config.memory.knowledge == (folder / "notes", Path("/home/me/doc"), Path("/srv/x"))
    assert config.file == folder / "my.yaml"


def test_the_file_that_comes_with_bowerbird_says_what_the_defaults_are(tmp_path: Path) -> None:
    written = effective(load(ROOT / "config.yaml", {"HOME": str(tmp_path)}))
    (tmp_path / "config.yaml").write_text("{}")
    bare = effective(load(tmp_path / "config.yaml", {"HOME": str(tmp_path)}))
    for section in ("name", "language", "timezone", "brain", "tools", "hooks", "team", "schedule", "providers"):
        strip = {"files"} if section == "tools" else set()
        assert _without(written[section], strip) == _without(bare[section], strip)
    assert written["memory"] == bare["memory"]
    assert written["channels"]["web"] == bare["channels"]["web"]
    assert len((ROOT / "config.yaml").read_text().splitlines()) < 120


def _without(value: object, keys: set[str]) -> object:
    return {key: item for key, item in value.items() if key not in keys} if isinstance(value, dict) else value


def test_every_problem_is_told_in_the_order_of_the_file(read: Load) -> None:
    with pytest.raises(ConfigProblems) as raised:
        read(
            """\
            nmae: Bird
            channels:
              telegram:
                streming: edit
                access: {owners: [true]}
            brain:
              limits: {tool_calls: 0}
              llm: {fallback: [{provider: nowhere, model: x}]}
            """
        )
    places = [(problem.line, problem.key) for problem in raised.value.problems]
    assert places == [
        (1, "nmae"),
        (4, "channels.telegram.streming"),
        (5, "channels.telegram.access.owners[0]"),
        (7, "brain.limits.tool_calls"),
    ]
    assert str(raised.value) == 'config.yaml:1: nmae: unknown key; did you mean "name"?'
    assert (raised.value.line, raised.value.key) == (1, "nmae")


def test_b230_an_unknown_key_names_the_nearest_one_or_the_place_where_it_belongs(complaints: Complain) -> None:
    assert complaints("channels: {telegram: {streming: edit}}") == [
        'config.yaml:1: channels.telegram.streming: unknown key; did you mean "streaming"?'
    ]
    assert complaints("channels:\n  telegram:\n    owners: [1]\n") == [
        "config.yaml:3: channels.telegram.owners: unknown key; did you mean channels.telegram.access.owners?"
    ]
    assert complaints("telegram: {token: x}") == [
        "config.yaml:1: telegram: unknown key; did you mean channels.telegram?"
    ]
    assert complaints("tools: {approvalMinutes: 3}") == [
        'config.yaml:1: tools.approvalMinutes: unknown key; did you mean "approval_minutes"?'
    ]


@pytest.mark.parametrize("off", ["off", "no", "false", '"off"', "False"])
def test_b226_off_written_in_any_way_is_off(read: Load, off: str) -> None:
    config = read(
        f"""\
        channels:
          telegram: {{streaming: {off}, access: {{trigger: {off}, pairing: {off}}}}}
        memory: {{embedder: {off}, reranker: {off}, distill: {{nightly: {off}}}}}
        brain: {{llm: {{routing: {{enabled: {off}, classify_model: {off}}}}}}}
        tools: {{shell: {{sandbox: {off}, network: {off}}}}}
        schedule: {{quiet_hours: {off}}}
        """
    )
    shown = effective(config)
    assert shown["channels"]["telegram"]["streaming"] == "off"
    assert shown["channels"]["telegram"]["access"]["trigger"] == "never"
    assert shown["channels"]["telegram"]["access"]["pairing"] is False
    assert (shown["memory"]["embedder"], shown["memory"]["reranker"]) == ("none", "none")
    assert config.memory.distill.nightly is None
    assert config.brain.llm.routing.enabled is False
    assert config.brain.llm.routing.classify_model is None
    assert (config.tools.shell.sandbox, config.tools.shell.network) == ("none", False)
    assert config.schedule.quiet() is None


def test_b226_on_is_not_a_mode(complaints: Complain) -> None:
    (line,) = complaints("channels: {telegram: {streaming: on}}")
    assert line.startswith('config.yaml:1: channels.telegram.streaming: must be one of: edit, draft, off (not "on"); ')


def test_b227_a_language_called_no_is_refused_and_never_false(complaints: Complain) -> None:
    (line,) = complaints("language: no")
    assert line.startswith('config.yaml:1: language: must be one of: auto, en, zh (not "no"); ')


def test_b229_ids_are_text_however_they_are_written(read: Load) -> None:
    config = read('channels: {telegram: {access: {users: [900000000000000011, "7001", -1001000000001], owners: 5}}}')
    access = effective(config)["channels"]["telegram"]["access"]
    assert access["users"] == ["900000000000000011", "7001", "-1001000000001"]
    assert access["owners"] == ["5"]


@pytest.mark.parametrize(
    "nobody", ["", "users:", "users: null", "users: []", 'users: ""', 'users: "${NOT_SET:-}"', "users: off"]
)
def test_b232_an_empty_list_lets_nobody_in(read: Load, nobody: str) -> None:
    config = read(f"channels:\n  telegram:\n    access:\n      pairing: false\n      {nobody}\n")
    assert effective(config)["channels"]["telegram"]["access"]["users"] == []


@pytest.mark.parametrize("empty", ["{}", "null", ""])
def test_b236_an_empty_section_means_its_defaults(read: Load, empty: str) -> None:
    config = read(f"memory: {{distill: {empty}}}\nschedule: {empty}\nhooks: {empty if empty != '{}' else '[]'}\n")
    assert config.memory.distill.after_turn
    assert config.memory.distill.nightly == "0 3 * * *"
    assert config.schedule.quiet() == (22 * 60, 7 * 60)


def test_b236_a_section_that_is_off_is_off(read: Load, complaints: Complain) -> None:
    config = read("memory: {distill: false}\nchannels: {web: {}, terminal: false}\nbrain: {llm: {routing: off}}\n")
    assert (config.memory.distill.after_turn, config.memory.distill.nightly) == (False, None)
    assert "terminal" not in config.channels
    assert not config.brain.llm.routing.enabled
    (line,) = complaints("memory: false")
    assert "must be a section of its own, with the keys embedder, reranker, distill, knowledge" in line


def test_the_web_page_is_there_when_no_other_channel_is_on(read: Load) -> None:
    assert "web" in read("channels: {telegram: {token: ''}}").channels
    assert "web" in read("channels:\n").channels
    assert "web" not in read("channels: {web: off}").channels


def test_b286_names_are_refused_where_ids_are_wanted(complaints: Complain) -> None:
    (line,) = complaints('channels: {telegram: {access: {users: ["@alice"]}}}')
    assert line == (
        "config.yaml:1: channels.telegram.access.users[0]: "
        'a user name can pass to another person; write the id (not "@alice")'
    )
    (line,) = complaints("channels: {discord: {access: {owners: [alice]}}}")
    assert "ids are numbers on this platform" in line


def test_a_model_may_be_named_in_one_word_and_a_choice_settles_the_other_built_in_models(read: Load) -> None:
    config = read("brain: {llm: {default: ollama/llama3.2}}")
    assert config.brain.llm.default.ref() == ModelRef("ollama", "llama3.2")
    assert config.brain.llm.fallback == ()
    assert config.brain.llm.routing.classify_model is None
    assert config.memory.distill.model is None
    assert read("brain: {llm: {routing: {enabled: true}}}").memory.distill.model is not None


def test_the_embedded_model_needs_no_name(read: Load) -> None:
    assert read("brain: {llm: {default: {provider: local}}}").brain.llm.default.ref() == ModelRef("local", "auto")


def test_a_model_is_usable_at_an_address_that_needs_no_key(read: Load) -> None:
    config = read("name: x")
    assert not config.usable(ModelRef("openai", "m"))
    assert config.usable(ModelRef("openai", "m", endpoint="http://127.0.0.1:8000/v1"))
    assert not config.usable(ModelRef("nowhere", "m", endpoint="http://127.0.0.1:8000/v1"))


def test_a_model_entry_carries_everything_to_its_ref(read: Load) -> None:
    config = read(
        """\
        brain:
          llm:
            default:
              {provider: openai, model: 7, max_tokens: 100, temperature: 0.5, endpoint: "http://h:1/v1", vision: yes,
               window_tokens: 8000, price: [1, 2.5]}
        """
    )
    price = Price(1.0, 2.5)
    assert config.brain.llm.default.ref() == ModelRef("openai", "7", 100, 0.5, "http://h:1/v1", True, 8000, price)


def test_given_providers_are_there_and_take_their_key_from_the_environment(read: Load) -> None:
    config = read("name: x", {"ANTHROPIC_API_KEY": "sk-ant-1234567"})
    assert set(config.providers) == {"anthropic", "openai", "ollama", "local"}
    assert config.usable(ModelRef("anthropic", "m"))
    assert not config.usable(ModelRef("openai", "m"))
    assert "api_key" in config.providers["openai"].missing
    assert not read("providers: {anthropic: {api_key: ''}}", {"ANTHROPIC_API_KEY": "sk-ant-1234567"}).usable(
        ModelRef("anthropic", "m")
    )


def test_a_provider_of_another_name_says_its_kind(read: Load, complaints: Complain) -> None:
    config = read('providers: {mylab: {kind: openai, base_url: "http://lab:8000/v1", api_key: x}}')
    assert (config.providers["mylab"].kind, config.providers["mylab"].on) == ("openai", True)
    (line,) = complaints("providers: {mylab: {api_key: x}}")
    assert line.startswith("config.yaml:1: providers.mylab: needs kind: with one of anthropic, ")


@pytest.mark.parametrize(
    ("model", "near"),
    [
        ("{provider: local, model: x}", True),
        ("{provider: ollama, model: x}", True),
        ('{provider: openai, model: x, endpoint: "http://192.168.1.5:8000/v1"}', True),
        ('{provider: ollama, model: x, endpoint: "https://models.example.com"}', False),
        ("{provider: anthropic, model: x}", False),
    ],
)
def test_a_private_rule_stays_on_local_models(complaints: Complain, model: str, near: bool) -> None:
    lines = complaints(f"brain: {{llm: {{routing: {{rules: [{model[:-1]}, private: true, match: 'images'}}]}}}}}}")
    assert (lines == []) is near
    assert near or "must name a local model" in lines[0]


def test_nothing_of_a_config_can_be_changed_and_repr_shows_no_secret(read: Load) -> None:
    config: Config = read(
        "providers: {openai: {api_key: sk-hidden-value}}\ntools: {secrets: {deploy: '${DEPLOY_TOKEN}'}}\n",
        {"DEPLOY_TOKEN": "deploy-hidden-value"},
    )
    assert "hidden-value" not in repr(config)
    assert "hidden-value" not in str(effective(config))
    assert config.secrets() == {"sk-hidden-value", "deploy-hidden-value"}
    with pytest.raises(AttributeError):
        config.name = "x"  # type: ignore[misc]
    with pytest.raises(ValueError, match="frozen"):
        config.brain.limits.tool_calls = 1  # type: ignore[misc]


def test_values_of_variables_named_like_secrets_are_known_to_the_redactor_wherever_they_go(read: Load) -> None:
    config = read(
        'hooks: [{event: Stop, command: [tell, "${MY_TOKEN}", "${PLACE}"]}]',
        {"MY_TOKEN": "abcdef99", "PLACE": "garden"},
    )
    assert config.secrets() == {"abcdef99"}


def test_a_secret_may_come_from_a_file(read: Load, complaints: Complain, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-from-a-file\n")
    config = read("providers: {openai: {api_key_file: key}}\ntools: {secrets: {deploy_file: key}}\n")
    assert config.secrets() == {"sk-from-a-file"}
    assert config.tools.secrets["deploy"].get_secret_value() == "sk-from-a-file"
    (line,) = complaints("providers:\n  openai: {api_key: sk-x, api_key_file: key}\n")
    assert (
        line
        == "config.yaml:2: providers.openai.api_key_file: api_key and api_key_file are both given; keep one of them"
    )
    (line,) = complaints("providers: {openai: {api_key_file: keys}}")
    assert line == 'config.yaml:1: providers.openai.api_key_file: there is no such file (not "keys")'


def test_no_value_of_the_environment_is_quoted_in_a_problem(complaints: Complain) -> None:
    text = "channels: {web: {port: '${A}', on_disconnect: '${A}'}}\nschedule: {quiet_hours: '${A}'}\n"
    lines = complaints(text, {"A": "very-secret"})
    assert len(lines) == 3
    assert all("very-secret" not in line and '(not "${A}")' in line for line in lines)


def test_a_secret_that_slipped_into_another_key_is_masked_when_it_is_quoted(complaints: Complain) -> None:
    (line,) = complaints("channels: {telegram: {streaming: '123456789:AAFakeTokenFakeTokenFakeTokenFake12'}}")
    assert "AAFake" not in line
    assert '(not "***")' in line
