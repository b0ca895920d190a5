"""The sections one by one: bounds, forms in short, contradictions."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError

from bot.config.match import checked_match
from bot.config.section import is_loopback, is_near
from bot.inbox.access import Access, NumericAccess

from .conftest import Complain, Load


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("brain: {limits: {tool_calls: true}}", "brain.limits.tool_calls", "must be a number, not true"),
        ("brain: {limits: {tool_calls: many}}", "brain.limits.tool_calls", 'must be a whole number (not "many")'),
        ("brain: {money: {day_usd: -1}}", "brain.money.day_usd", 'must be 0 or more (not "-1")'),
        ("brain: {money: {day_usd: .inf}}", "brain.money.day_usd", "must be a"),
        ("channels: {web: {port: 70000}}", "channels.web.port", "must lie between 0 and 65535"),
        ("brain: {constraints: be kind}", "brain.constraints", "must be a list"),
        ("name: ''", "name", "must not be empty"),
        ("name: [x]", "name", "must be a text"),
        ("name: true", "name", "must be a text; put it in quotes"),
        ("soul: ''", "soul", "must not be empty"),
        ("timezone: Berlin/Europe", "timezone", "IANA name"),
        ("brain: {llm: {default: {model: x}}}", "brain.llm.default.provider", "is missing here"),
        ("brain: {llm: {default: gpt}}", "brain.llm.default", "provider/model"),
        (
            "brain: {llm: {default: {provider: local, model: x, window_tokens: 100}}}",
            "brain.llm.default",
            "max_tokens leaves no room",
        ),
        ("brain: {llm: {routing: {local_only: [a], cloud_only: [a]}}}", "brain.llm.routing", 'the intent "a"'),
        ("memory: {distill: {nightly: '0 3 * *'}}", "memory.distill.nightly", "five fields"),
        ("memory: {reranker: {cross_encoder: nowhere}}", "memory.reranker.cross_encoder", "there is no such file"),
        ("memory: {embedder: lokal}", "memory.embedder.provider", 'did you mean "local"?'),
        ("tools: {approve: {shell: sometimes}}", "tools.approve.shell", "must be one of: allow, ask, deny"),
        ("tools: {mcp: {x: {}}}", "tools.mcp.x", "needs either command or url"),
        ("tools: {mcp: {x: {command: serve}}}", "tools.mcp.x.command", "must be a list of words"),
        ("tools: {mcp: {x: {url: 'ftp://h'}}}", "tools.mcp.x.url", "http:// or https://"),
        ("tools: {mcp: {x: {url: 'http://u:p@h'}}}", "tools.mcp.x.url", "must not hold a user name"),
        ("tools: {trusted_sources: [{source: x}]}", "tools.trusted_sources[0].for", "is missing here"),
        ("tools: {secrets: {a: $DEPLOY}}", "tools.secrets.a", "write ${DEPLOY}"),
        ("tools: {secrets: {a: “x”}}", "tools.secrets.a", "curly quotes"),
        ("hooks: [{event: Stop}]", "hooks[0].command", "is missing here"),
        ("hooks: [{event: stopped, command: [x]}]", "hooks[0].event", 'did you mean "Stop"?'),
        ("schedule: {quiet_hours: '22:00-22:00'}", "schedule.quiet_hours", "begins and ends at the same time"),
        ("data_dir: config.yaml", "data_dir", "must be a folder"),
        ("skills: [nowhere]", "skills[0]", 'there is no such folder (not "nowhere")'),
        ("soul: .", "soul", "must be a file"),
        ("channels: 3", "channels", "must be a section"),
        ("channels: {web: {host: 0.0.0.0}}", "channels.web.host", "a token is needed"),
        ("channels: {web: {host: '127.0.0.1:80'}}", "channels.web.host", "the port has a key of its own"),
    ],
)
def test_a_wrong_value_is_told_at_its_key(complaints: Complain, text: str, key: str, words: str) -> None:
    (line,) = complaints(text)
    assert line.startswith(f"config.yaml:1: {key}: ")
    assert words in line


JOB = "name: a, when: '{when}', to: 'telegram:main:1:', prompt: x"


@pytest.mark.parametrize(
    "when", ["0 8 * * 1-5", "*/15 0-6,22 1,15 jan-mar SUN", "59 23 31 12 7", "0 0 * * mon,wed", "5/10 * * * *"]
)
def test_cron_expressions_of_five_fields_are_taken(read: Load, when: str) -> None:
    assert read(f"schedule: {{jobs: [{{{JOB.format(when=when)}}}]}}").schedule.jobs[0].when == when


@pytest.mark.parametrize(
    "when",
    [
        *("60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "5-1 * * * *", "a * * * *"),
        *("*/0 * * * *", "1-2-3 * * * *", "* * * * * *", "@daily", ""),
    ],
)
def test_other_cron_expressions_are_refused(complaints: Complain, when: str) -> None:
    (line,) = complaints(f"schedule: {{jobs: [{{{JOB.format(when=when)}}}]}}")
    assert line.startswith("config.yaml:1: schedule.jobs[0].when: ")


def test_a_job_has_an_address_a_name_of_its_own_and_perhaps_a_model(read: Load, complaints: Complain) -> None:
    job = JOB.format(when="0 8 * * *")
    schedule = read(
        f"schedule: {{jobs: [{{{job}, model: {{}}}}, {{{job.replace('name: a', 'name: b')}, model: ollama/m}}]}}"
    ).schedule
    assert schedule.jobs[0].address().chat == "1"
    assert schedule.jobs[0].model is None
    assert schedule.jobs[1].model is not None
    (line,) = complaints(f"schedule:\n  jobs:\n    - {{{job}}}\n    - {{{job}}}\n")
    assert line == 'config.yaml:4: schedule.jobs[1].name: another job is already called "a"'
    (line,) = complaints(f"schedule: {{jobs: [{{{job.replace('telegram:', 'telegrm:')}}}]}}")
    assert 'did you mean "telegram"?' in line


@pytest.mark.parametrize(
    "match",
    [
        'complexity == "simple"',
        'intent in ["personal_info", "local_data"] && !(images || length > 2000)',
        "person.startsWith('telegram:') ? true : false",
        "['a', 'b'].exists(x, x == intent)",
        "size(intent) >= 3 // why",
        'privacy != r"\\d"',
    ],
)
def test_expressions_over_the_known_names_pass(match: str) -> None:
    assert checked_match(match) == match


@pytest.mark.parametrize(
    ("match", "words"),
    [
        ('intent = "x"', "write =="),
        ('complexty == "x"', 'did you mean "complexity"?'),
        ('intent == "x', "a quote that is not closed"),
        ("intent in ['a'", "opened and not closed"),
        ("intent in ['a')", "closed that was not opened"),
        ('intent == "x" and images', "write &&"),
        ("intent == 'x' ; images", "a sign that expressions do not know"),
        ("images > 0", "images is true or false"),
        ("length", "must be true or false"),
        ("intent == ", "is no expression"),
        ("intnt() == 'x'", "a function that expressions do not know"),
    ],
)
def test_expressions_that_would_never_match_are_told(match: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        checked_match(match)


@pytest.mark.parametrize(
    "wrong",
    [
        [True],
        [1.5],
        ["1.5"],
        ["1e18"],
        ["1_000"],
        ["0123"],
        ["@alice"],
        ["#general"],
        ["a b"],
        [None],
        ["no"],
        ["null"],
        ["telegram:1"],
        True,
        "1,2",
        {"a": 1},
    ],
)
def test_b229_b286_what_is_no_id_is_refused(wrong: object) -> None:
    for field in ("owners", "users", "groups"):
        with pytest.raises(ValidationError):
            Access.model_validate({field: wrong})


def test_only_users_and_groups_may_be_everyone() -> None:
    access = Access.model_validate({"users": "*", "groups": ["*"]})
    assert (access.users, access.groups, access.owners) == (("*",), ("*",), ())
    with pytest.raises(ValidationError, match="name the owners one by one"):
        Access.model_validate({"owners": ["*"]})


def test_ids_of_slack_are_letters_and_those_of_telegram_are_not() -> None:
    assert Access.model_validate({"owners": ["U012AB3CD"], "groups": None}).owners == ("U012AB3CD",)
    with pytest.raises(ValidationError, match="ids are numbers"):
        NumericAccess.model_validate({"users": ["alice"]})
    assert NumericAccess.model_validate({"users": ["*", -100123]}).users == ("*", "-100123")


def test_near_is_this_machine_and_its_own_network() -> None:
    near = [
        "http://127.0.0.1:1",
        "http://localhost",
        "http://[::1]:2",
        "http://10.0.0.7",
        "http://lab:8000",
        "http://nas.local/v1",
        "http://[::ffff:192.168.1.1]",
    ]
    far = ["https://api.openai.com/v1", "http://8.8.8.8", "https://local.example.com", ""]
    assert [is_near(url) for url in near + far] == [True] * len(near) + [False] * len(far)
    assert [is_loopback(host) for host in ("127.9.9.9", "::1", "localhost", "0.0.0.0", "::", "lab")] == [True] * 3 + [
        False
    ] * 3
