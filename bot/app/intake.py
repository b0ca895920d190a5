"""Who looks at the files that come with messages, and who writes down what was said, as the configuration has it."""

from __future__ import annotations

from bot.app.edges import Edges
from bot.attachments.intake import Intake
from bot.attachments.opening import Opener
from bot.config.loaded import Config
from bot.core.ports import Clock
from bot.providers.models import Models
from bot.store.store import Store


def intake_of(config: Config, edges: Edges, models: Models, store: Store, clock: Clock) -> Intake:
    entry = config.brain.llm.transcribe
    return Intake(
        fetch=edges.fetch,
        files=store.files,
        opener=Opener(),
        speech=config.ref(entry) if entry is not None and config.usable(entry.ref()) else None,
        transcribe=models.transcribe,
        usage=store.usage,
        clock=clock,
    )
