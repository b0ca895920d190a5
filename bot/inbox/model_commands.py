"""``/model`` and ``/why``: which model answers in this chat, and why the last answer came about as it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from bot.brain.routing.course import route_in
from bot.brain.turn import Turn
from bot.core.model import ModelRef
from bot.core.text import clipped
from bot.core.texts import say
from bot.core.transcript import EndRow, ReplyRow, Row, StepRow
from bot.inbox.settings import AUTO, MODEL, Settings
from bot.store.transcript import TranscriptRows

LOOK_BACK_ROWS: Final = 200
RESET: Final = "reset"
_NEAR_SCORES: Final = 3


class ModelCommands:
    """``find`` gives the model that a name means, None where none can be asked under it; ``reset`` lets every model be
    asked again that was being left alone, and returns their names; ``is_owner`` says who may do that."""

    def __init__(
        self,
        settings: Settings,
        transcript: TranscriptRows,
        find: Callable[[str], ModelRef | None],
        reset: Callable[[], Awaitable[Sequence[str]]],
        is_owner: Callable[[Turn], bool],
        listing: Callable[[str], str],
    ) -> None:
        """``listing`` is what ``/model`` alone answers in a language."""
        self._settings, self._transcript, self._find, self._reset = settings, transcript, find, reset
        self._is_owner, self._listing = is_owner, listing

    async def model(self, turn: Turn, rest: str) -> str:
        """``NAME`` picks, ``auto`` undoes that, ``reset`` asks again those that were left alone; nothing lists them."""
        language, name = turn.language, rest.strip()
        picked = self._settings.of(turn.address).model
        if not name:
            told = say("model_picked", language, model=picked) if picked else ""
            return "\n\n".join(filter(None, (self._listing(language), told, say("model_how", language))))
        if name.lower() == RESET:
            if not self._is_owner(turn):
                return say("command_owners_only", language)
            again = await self._reset()
            return say("model_reset", language, models=", ".join(again)) if again else say("model_reset_none", language)
        if not turn.message.direct and not self._is_owner(turn):
            return say("command_owners_only", language)
        if name.lower() == AUTO:
            await self._settings.set(turn.address, MODEL, "")
            return say("model_auto", language)
        found = self._find(name)
        if found is None:
            return say("model_unknown", language, name=clipped(name, 60).replace("`", ""))
        await self._settings.set(turn.address, MODEL, str(found))
        return say("model_picked", language, model=str(found))

    async def why(self, turn: Turn) -> str:
        """How the last turn of this chat that asked a model came about."""
        rows = await self._transcript.rows(turn.address, LOOK_BACK_ROWS)
        asked = [row.turn for row in rows if isinstance(row.body, StepRow | EndRow) and row.turn != turn.id]
        replied = {row.turn for row in rows if isinstance(row.body, ReplyRow)}
        last = next((one for one in reversed(asked) if one not in replied), None)
        if last is None:
            return say("why_nothing", turn.language)
        return told(await self._transcript.turn_rows(last), turn.language)


def told(rows: Sequence[Row], language: str) -> str:
    """The decision about a turn, what its steps were for, and how it ended, as CommonMark."""
    route = route_in(rows)
    lines: list[str] = []
    if route is not None:
        lines.append(say("why_models", language, models=" → ".join(route.models) or "–", rule=route.rule))
        if route.private:
            lines.append(say("why_private", language))
        if route.intent or route.scores:
            near = sorted(route.scores.items(), key=lambda pair: -pair[1])[:_NEAR_SCORES]
            lines.append(
                say(
                    "why_read",
                    language,
                    intent=route.intent or "–",
                    scores=", ".join(f"{name} {score:.2f}" for name, score in near) or "–",
                    complexity=route.complexity or "–",
                    privacy=route.privacy or "–",
                )
            )
    steps = [row.body for row in rows if isinstance(row.body, StepRow)]
    if steps:
        because = ", ".join(f"{reason} × {count}" for reason, count in Counter(step.because for step in steps).items())
        models = ", ".join(dict.fromkeys(step.model for step in steps if step.model))
        tokens = sum(step.usage.input_tokens + step.usage.output_tokens for step in steps)
        lines.append(say("why_steps", language, steps=len(steps), because=because, models=models or "–", tokens=tokens))
    end = next((row.body for row in rows if isinstance(row.body, EndRow)), None)
    if end is not None:
        lines.append(say("why_end", language, reason=end.reason.value))
    return "\n".join(f"- {line}" for line in lines) or say("why_nothing", language)
