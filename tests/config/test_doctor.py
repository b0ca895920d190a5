"""The doctor: every line says what is and what to do."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from pydantic import BaseModel

from bot.config.doctor import Finding, as_json, check, failed, refused, room
from bot.config.loaded import Config, Entry
from bot.config.reach import reach
from bot.config.services import answers
from bot.core.errors import ConfigError
from bot.net.http import Transport
from tests.fakes.saying import PAGE, saying

from .conftest import Load

PROBELESS = "bot.config.section"
"""A module that does not know how to ask its service."""


class Ollama(BaseModel):
    base_url: str


async def lines(config: Config, level: str = "") -> list[str]:
    return [f"{one.area}: {one.line}" for one in await check(config) if level in ("", one.level)]


async def advice(config: Config, words: str) -> str:
    (finding,) = [one for one in await check(config) if words in one.line]
    assert finding.level != "ok"
    assert finding.advice
    return finding.advice


async def test_a_sound_config_without_keys_has_no_failure_and_names_the_missing_keys(read: Load) -> None:
    config = read("channels: {terminal: {}}\nsoul: SOUL.md\n")
    findings = await check(config)
    told = [one for one in findings if one.level == "fail" and "no channel is on" not in one.line]
    assert told == []
    assert "ANTHROPIC_API_KEY in .env" in await advice(config, "models of anthropic are skipped")
    assert not any("distilled" in one.line or "quiet hours" in one.line for one in findings)


async def test_b232_who_may_talk_is_told_for_every_channel_that_is_on(read: Load) -> None:
    config = read("channels: {telegram: {token: '1:a', access: {owners: [7], users: '*', pairing: false}}}")
    entry = config.channels["telegram"]
    switched_on = _with_channel(config, Entry(entry.name, entry.kind, entry.config, "channels.telegram"))
    assert "channels: telegram is on (owners 7; users anyone; groups nobody; pairing off)" in await lines(switched_on)
    config = read("channels: {telegram: {token: '1:a', access: {pairing: false}}}")
    entry = config.channels["telegram"]
    switched_on = _with_channel(config, Entry(entry.name, entry.kind, entry.config, "channels.telegram"))
    (finding,) = [one for one in await check(switched_on) if one.line.startswith("telegram is on")]
    assert "nobody may talk to it" in finding.advice


def _with_channel(config: Config, entry: Entry) -> Config:
    return replace(config, channels={**config.channels, entry.name: entry})


async def test_a_channel_with_its_token_that_cannot_run_is_a_warning_and_one_without_is_none(read: Load) -> None:
    config = read("channels: {telegram: {token: '1:a'}, discord: {token: ''}}")
    entry = config.channels["telegram"]
    without = "The library python-telegram-bot is not installed: pip install 'bowerbird[telegram]'."
    bare = _with_channel(config, Entry(entry.name, entry.kind, entry.config, entry.module, without))
    assert f"channels: telegram is off. {without}" in await lines(bare, "warn")
    assert "channels: discord is off. It has no token." in await lines(bare, "ok")


async def test_nothing_is_said_to_work_that_was_not_asked(read: Load) -> None:
    config = read("providers: {mylab: {kind: openai, base_url: 'http://127.0.0.1:9/v1', api_key: x}}")
    told = await lines(config)
    assert not any("can be used" in line for line in told)
    assert any("ollama is used when Ollama runs at http://127.0.0.1:11434; --online looks" in line for line in told)
    assert any("mylab is set up with a key for http://127.0.0.1:9/v1; --online tries it" in line for line in told)


async def test_a_library_that_is_missing_is_to_be_installed_whatever_keys_are_empty(read: Load) -> None:
    config = read(
        "brain: {llm: {default: {provider: mylab, model: x}}}\nproviders: {mylab: {kind: openai, base_url: 'http://127.0.0.1:9/v1'}}"
    )
    entry = config.providers["mylab"]
    without = Entry(
        entry.name,
        entry.kind,
        entry.config,
        entry.module,
        "The package openai is not installed: pip install 'bowerbird[openai]'.",
    )
    config = replace(config, providers={**config.providers, "mylab": without})
    assert await advice(config, "models of mylab are skipped") == "run pip install 'bowerbird[openai]'"


@pytest.mark.parametrize(
    ("providers", "wanted"),
    [
        ("{local: off, ollama: off}", "warn providers: no model answers; commands such as /help still do"),
        ("{ollama: off}", "warn providers: only the local model answers"),
        ("{local: off}", "ok providers: models are tried in this order: ollama/llama3.2 (if it runs)"),
        ("{}", "ok providers: models are tried in this order: ollama/llama3.2 (if it runs), then the local model"),
    ],
)
async def test_the_order_of_the_models_is_what_it_will_be(read: Load, providers: str, wanted: str) -> None:
    config = read(f"providers: {providers}\n")
    on = {
        name: Entry(name, one.kind, one.config, one.module, one.missing if name not in ("local", "ollama") else "")
        for name, one in config.providers.items()
    }
    told = [f"{one.level} {one.area}: {one.line}" for one in await check(replace(config, providers=on))]
    assert [line for line in told if "answers" in line or "in this order" in line] == [wanted]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("gone.gguf", "names a file that does not exist"),
        ("folder", "names a folder"),
        ("page.gguf", "names a file that is not a GGUF model"),
    ],
)
async def test_a_local_model_of_ones_own_that_cannot_be_one_is_a_failure(
    read: Load, tmp_path: Path, path: str, said: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "page.gguf").write_text("<!doctype html>")
    config = read(f"providers: {{local: {{path: {path}}}}}")
    assert f"local model: providers.local.path {said}: {tmp_path / path}" in await lines(config, "fail")
    assert "correct it" in await advice(config, said)


async def test_a_local_model_of_ones_own_is_not_said_to_be_fetched(read: Load, tmp_path: Path) -> None:
    (tmp_path / "mine.gguf").write_bytes(b"GGUF....")
    told = await lines(read("providers: {local: {path: mine.gguf}}"), "ok")
    assert f"local model: local is set up; its model is {tmp_path / 'mine.gguf'}" in told
    assert not any("fetched" in line for line in told)
    assert any("its model is fetched when it is needed" in line for line in await lines(read("name: x")))


async def test_nothing_to_talk_through_is_a_failure(read: Load) -> None:
    assert "channels: no channel is on" in await lines(read("channels: {web: off}"), "fail")


async def test_a_temperature_that_a_vendor_refuses_is_told(read: Load) -> None:
    config = read("brain: {llm: {default: {provider: anthropic, model: x, temperature: 0.3}}}")
    assert "remove it" in await advice(config, "brain.llm.default.temperature is dropped: anthropic refuses it")


async def test_words_that_stand_for_a_secret_are_a_failure(read: Load) -> None:
    config = read("providers: {openai: {api_key: changeme}}\n")
    assert any("providers.openai.api_key holds a word" in line for line in await lines(config, "fail"))


async def test_secrets_in_files_that_others_may_read_are_told_without_the_secret(read: Load, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-hidden-value\n")
    config = read("providers: {anthropic: {api_key: sk-written-here}}\n")
    for name in (".env", "config.yaml"):
        (tmp_path / name).chmod(0o644)
    findings = await check(config)
    assert {one.advice for one in findings if "holds a secret" in one.line} == {
        f"chmod 600 {tmp_path / '.env'}",
        f"chmod 600 {tmp_path / 'config.yaml'}",
    }
    assert not any("hidden" in str(one) or "written-here" in str(one) for one in findings)
    for name in (".env", "config.yaml"):
        (tmp_path / name).chmod(0o600)
    assert not any("holds a secret" in line for line in await lines(config))


async def test_b285_rules_that_allow_anything_or_are_never_reached_are_told(read: Load) -> None:
    config = read('tools: {approve: {"web_*": allow, "*": allow, "memory_*": deny}}')
    assert "write ask" in await advice(config, '"*": allow lets a model run any program')
    assert "narrower pattern first" in await advice(config, '"memory_*" is never reached, because "*" stands above it')
    assert not any("approve" in line for line in await lines(read("name: x")))


async def test_hooks_jobs_programs_and_folders_are_looked_at(read: Load, tmp_path: Path) -> None:
    config = read(
        """\
        hooks: [{event: Stop, command: [no-such-program-here]}, {event: Stop, command: [sh], trusted: true}]
        tools: {mcp: {box: {command: [./tool]}}, shell: {sandbox: none}}
        memory: {knowledge: [notes]}
        schedule: {jobs: [{name: a, when: "0 8 * * *", to: "slack:main:1:", prompt: x}]}
        """
    )
    assert "trusted: true" in await advice(config, "hooks[0] does not run")
    assert await advice(config, "hooks[0]: the program no-such-program-here is not found")
    assert await advice(config, "tools.mcp.box: the program ./tool is not found")
    assert await advice(config, f"knowledge: {tmp_path / 'notes'} does not exist")
    assert await advice(config, 'the job "a" writes to slack, which is off')
    assert await advice(config, "tools.shell.sandbox: none")
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    (tmp_path / "tool").chmod(0o755)
    assert not any("hooks[1]" in line or "tools.mcp." in line for line in await lines(config))


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("/proc/x/data", "/proc/x/data cannot be made or written"),
        ("/sys/data", "/sys"),
        ("x" * 300, "cannot be made or written: File name too long"),
        ("/dev/null/data", "/dev/null is not a folder"),
    ],
)
async def test_a_data_folder_that_cannot_be_made_is_a_failure(read: Load, folder: str, words: str) -> None:
    (finding,) = [one for one in await check(read(f"data_dir: {folder}")) if one.level == "fail" and words in one.line]
    assert "data_dir" in finding.advice


async def test_looking_at_the_data_folder_leaves_nothing_in_it(read: Load, tmp_path: Path) -> None:
    config = read("data_dir: data")
    assert f"config: data goes to {tmp_path / 'data'}" in await lines(config, "ok")
    assert not (tmp_path / "data").exists() and not list(tmp_path.glob(".bowerbird-*"))
    (tmp_path / "data").mkdir()
    await check(config)
    assert not list((tmp_path / "data").iterdir())


@pytest.mark.parametrize(("free", "level"), [(10**12, []), (10**8, ["warn"]), (9 * 10**6, ["fail"]), (0, ["fail"])])
def test_a_disk_that_is_nearly_full_is_told_before_it_is_full(free: int, level: list[str]) -> None:
    told = list(room(Path("/data"), free))
    assert [one.level for one in told] == level
    assert all(f"{free // 10**6} MB" in one.line and "free some space" in one.advice for one in told)


async def test_other_rooms_add_their_checks_and_the_json_form_says_all(read: Load) -> None:
    def store(config: Config) -> Iterable[Finding]:
        yield Finding("fail", "store", f"{config.data_dir.name} is damaged", "restore a backup")

    findings = await check(read("name: x"), [store])
    assert failed(findings)
    body = json.loads(as_json(findings))
    assert body["ok"] is False
    assert body["findings"][-1] == {
        "level": "fail",
        "area": "store",
        "line": "data is damaged",
        "advice": "restore a backup",
    }
    assert str(findings[-1]) == "FAIL  store: data is damaged\n      -> restore a backup"


@pytest.mark.parametrize(
    ("status", "kind", "works"), [(200, "text/plain", True), (200, "text/html", False), (502, "text/plain", False)]
)
async def test_a_service_works_again_when_something_of_its_kind_answers(status: int, kind: str, works: bool) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status, text="Ollama is running", content_type=kind)

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    transport = Transport()
    try:
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        assert await answers(Entry("ollama", "ollama", Ollama(base_url=url), PROBELESS), transport) is works
    finally:
        await transport.aclose()
        await runner.cleanup()
    gone = Entry("ollama", "ollama", Ollama(base_url="http://127.0.0.1:9"), PROBELESS)
    transport = Transport()
    assert not await answers(gone, transport)
    await transport.aclose()


def test_a_config_that_cannot_be_read_is_a_list_of_failures() -> None:
    (finding,) = refused(ConfigError("unknown key", file="config.yaml", line=3, key="a"))
    assert (finding.level, finding.line) == ("fail", "config.yaml:3: a: unknown key")


@pytest.fixture
async def server() -> str:  # type: ignore[misc]
    """A server that answers 404 to everything, as vendors do at the top of their address."""
    runner = web.AppRunner(web.Application())
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    yield f"http://127.0.0.1:{port}"  # type: ignore[misc]
    await runner.cleanup()


def _only_provider(config: Config, url: str) -> Config:
    entry = Entry("ollama", "ollama", Ollama(base_url=url), PROBELESS)
    return replace(config, channels={}, providers={"ollama": entry})


async def test_online_any_answer_of_an_address_counts_and_silence_is_a_failure(read: Load, server: str) -> None:
    transport = Transport()
    try:
        config = read("name: x")
        (finding,) = await reach(_only_provider(config, server), transport)
        assert (finding.level, finding.area) == ("ok", "providers")
        assert finding.line == f"ollama: {server.removeprefix('http://')} answers"
        (finding,) = await reach(_only_provider(config, "http://127.0.0.1:9"), transport)
        assert (finding.level, finding.line) == ("warn", "ollama does not run at http://127.0.0.1:9")
        assert finding.advice
    finally:
        await transport.aclose()


async def test_online_a_web_page_in_ollamas_place_is_called_one(read: Load) -> None:
    transport = Transport()
    async with saying(PAGE) as url:
        config = read(f"providers: {{ollama: {{base_url: '{url}'}}}}")
        ours = replace(config, channels={}, providers={"ollama": config.providers["ollama"]})
        unproven = _only_provider(config, url)
        for one, words in ((ours, "is a web page, not a model service"), (unproven, "is a web page")):
            (finding,) = await reach(one, transport)
            assert (finding.level, finding.advice) == ("fail", "check the address in the file")
            assert words in finding.line
            assert not await answers(one.providers["ollama"], transport)
    await transport.aclose()


async def test_online_a_module_with_a_probe_proves_its_secret_itself(
    read: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "probing_channel.py").write_text(
        "from bot.core.errors import StreamGarbled, Unauthorised\n"
        "async def probe(config):\n"
        "    if config.base_url.endswith('bad'):\n"
        "        raise Unauthorised('The token is not accepted.')\n"
        "    if config.base_url.endswith('page'):\n"
        "        raise StreamGarbled('The address answers, but not as a model service does.')\n"
        "    return 'it is @mybot'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    transport = Transport()
    for url, level, words, advice in (
        ("http://good", "ok", "it is @mybot", ""),
        ("http://bad", "fail", "The token is not accepted.", "check its token or key"),
        (
            "http://page",
            "fail",
            "The address answers, but not as a model service does.",
            "check the address in the file",
        ),
    ):
        entry = Entry("bird", "bird", Ollama(base_url=url), "probing_channel")
        config = replace(read("name: x"), channels={"bird": entry}, providers={})
        assert await reach(config, transport) == [
            Finding(level, "channels", f"bird: {words}", advice)  # type: ignore[arg-type]
        ]
    await transport.aclose()
