"""What keeps a turn from going round in circles: read from its rows, so that neither a restart nor a compaction forgets it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from bot.brain.progress import calls_of
from bot.core.ports import Tool
from bot.core.tool import Effect, ToolCall
from bot.core.transcript import ResultRow, Row, StepRow, as_revised

SAME_CALLS: Final = 10
"""From so many equal calls on, or so many calls without progress, the model is told (as the largest of the peers does)."""
POLLED: Final = 15
"""An equal call right after itself with an equal result: so many are a poll of something that does not move (bug B168)."""
WITHOUT_PROGRESS: Final = 20
"""The call that would be the so-manieth without progress is not run any more."""
BREAKER: Final = 30
"""The turn ends, whatever the model still wants."""
LONGEST_CYCLE: Final = 8
_OFTEN: Final = 6
"""With a tool that gave the same so often since, no other arguments are tried either."""

_ECHO_CHARS: Final = (4, 2)
"""Of a text, of a number."""
_MOST_ECHO_CHARS: Final = 400
_NO_ARGUMENTS: Final[Mapping[str, Any]] = MappingProxyType({})

Detector = Literal["repeat", "polling", "ping_pong", "cycle", "same_result", "unknown_tool"]

_VOLATILE: Final = re.compile(
    r"""(?<!\d)\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?)?  # dates, moments
    |(?<!\d)\d{8}T\d{4,6}(?:\.\d+)?Z?                                                     # the same without signs
    |(?<!\d)\d{4}年\d{1,2}月\d{1,2}日
    |(?<![\d:])\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?![\d:])                                # times of day
    |(?<!\d)\d{1,2}[点时]\d{1,2}分(?:\d{1,2}秒)?
    |(?<![\d.])1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9}|\.\d+)?(?![\d.]?\d|\s?b(?:ytes)?\b)                        # Unix time, in s to ns
    |(?<![0-9a-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-z])                 # UUIDs
    |(?<![0-9a-z])0x[0-9a-f]{6,}(?![0-9a-z])                                              # addresses in memory
    |(?<![0-9a-z])(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,}(?![0-9a-z])                    # digests, request ids
    |(?<![0-9a-z])(?=(?:[a-z]*\d+[a-z]+){3})[0-9a-z]{16,}(?![0-9a-z])                     # ids of letters and digits
    |(?:request|trace|span|correlation|session|transaction|message|event)[-_ ]?id["']?\s?[:=#]\s?["']?[\w.:-]+  # by name
    |(?<![a-z])(?:nonce|etag|pid)["']?\s?[:=#]?\s?["']?(?:W/)?["']?[\w/-]+
    |(?<![a-z])(?:duration|elapsed|took|latency|(?:response|execution|wall)[-_ ]?time)(?:[-_ ]?(?:[mnu]?s|secs?|seconds))?
        ["']?\s?[:=]\s?["']?\d{1,15}(?:\.\d{1,15})?(?:e[+-]?\d\d?)?                       # how long it took, by name
    |(?<![a-z])(?:attempt|retry|try|poll)["']?\s?(?:no\.?|number|[#:=])?\s?\d+                      # how often it was looked
    |(?<![\w.])(?:\d{1,9}\s?h(?:ours?)?\s?)?(?:\d{1,9}\s?m(?:in(?:utes?)?)?\s?)?(?:\d{1,9}(?:\.\d{1,9})?/){0,4}
        \d{1,15}(?:\.\d{1,15})?(?:e[+-]?\d\d?)?\s?(?:ns|µs|us|ms|milliseconds?|seconds?|secs?|s)(?![a-z0-9])  # took so long
    |(?<![\d.])\d{1,15}(?:\.\d{1,9})?\s?(?:毫秒|微秒|秒)
    |(?<!\d)\d{1,9}\s?(?:minutes?|mins?|hours?|hrs?|days?|weeks?)\s?ago(?![a-z])          # so long ago
    |(?<!\d)\d{1,9}\s?(?:分钟|小时|天|周)前
    """,
    re.VERBOSE | re.IGNORECASE,
)

_NOTICES: Final[Mapping[Detector, str]] = {
    "repeat": "This same call has now been made {count} times in this turn.",
    "polling": "This same call has now given the same result {count} times in a row: waiting for it to change does not help.",
    "ping_pong": "The last {count} calls only alternate between two calls with the same results.",
    "cycle": "The last {count} calls only repeat the same cycle with the same results.",
    "same_result": "The last {count} calls of this tool gave the same result, whatever the arguments were.",
    "unknown_tool": "The last {count} calls asked for tools that do not exist.",
}
_ADVICE: Final = "Do something else, or answer with what is known and say what could not be found out."


@dataclass(frozen=True, slots=True)
class Standstill:
    """How many calls at the end of the turn brought nothing new, the first of them included; 0 for none."""

    count: int = 0
    detector: Detector = "repeat"


def result_fingerprint(text: str, arguments: Mapping[str, Any] = _NO_ARGUMENTS) -> str:
    """SHA-256 over a result without what differs each time it is looked at: moments, durations, ids, and what it only
    repeats of the ``arguments`` ("nothing found for …")."""
    for echo in sorted(_echoes(arguments), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(echo)}(?!\w)", "#", text, flags=re.IGNORECASE)
    return hashlib.sha256(" ".join(_VOLATILE.sub("#", text).split()).encode()).hexdigest()


def _echoes(arguments: Mapping[str, Any]) -> set[str]:
    """The values that a result may repeat, long enough not to be found in it by chance."""
    values = (str(value).strip() for value in arguments.values() if isinstance(value, str | int | float))
    return {value for value in values if _ECHO_CHARS[value.isdecimal()] <= len(value) <= _MOST_ECHO_CHARS}


@dataclass(frozen=True, slots=True)
class _Made:
    """A call that has its result. ``new`` is whether it brought something that the turn had not seen."""

    name: str
    call: str
    result: str
    known: bool
    new: bool

    @property
    def pair(self) -> tuple[str, str]:
        return self.call, self.result


class Guards:
    """The calls of one turn so far, and what follows for the next one. ``record`` is told each result as it comes;
    ``blocked`` is the standstill for which a call was not run, None while none was; ``chars`` is what all results have."""

    def __init__(self, rows: Sequence[Row], tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._made: list[_Made] = []
        self._seen: set[tuple[str, str]] = set()
        self.blocked: Standstill | None = None
        self.chars = 0
        calls: dict[str, ToolCall] = {}
        for row in as_revised(rows):
            if isinstance(row.body, StepRow):
                calls.update((call.id, call) for call in calls_of(row.body))
            elif isinstance(row.body, ResultRow) and row.body.call_id in calls:
                if row.body.outcome == "blocked":
                    self.blocked = self.standstill
                self._add(calls[row.body.call_id], row.body.text, row.body.error)

    @property
    def standstill(self) -> Standstill:
        """Of the calls that have their results."""
        count = self._count()
        return Standstill(count, self._detector(count)) if count else Standstill()

    @property
    def is_broken(self) -> bool:
        """Whether the breaker has tripped."""
        return self.standstill.count >= BREAKER

    def blocks(self, call: ToolCall) -> Standstill | None:
        """Why the call must not run: it would go on with what has led nowhere. None: it may."""
        still = self.standstill
        if not still.count or not self._goes_on(call, still):
            return None
        most = POLLED if still.detector == "polling" else WITHOUT_PROGRESS
        return Standstill(still.count, still.detector) if still.count + 1 >= most else None

    def record(self, call: ToolCall, text: str, error: bool) -> str:
        """Take in a result. Return the notice that the model is to read with it, "" for none."""
        self._add(call, text, error)
        still = self.standstill
        equal = sum(made.call == call.fingerprint for made in self._made)
        if still.count and still.count % SAME_CALLS == 0:
            return f"{_NOTICES[still.detector].format(count=still.count)} {_ADVICE}"
        if equal and equal % SAME_CALLS == 0:
            return f"{_NOTICES['repeat'].format(count=equal)} {_ADVICE}"
        return ""

    def _add(self, call: ToolCall, text: str, error: bool) -> None:
        self.chars += len(text)
        tool = self._tools.get(call.name)
        result = result_fingerprint(text, call.arguments)
        pair = (call.fingerprint, result)
        new = tool is not None and pair not in self._seen
        if tool is None or error or tool.spec.effect is Effect.READ:  # what reads, or fails, brings only its result
            new = new and (call.name, result) not in self._seen
        self._seen |= {pair, (call.name, result)}
        self._made.append(_Made(call.name, call.fingerprint, result, tool is not None, new))

    def _count(self) -> int:
        count = 0
        for made in reversed(self._made):
            if made.new:
                break
            count += 1
        if count and count < len(self._made) and self._began_it(self._made[-count - 1], self._made[-count:]):
            count += 1
        return count

    @staticmethod
    def _began_it(first: _Made, rest: Sequence[_Made]) -> bool:
        """Whether the last call that was new is one of those that are repeated since."""
        return any(made.pair == first.pair or (made.name, made.result) == (first.name, first.result) for made in rest)

    def _detector(self, count: int) -> Detector:
        last = self._made[-count:]
        pairs = [made.pair for made in last]
        if not any(made.known for made in last):
            return "unknown_tool"
        if len(set(pairs)) == 1:
            return "polling"
        if len({(made.name, made.result) for made in last}) == 1:
            return "same_result"
        for period in range(2, min(LONGEST_CYCLE, count // 2) + 1):
            if all(pair == pairs[index - period] for index, pair in enumerate(pairs) if index >= period):
                return "ping_pong" if period == 2 else "cycle"
        return "repeat"

    def _goes_on(self, call: ToolCall, still: Standstill) -> bool:
        last = self._made[-still.count :]
        if call.fingerprint in {made.call for made in last}:
            return True
        if call.name not in self._tools:
            return still.detector == "unknown_tool"
        results = [made.result for made in last if made.name == call.name]
        return still.detector != "polling" and len(results) >= _OFTEN and len(set(results)) == 1
