"""Which scripted answer belongs to which request, and the short words tests write scripts with."""

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from tests.sim.llm import steps
from tests.sim.llm.asked import Asked
from tests.sim.llm.steps import Call, Index, Raw, Step, step_from_json, step_to_json

text = steps.Text
thinking = steps.Thinking
redacted = steps.Redacted
call_open = steps.CallOpen
call_more = steps.CallMore
call_close = steps.CallClose
sleep = steps.Sleep
gate = steps.Gate
stop = steps.Stop
usage = steps.Usage
status = steps.Status
error_event = steps.ErrorEvent
drop = steps.Drop
end_early = steps.EndEarly
stall = steps.Stall
garbage = steps.Garbage
ping = steps.Ping
begin = steps.Begin
empty_choices = steps.EmptyChoices


def call(
    id: str | None,
    name: str,
    args_fragments: Sequence[str | None] = ("{}",),
    *,
    index: Index = "auto",
    whole: bool = False,
    repeat_head: bool = False,
) -> Call:
    """A complete tool call; see `steps.Call` for the oddities it can show."""
    return Call(id, name, tuple(args_fragments), index, whole, repeat_head)


def raw(data: bytes | str) -> Raw:
    """Exactly these bytes (text as UTF-8) on the wire."""
    return Raw(data.encode() if isinstance(data, str) else data)


@dataclass(frozen=True, slots=True)
class When:
    """Which requests an answer is for; every field that is set must hold.

    `model` is a glob; `user`, `system` and `contains` are substrings of the last user text, the system text and the
    whole body; `turn` counts user texts in the request from 1, `step` model calls since the last of them from 1, and
    `nth` requests to this endpoint since start or reset from 1. `endpoint` is chat, count_tokens, embeddings, models,
    show, version, model, props, loaded or running: anything but chat takes faults and delays only.
    """

    vendor: str | None = None
    model: str | None = None
    user: str | None = None
    system: str | None = None
    contains: str | None = None
    tool_result: bool | None = None
    turn: int | None = None
    step: int | None = None
    nth: int | None = None
    endpoint: str = "chat"

    def fits(self, asked: Asked) -> bool:
        exact = ("vendor", "tool_result", "turn", "step", "nth")
        return (
            self.endpoint == asked.endpoint
            and all(getattr(self, name) in (None, getattr(asked, name)) for name in exact)
            and (self.model is None or fnmatch.fnmatchcase(asked.model, self.model))
            and (self.user is None or self.user in asked.user_text)
            and (self.system is None or self.system in asked.system_text)
            and (self.contains is None or self.contains in asked.body_text)
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """Steps played in order. `split` cuts every frame into pieces of that many bytes; `tokens_per_second` paces text."""

    steps: tuple[Step, ...]
    when: When = When()
    repeat: bool = False
    split: int | None = None
    tokens_per_second: float | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "steps": [step_to_json(step) for step in self.steps],
            "when": {name: value for name, value in asdict(self.when).items() if value is not None},
            "repeat": self.repeat,
            "split": self.split,
            "tokens_per_second": self.tokens_per_second,
        }


def answer(
    *played: Step,
    when: When = When(),
    repeat: bool = False,
    split: int | None = None,
    tokens_per_second: float | None = None,
) -> Answer:
    """One answer; a missing `stop()` is added at its end unless a fault ended it."""
    return Answer(played, when, repeat, split, tokens_per_second)


def answer_from_json(data: Mapping[str, Any]) -> Answer:
    """The inverse of `Answer.to_json`. Raises ValueError on anything unknown."""
    unknown = set(data) - {item.name for item in fields(Answer)}
    if unknown:
        raise ValueError(f"unknown answer fields: {', '.join(sorted(unknown))}")
    try:
        when = When(**data.get("when", {}))
    except TypeError as error:
        raise ValueError(f"when: {error}") from None
    return Answer(
        steps=tuple(step_from_json(step) for step in data["steps"]),
        when=when,
        repeat=bool(data.get("repeat", False)),
        split=data.get("split"),
        tokens_per_second=data.get("tokens_per_second"),
    )


class Script:
    """Answers in order of preference: the first that fits and is not used up wins."""

    def __init__(self) -> None:
        self._waiting: list[Answer] = []

    def add(self, answers: Iterable[Answer]) -> None:
        self._waiting.extend(answers)

    def clear(self) -> None:
        self._waiting.clear()

    @property
    def unused(self) -> list[Answer]:
        """Answers nobody asked for yet (repeating ones always count as wanted)."""
        return [waiting for waiting in self._waiting if not waiting.repeat]

    def pick(self, asked: Asked) -> Answer | None:
        for place, candidate in enumerate(self._waiting):
            if candidate.when.fits(asked):
                if not candidate.repeat:
                    del self._waiting[place]
                return candidate
        return None
