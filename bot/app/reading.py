"""How this configuration reads messages: its intents, its embedder, and the small model it may ask, on the person's bill."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from bot.app.chain import Chain
from bot.brain.purse import Purse
from bot.brain.routing.catalogue import Slot, with_own
from bot.brain.routing.classify import Classifier
from bot.brain.routing.reader import Reader
from bot.brain.routing.reading import Wish
from bot.config.loaded import Config, answers_nearby
from bot.core.model import ModelRef, Usage
from bot.core.ports import Clock, Embedder, Provider
from bot.store.usage import UsageRows

log = logging.getLogger(__name__)


def reader_of(
    config: Config,
    chain: Chain,
    provider: Provider,
    embedder: Embedder | None,
    usage: UsageRows,
    purse: Purse,
    clock: Clock,
    zone: str,
) -> Reader:
    """The reader of this configuration. ``zone`` is the house's."""
    routing = config.brain.llm.routing

    async def bill(wish: Wish, model: ModelRef, used: Usage) -> None:
        usd, who = None if model.price is None else model.price.cost(used), wish.turn.sender.identity
        purse.spent(who, usd or 0.0)
        await usage.add(clock.now(), wish.turn.id, wish.turn.address, who, str(model), used, usd)

    async def allow(wish: Wish) -> bool:
        mine, everybody = await purse.today(wish.turn.sender.identity)
        return mine < purse.limits.person_day and everybody < purse.limits.day

    def classifier(slots: Sequence[Slot]) -> Classifier | None:
        if routing.classify_model is None or not routing.enabled:
            return None
        return Classifier(
            provider,
            config.ref(routing.classify_model),
            slots,
            chain.served,
            lambda model: answers_nearby(model, config.providers),
            clock,
            bill,
            allow,
        )

    return Reader(lambda: slots_of(config), embedder, config.data_dir, clock, zone, classifier)


def slots_of(config: Config) -> Sequence[Slot]:
    """The intents of this configuration. A list that names none of them is told in the log: it would never hold."""
    routing = config.brain.llm.routing
    slots = with_own(
        Slot(name, one.description, one.examples, one.keywords, threshold=one.threshold)
        for name, one in routing.intents.items()
    )
    known = {slot.name for slot in slots}
    for key in ("local_only", "local_preferred", "cloud_only"):
        for name in sorted(set(getattr(routing, key)) - known):
            log.warning(
                'brain.llm.routing.%s names the intent "%s", which is none of: %s', key, name, ", ".join(sorted(known))
            )
    return slots
