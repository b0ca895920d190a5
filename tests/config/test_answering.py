"""What the doctor says of skills, routes and money, and online of windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from bot.brain.skills.shelf import SkillShelf
from bot.config.answering import money, routes, skills
from bot.config.doctor import Finding
from bot.config.loaded import Config
from bot.config.packaged import packaged_skills
from bot.config.reach import windows
from bot.net.http import Transport
from tests.fakes.clock import FakeClock
from tests.fakes.saying import PAGE, saying
from tests.sim.llm import LlmSim, Settings

from .conftest import Load


def lines(check: Callable[[Config], Iterable[Finding]], config: Config) -> list[tuple[str, str]]:
    found = list(check(config))
    assert all(one.advice for one in found if one.level == "warn")
    return [(one.level, one.line) for one in found]


def test_how_many_skills_there_are_is_told_and_each_refused_one_with_its_line(read: Load, tmp_path: Path) -> None:
    own = tmp_path / "own"
    for name, text in (
        ("good", "---\nname: good\ndescription: Does well.\n---\nDo well."),
        ("open", "---\nname: open\ndescription: never closed\n"),
        ("lacking", "---\nname: lacking\ndescription: x\nrequires: {bins: [no-such-program]}\n---\nRun it."),
    ):
        (own / name).mkdir(parents=True)
        (own / name / "SKILL.md").write_text(text, encoding="utf-8")
    shipped = SkillShelf([packaged_skills()], FakeClock())
    shipped.read()
    told = lines(skills, read("skills: [own]"))
    assert told[0] == ("ok", f"{len(shipped.skills) + 2} can be used")
    assert any(level == "warn" and "open/SKILL.md:1: the front matter is opened" in line for level, line in told)
    assert any("lacking needs the program no-such-program" in line for _, line in told)


RULE = "providers: {lab: {kind: openai, base_url: 'http://127.0.0.1:9/v1'}}\nbrain: {llm: {routing: {%s}}}\n"


def ruled(*matches: str, more: str = "") -> str:
    rules = ", ".join(f"{{match: '{match}', provider: lab, model: m}}" for match in matches)
    return RULE % f"rules: [{rules}]{more}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ruled('complexity == "simple"', 'intent in ["code", "small_talk"] && length > 3'), []),
        (ruled(), []),
        (ruled('intent == "codee"'), ['rules[0]: intent is never "codee"; did you mean']),
        (ruled('intent in ["code", "nothing_known"]'), ['rules[0]: intent is never "nothing_known"']),
        (ruled('complexity == "easy"'), ['rules[0]: complexity is never "easy"']),
        (ruled('privacy != "public"', 'privacy == "hidden"'), ['rules[1]: privacy is never "hidden"']),
        (ruled("true", 'channel == "web"'), ["rules[1] is never reached: brain.llm.routing.rules[0] is always true"]),
        (ruled(more=", local_only: [personal_infos]"), ['local_only: no intent is called "personal_infos"']),
        (ruled('intent == "mine"', more=", intents: {mine: {examples: [x]}}, cloud_only: [mine]"), []),
        (
            "brain: {llm: {routing: {rules: [{match: images, provider: anthropic, model: x}]}}}",
            ["rules[0]: anthropic/x cannot be asked"],
        ),
        (RULE % "enabled: false", []),
    ],
)
def test_rules_and_lists_that_can_never_hold_are_named(read: Load, text: str, words: list[str]) -> None:
    told = lines(routes, read(text))
    assert len(told) == max(1, len(words)), told
    for (level, line), word in zip(told, words, strict=False):
        assert level == "warn" and word in line
    if not words:
        assert told[0][0] == "ok"


def test_a_model_whose_price_nobody_knows_is_named_with_the_budget_it_escapes(read: Load) -> None:
    providers = "providers: {lab: {kind: openai, base_url: 'https://lab.example/v1'}, ollama: {}, near: {kind: openai, base_url: 'http://127.0.0.1:9/v1'}}\n"
    known = "default: {provider: lab, model: m, price: [1, 2]}, fallback: [ollama/x]"
    (told,) = lines(money, read(f"{providers}brain: {{llm: {{{known}}}}}"))
    assert told[0] == "ok" and "$5.00 a day" in told[1] and "the price of every model is known" in told[1]
    (told,) = lines(money, read(f"{providers}brain: {{llm: {{default: lab/m, fallback: [ollama/x, near/m]}}}}"))
    assert told[0] == "warn" and told[1].startswith("the price of lab/m is not known")


async def test_online_how_much_each_model_reads_is_told_with_whose_word_it_is(read: Load) -> None:
    transport = Transport()
    async with LlmSim(Settings(server="vllm", window_tokens=20_000, openai_models=("m",))) as sim:
        text = f"""
            providers: {{lab: {{kind: openai, base_url: '{sim.openai_url}'}}, ollama: {{base_url: '{sim.url}'}}}}
            brain:
              llm:
                default: lab/m
                fallback:
                  - {{provider: lab, model: big, window_tokens: 9000, max_tokens: 100}}
                  - ollama/llama3.2:3b
                  - lab/nobody
        """
        told = [f"{one.level} {one.line}" for one in await windows(read(text), transport)]
        sim.settings.server = "openai"
        silent = [one.line for one in await windows(read(text), transport)]
    await transport.aclose()
    assert "ok lab/m reads 20,000 tokens (its provider says so)" in told
    assert "ok lab/big reads 9,000 tokens (its entry says so)" in told
    assert "ok ollama/llama3.2:3b reads 8,192 tokens (its provider says so)" in told
    assert "lab/m: its provider does not say how much it reads; 128,000 tokens are assumed" in silent


async def test_online_of_what_does_not_answer_no_window_is_told(read: Load) -> None:
    transport = Transport()
    async with saying(PAGE) as url:
        text = (
            f"providers: {{lab: {{kind: openai, base_url: '{url}'}}}}\nbrain: {{llm: {{default: lab/m, fallback: []}}}}"
        )
        assert [one for one in await windows(read(text), transport) if "lab" in one.line] == []
    await transport.aclose()
