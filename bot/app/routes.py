"""The routes of this configuration: its rules and lists over the models that can be asked now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.app.chain import Chain
from bot.brain.routing.reading import Asked, Read, Wish
from bot.brain.routing.router import Alternative, Lists, Router
from bot.brain.routing.rules import RouteRule, Rules
from bot.brain.tokens import estimated_tokens
from bot.brain.turn import Turn
from bot.config.loaded import Config, answers_nearby
from bot.config.model_entry import ModelEntry
from bot.core.model import ModelRef
from bot.core.transcript import RouteRow, Row, UserRow, as_revised

FIXED_TOKENS: Final = 3_000
"""What a prompt has besides the message: its fixed parts and the hot tools. History comes on top, so this is the least."""


class ConfiguredRoutes:
    """Implements ``bot.brain.routing.course.Routes``."""

    def __init__(self, config: Config, chain: Chain, read: Read) -> None:
        routing = config.brain.llm.routing
        rules = [RouteRule(rule.match, config.ref(rule), rule.private) for rule in routing.rules]
        other = routing.alternative
        self._config, self._chain = config, chain
        self._router = Router(
            chain=chain.models,
            served=chain.served,
            near=lambda model: answers_nearby(model, config.providers),
            read=read,
            named=self._named,
            rules=Rules(rules),
            lists=Lists(
                frozenset(routing.local_only), frozenset(routing.local_preferred), frozenset(routing.cloud_only)
            ),
            alternative=Alternative(config.ref(other), other.share) if other is not None else None,
            enabled=routing.enabled,
        )

    async def route(self, turn: Turn, rows: Sequence[Row]) -> RouteRow:
        said = [row.body for row in as_revised(rows) if isinstance(row.body, UserRow)]
        text = "\n".join(row.text for row in said) or turn.message.text
        files = [file for row in said for file in row.files]
        pictures = any(file.media_type.startswith("image/") for file in files)
        prompt_tokens = FIXED_TOKENS + sum(map(estimated_tokens, (text, *(file.text for file in files if file.text))))
        names = tuple(file.name for file in files)
        return await self._router.route(Wish(turn, text, pictures, self._picked(turn), names, prompt_tokens))

    @property
    def asked(self) -> Asked:
        """What depends on the reading of messages."""
        return self._router.asked()

    def models(self, turn: Turn, row: RouteRow) -> Sequence[ModelRef]:
        """An API client may ask for shorter answers."""
        most = turn.message.caller.max_tokens if turn.message.caller is not None else None
        models = self._router.models(row)
        return [replace(model, max_tokens=min(model.max_tokens, most)) for model in models] if most else models

    def near(self, model: ModelRef) -> bool:
        return self._router.near(model)

    def find(self, name: str) -> ModelRef | None:
        """The model that ``/model NAME`` means, if it can be asked now."""
        return self._router.find(name)

    def _named(self, name: str) -> ModelRef | None:
        provider, _, model = name.partition("/")
        if provider not in self._config.providers or not model:
            return None
        ref = self._config.ref(ModelEntry(provider=provider, model=model))
        return self._chain.sized(ref) if self._config.usable(ref) else None

    def _picked(self, turn: Turn) -> str:
        """What the chat picked; an API client that names a model of the chain picks it for this turn."""
        caller = turn.message.caller
        if caller is None:
            return turn.model
        named = any(caller.model in (str(model), model.model) for model in self._chain.models())
        return caller.model if named else ""
