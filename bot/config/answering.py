"""What the doctor says of what answers depend on besides keys: skills, routes, and what models cost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, get_args

from bot.brain.routing.catalogue import Slot, with_own
from bot.brain.routing.privacy import Privacy
from bot.brain.routing.signals import Complexity
from bot.brain.skills.shelf import SkillShelf
from bot.config.checks import model_entries
from bot.config.doctor import Finding
from bot.config.hints import did_you_mean
from bot.config.loaded import Config, answers_nearby
from bot.config.model_entry import Rule
from bot.config.packaged import packaged_skills
from bot.config.problems import dotted
from bot.core.model import ModelRef
from bot.providers import pricelist
from bot.time.clock import SystemClock

_LISTS: Final = ("local_only", "local_preferred", "cloud_only")
_COMPARED: Final = re.compile(r"\b(intent|complexity|privacy)\s*(?:==|!=|in)\s*(\[[^\]]*\]|\"[^\"]*\"|'[^']*')")
_WORD: Final = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_ALWAYS: Final = re.compile(r"\s*true\s*")


def skills(config: Config) -> Iterator[Finding]:
    """How many there are, and each that is refused or lacks something, with the reason."""
    shelf = SkillShelf([packaged_skills(), *config.skills], SystemClock())
    shelf.read()
    yield Finding("ok", "skills", f"{len(shelf.skills)} can be used")
    for refusal in shelf.refusals:
        yield Finding("warn", "skills", f"refused: {refusal}", "correct its SKILL.md, or take the folder away")
    for skill in shelf.skills.values():
        if missing := skill.needs.missing():
            line = f"{skill.name} needs {', '.join(missing)}, and is not called upon without"
            yield Finding("warn", "skills", line, "install or set that, or take the skill away")


def routes(config: Config) -> Iterator[Finding]:
    """Rules and lists that can never hold. One that is no expression at all is an error of the file, told with its line."""
    routing = config.brain.llm.routing
    if not routing.enabled:
        yield Finding("ok", "routes", "off: every message goes to the default model")
        return
    slots = with_own(
        Slot(name, one.description, one.examples, one.keywords, threshold=one.threshold)
        for name, one in routing.intents.items()
    )
    intents = tuple(slot.name for slot in slots)
    wrong = [*_rules(config, intents), *_named(config, intents)]
    count = len(routing.rules)
    if not wrong:
        yield Finding("ok", "routes", f"{count} rule{'s' if count != 1 else ''}, nothing is wrong with them")
    yield from wrong


def _rules(config: Config, intents: tuple[str, ...]) -> Iterator[Finding]:
    always = ""
    for number, rule in enumerate(config.brain.llm.routing.rules):
        place = dotted(("brain", "llm", "routing", "rules", number))
        if always:
            yield Finding("warn", "routes", f"{place} is never reached: {always} is always true", "put it further up")
        always = always or (place if _ALWAYS.fullmatch(rule.match) else "")
        for fact, word, known in _unknown(rule, intents):
            line = f'{place}: {fact} is never "{word}"{did_you_mean(word, known)}'
            yield Finding("warn", "routes", line, f"{fact} is one of: {', '.join(known)}")
        if not config.usable(rule.ref()):
            line = f"{place}: {rule.provider}/{rule.model} cannot be asked; the next of the chain answers"
            yield Finding("warn", "routes", line, f"give {rule.provider} what it lacks, or name another model")


def _unknown(rule: Rule, intents: tuple[str, ...]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """What a rule compares a fact with that the fact can never be."""
    values = {"intent": ("", *intents), "complexity": get_args(Complexity), "privacy": get_args(Privacy)}
    for found in _COMPARED.finditer(rule.match):
        known = values[found[1]]
        for one in _WORD.finditer(found[2]):
            word = one[1] if one[1] is not None else one[2]
            if word not in known:
                yield found[1], word, tuple(filter(None, known))


def _named(config: Config, intents: tuple[str, ...]) -> Iterator[Finding]:
    for key in _LISTS:
        for name in getattr(config.brain.llm.routing, key):
            if name not in intents:
                line = f'brain.llm.routing.{key}: no intent is called "{name}"{did_you_mean(name, intents)}'
                yield Finding("warn", "routes", line, f"intents: {', '.join(intents)}")


def money(config: Config) -> Iterator[Finding]:
    """Whether what the models cost is known: what is not cannot be counted against a budget. One's own servers cost
    nothing that a vendor bills."""
    limits, seen = config.brain.money, dict[str, ModelRef]()
    for place, entry in model_entries(config):
        if place != ("brain", "llm", "transcribe") and config.usable(entry.ref()):
            seen.setdefault(str(entry.ref()), config.ref(entry))
    unpriced = (name for name, model in seen.items() if model.price is None)
    unknown = sorted(name for name in unpriced if not answers_nearby(seen[name], config.providers))
    budget = f"${limits.day_usd:.2f} a day in all, ${limits.person_day_usd:.2f} for each person"
    if not unknown:
        yield Finding("ok", "money", f"{budget}; the price of every model is known (list of {pricelist.as_of()})")
    for name in unknown:
        line = f"the price of {name} is not known: what it costs does not count towards {budget}"
        yield Finding("warn", "money", line, "give its entry a price: [USD per million tokens read, written]")
