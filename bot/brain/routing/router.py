"""From a message to its models: what the person picked, the owner's rules and lists, what the message needs; in this order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from bot.brain.routing.course import PICKED
from bot.brain.routing.reading import Read, Reading
from bot.brain.routing.rules import Facts, Rules
from bot.brain.turn import Turn
from bot.core.model import ModelRef
from bot.core.transcript import RouteRow

DEFAULT: Final = "default"


@dataclass(frozen=True, slots=True)
class Lists:
    """Intents by where they may be answered."""

    local_only: frozenset[str] = frozenset()
    local_preferred: frozenset[str] = frozenset()
    cloud_only: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.local_only or self.local_preferred or self.cloud_only)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a turn asks of its models. ``picked`` is the model that the chat, or an API client, insists on."""

    turn: Turn
    text: str
    pictures: bool = False
    picked: str = ""


@dataclass(frozen=True, slots=True)
class Router:
    """``chain`` gives the models that can be asked now, the one wanted most first; ``served`` the model as it can be asked,
    None when it cannot; ``near`` whether it answers on this machine or network; ``named`` a model of a configured
    provider that stands in no chain. ``read`` is asked only where a rule or a list depends on what it reads."""

    chain: Callable[[], Sequence[ModelRef]]
    served: Callable[[ModelRef], ModelRef | None]
    near: Callable[[ModelRef], bool]
    read: Read
    named: Callable[[str], ModelRef | None] = lambda name: None
    rules: Rules = field(default_factory=lambda: Rules(()))
    lists: Lists = Lists()
    enabled: bool = True

    async def route(self, wish: Wish) -> RouteRow:
        """The models of a turn. A route orders the chain and may narrow it, to models nearby or to the one picked; it never
        takes away the way back to the default model but for that."""
        if wish.picked:
            found = self.find(wish.picked)
            return RouteRow("", "", "", PICKED, (str(found) if found else wish.picked,))
        reading = await self.read(wish.text) if self._must_read() else Reading()
        rule = self.rules.first(self._facts(wish, reading)) if self.enabled else None
        models = list(self.chain())
        private = rule is not None and rule.private
        if rule is not None and (first := self.served(rule.model)) is not None:
            models = [first, *(model for model in models if str(model) != str(first))]
        if self.enabled and reading.intent:
            private = private or reading.intent in self.lists.local_only
            if reading.intent in self.lists.local_preferred:
                models.sort(key=lambda model: not self.near(model))
            if reading.intent in self.lists.cloud_only:
                models = [model for model in models if not self.near(model)] or models
        if private:
            models = [model for model in models if self.near(model)]
        if wish.pictures:
            models.sort(key=lambda model: not model.vision)
        return RouteRow(
            reading.intent,
            reading.complexity,
            reading.privacy,
            rule.match if rule is not None else DEFAULT,
            tuple(map(str, models)),
            private,
            reading.scores,
            reading.parameters,
        )

    def models(self, row: RouteRow) -> list[ModelRef]:
        """Those of the route that can be asked now. Nothing takes the place of one that cannot."""
        if row.rule == PICKED:
            found = [self.find(name) for name in row.models]
            return [model for model in found if model is not None]
        rule = self.rules.named(row.rule)
        ruled = [served] if rule is not None and (served := self.served(rule.model)) is not None else []
        known = {str(model): model for model in (*map(self.served, self.rules.models), *self.chain(), *ruled) if model}
        wanted = [known[name] for name in row.models if name in known]
        return [model for model in wanted if self.near(model)] if row.private else wanted

    def find(self, name: str) -> ModelRef | None:
        """A model that can be asked now, by ``provider/model`` or, of those that are configured, by its own name."""
        known = [*self.chain(), *filter(None, map(self.served, self.rules.models))]
        return next((model for model in known if name in (str(model), model.model)), None) or self.named(name)

    def _must_read(self) -> bool:
        asked = any(map(self.rules.ask_of, ("intent", "complexity", "privacy"))) if self.rules else False
        return self.enabled and (asked or bool(self.lists))

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
