"""The routes of this configuration: its rules and lists over the models that can be asked now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.app.chain import Chain
from bot.brain.routing.reading import Read
from bot.brain.routing.router import Lists, Router, Wish
from bot.brain.routing.rules import RouteRule, Rules
from bot.brain.turn import Turn
from bot.config.loaded import Config, answers_nearby
from bot.config.model_entry import ModelEntry
from bot.core.model import ModelRef
from bot.core.transcript import RouteRow, Row, UserRow, as_revised


class ConfiguredRoutes:
    """Implements ``bot.brain.routing.course.Routes``."""

    def __init__(self, config: Config, chain: Chain, read: Read) -> None:
        routing = config.brain.llm.routing
        rules = [RouteRule(rule.match, config.ref(rule), rule.private) for rule in routing.rules]
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
            enabled=routing.enabled,
        )

    async def route(self, turn: Turn, rows: Sequence[Row]) -> RouteRow:
        said = [row.body for row in as_revised(rows) if isinstance(row.body, UserRow)]
        text = "\n".join(row.text for row in said) or turn.message.text
        pictures = any(file.media_type.startswith("image/") for row in said for file in row.files)
        return await self._router.route(Wish(turn, text, pictures, self._picked(turn)))

    def models(self, turn: Turn, row: RouteRow) -> Sequence[ModelRef]:
        """An API client may ask for shorter answers."""
        most = turn.message.caller.max_tokens if turn.message.caller is not None else None
        models = self._router.models(row)
        return [replace(model, max_tokens=min(model.max_tokens, most)) for model in models] if most else models

    def find(self, name: str) -> ModelRef | None:
        """The model that ``/model NAME`` means, if it can be asked now."""
        return self._router.find(name)

    def _named(self, name: str) -> ModelRef | None:
        provider, _, model = name.partition("/")
        if provider not in self._config.providers or not model:
            return None
        ref = self._config.ref(ModelEntry(provider=provider, model=model))
        return ref if self._config.usable(ref) else None

    def _picked(self, turn: Turn) -> str:
        """What the chat picked; an API client that names a model of the chain picks it for this turn."""
        caller = turn.message.caller
        if caller is None:
            return turn.model
        named = any(caller.model in (str(model), model.model) for model in self._chain.models())
        return caller.model if named else ""
