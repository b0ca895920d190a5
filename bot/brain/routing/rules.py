"""The owner's rules: expressions (CEL) over what is known of a message; the first that is true gives the model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from bot.core.model import ModelRef

if TYPE_CHECKING:
    from cel import Program

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a rule may ask about. ``person`` is an identity (``telegram:123``), ``images`` whether pictures came along,
    ``length`` that of the text in characters."""

    intent: str = ""
    complexity: str = ""
    privacy: str = ""
    channel: str = ""
    person: str = ""
    images: bool = False
    length: int = 0


@dataclass(frozen=True, slots=True)
class RouteRule:
    """``model`` goes first where ``match`` is true; ``private`` keeps it and what may answer in its place nearby."""

    match: str
    model: ModelRef
    private: bool = False


class Rules:
    """Compiled when first asked. A rule that cannot be evaluated is passed over, and named in the log once."""

    def __init__(self, rules: Sequence[RouteRule]) -> None:
        self._rules = tuple(rules)
        self._programs: list[tuple[RouteRule, Program]] | None = None if rules else []
        self._broken: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._rules)

    @property
    def models(self) -> Sequence[ModelRef]:
        return [rule.model for rule in self._rules]

    @property
    def any_private(self) -> bool:
        return any(rule.private for rule in self._rules)

    def ask_of(self, name: str) -> bool:
        """Whether any rule asks about the fact ``name``."""
        return any(name in program.variables() for _, program in self._compiled())

    def first(self, facts: Facts) -> RouteRule | None:
        """The first rule that is true of ``facts``."""
        known = asdict(facts)
        for rule, program in self._compiled():
            try:
                if program.execute(known) is True:
                    return rule
            except (TypeError, ValueError, RuntimeError, LookupError) as error:
                if rule.match not in self._broken:
                    self._broken.add(rule.match)
                    log.warning("a route's match cannot be evaluated and is passed over: %s (%s)", rule.match, error)
        return None

    def named(self, match: str) -> RouteRule | None:
        """The rule with this expression."""
        return next((rule for rule in self._rules if rule.match == match), None)

    def _compiled(self) -> list[tuple[RouteRule, Program]]:
        if self._programs is None:
            import cel  # only whoever has rules pays for it

            self._programs = [(rule, cel.compile(rule.match)) for rule in self._rules]
        return self._programs
