"""How much of a prompt the history may have, in a conversation that several models may answer."""

from __future__ import annotations

from collections.abc import Sequence

from bot.brain.budget import Gauge
from bot.brain.prompt import history_tokens, is_small
from bot.core.model import ModelRef
from bot.core.transcript import Row, StepRow


def history_room(chain: Sequence[ModelRef], rows: Sequence[Row], gauge: Gauge) -> int | None:
    """In the estimate's tokens, for the model of the chain that answered last in these rows, else for the one wanted most.
    None where there is none, and for one that is so small that it is shown no summaries."""
    answered = next((row.body.model for row in reversed(rows) if isinstance(row.body, StepRow) and row.body.model), "")
    model = next((one for one in chain if str(one) == answered), chain[0] if chain else None)
    return history_tokens(model, gauge.scale(model)) if model is not None and not is_small(model) else None
