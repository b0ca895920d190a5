"""From a message to its models: what the person picked, the owner's rules and lists, what the message needs; in this order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from bot.brain.routing.course import PICKED
from bot.brain.routing.reading import Asked, Read, Reading, Wish
from bot.brain.routing.rules import Facts, RouteRule, Rules
from bot.core.model import ModelRef
from bot.core.transcript import RouteRow

DEFAULT: Final = "default"
ALTERNATIVE: Final = "alternative"
READ_FACTS: Final = ("intent", "complexity", "privacy")
"""Of what rules may ask about, those that are read out of the message."""


@dataclass(frozen=True, slots=True)
class Lists:
    """Intents by where they may be answered."""

    local_only: frozenset[str] = frozenset()
    local_preferred: frozenset[str] = frozenset()
    cloud_only: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.local_only or self.local_preferred or self.cloud_only)


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another model that a ``share`` of the turns (from 0 to 1) is given first, so that it can be compared."""

    model: ModelRef
    share: float

    def takes(self, turn: str) -> bool:
        """By the turn's id: the same at every look."""
        number = int.from_bytes(hashlib.sha256(turn.encode("utf-8", "replace")).digest()[:8], "big")
        return number < self.share * 2**64


@dataclass(frozen=True, slots=True)
class Router:
    """``chain`` gives the models that can be asked now, the one wanted most first; ``served`` the model as it can be asked,
    None when it cannot; ``near`` whether it answers on this machine or network; ``named`` a model of a configured
    provider that stands in no chain. ``read`` is told what depends on what it reads: where nothing does, it asks nobody."""

    chain: Callable[[], Sequence[ModelRef]]
    served: Callable[[ModelRef], ModelRef | None]
    near: Callable[[ModelRef], bool]
    read: Read
    named: Callable[[str], ModelRef | None] = lambda name: None
    rules: Rules = field(default_factory=lambda: Rules(()))
    lists: Lists = Lists()
    alternative: Alternative | None = None
    enabled: bool = True

    async def route(self, wish: Wish) -> RouteRow:
        """The models of a turn. A route orders the chain and may narrow it, to models nearby or to the one picked; it never
        takes away the way back to the default model but for that."""
        if wish.picked:
            found = self.find(wish.picked)
            return _row(await self.read(wish, Asked()), PICKED, [str(found) if found else wish.picked])
        reading = await self.read(wish, self.asked())
        rule = self._rule(wish, reading) if self.enabled else None
        may_be = {reading.intent, *reading.near}
        private = self.enabled and ((rule is not None and rule.private) or bool(may_be & self.lists.local_only))
        other = self._alternative(wish, private=private)
        models = self._with_first(other or (self.served(rule.model) if rule is not None else None))
        if self.enabled and reading.intent:
            if reading.intent in self.lists.local_preferred:
                models.sort(key=lambda model: not self.near(model))
            if reading.intent in self.lists.cloud_only and not reading.near:
                models = [model for model in models if not self.near(model)] or models
        if private:
            models = [model for model in models if self.near(model)]
        if wish.pictures:
            models.sort(key=lambda model: not model.vision)
        why = rule.match if rule is not None else DEFAULT
        return _row(reading, ALTERNATIVE if other in models[:1] else why, map(str, models), private=private)

    def models(self, row: RouteRow) -> list[ModelRef]:
        """Those of the route that can be asked now. Nothing takes the place of one that cannot."""
        if row.rule == PICKED:
            found = [self.find(name) for name in row.models]
            return [model for model in found if model is not None]
        rule = self.alternative if row.rule == ALTERNATIVE else self.rules.named(row.rule)
        ruled = [served] if rule is not None and (served := self.served(rule.model)) is not None else []
        known = {str(model): model for model in (*map(self.served, self.rules.models), *self.chain(), *ruled) if model}
        wanted = [known[name] for name in row.models if name in known]
        return [model for model in wanted if self.near(model)] if row.private else wanted

    def find(self, name: str) -> ModelRef | None:
        """A model that can be asked now, by ``provider/model`` or, of those that are configured, by its own name."""
        known = [*self.chain(), *filter(None, map(self.served, self.rules.models))]
        return next((model for model in known if name in (str(model), model.model)), None) or self.named(name)

    def asked(self) -> Asked:
        """What depends on the reading of a message."""
        if not self.enabled:
            return Asked()
        facts = {name for name in READ_FACTS if self.rules and self.rules.ask_of(name)}
        facts |= {"intent"} if self.lists else set()
        if not facts:
            return Asked()
        routes = [*filter(None, map(self.served, self.rules.models)), *list(self.chain())[:1]]
        return Asked(frozenset(facts), tuple(routes), self.rules.any_private or bool(self.lists.local_only))

    def _alternative(self, wish: Wish, *, private: bool) -> ModelRef | None:
        """The other model, where this turn is one of its share and it can do what the turn needs."""
        one = self.alternative
        if one is None or not self.enabled or private or not one.takes(wish.turn.id):
            return None
        model = self.served(one.model)
        return model if model is not None and (model.vision or not wish.pictures) else None

    def _with_first(self, first: ModelRef | None) -> list[ModelRef]:
        """The chain, behind ``first``."""
        chain = self.chain()
        return list(chain) if first is None else [first, *(model for model in chain if str(model) != str(first))]

    def _rule(self, wish: Wish, reading: Reading) -> RouteRule | None:
        """The first rule that is true. Where the message may as well have another intent by which it would stay in the
        house, it stays there: a wrong guess must not be what sends it out."""
        facts = self._facts(wish, reading)
        rule = self.rules.first(facts)
        if rule is not None and rule.private:
            return rule
        others = (self.rules.first(replace(facts, intent=intent)) for intent in reading.near)
        return next((other for other in others if other is not None and other.private), rule)

    def _facts(self, wish: Wish, reading: Reading) -> Facts:
        address, sender = wish.turn.address, wish.turn.sender
        return Facts(
            reading.intent,
            reading.complexity,
            reading.privacy,
            address.channel,
            sender.identity,
            wish.pictures,
            len(wish.text),
        )


def _row(reading: Reading, rule: str, models: Iterable[str], *, private: bool = False) -> RouteRow:
    return RouteRow(
        reading.intent,
        reading.complexity,
        reading.privacy,
        rule,
        tuple(models),
        private,
        reading.scores,
        reading.parameters,
    )
