"""Keeps secrets out of the log: the values that are configured, and everything that has the shape of one."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote, quote_plus

MASK: Final = "***"
SHORTEST: Final = 6
"""Shorter values are not masked: they would turn ordinary words into asterisks and betray themselves by it."""

_NAMES: Final = (
    r"(?:api[-_]?key|x-api-key|app[-_]?key|access[-_]?token|refresh[-_]?token|bot[-_]?token|app[-_]?token|client[-_]?secret"
    r"|token|secret|passw(?:or)?d|authorization|signature|sig)"
)
_SHAPES: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), MASK),
    (re.compile(r"(/bot)\d+(?::|%3A)[^/\s\"']+", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(r"(?<![\w])\d{3,}(?::|%3A)[A-Za-z0-9_-]{20,}", re.IGNORECASE), MASK),
    (re.compile(r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_*-]{4,}"), MASK),
    (re.compile(r"(?<![A-Za-z0-9])(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{4,}"), MASK),
    (re.compile(r"(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|glpat-|AIza|AKIA)[A-Za-z0-9_-]{12,}"), MASK),
    (re.compile(r"(?<![\w.-])[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{20,}"), MASK),
    (re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=%:-]{6,}", re.IGNORECASE), rf"\1 {MASK}"),
    (re.compile(r"\b(Authorization['\"]?\s*[:=]\s*['\"]?Bot)\s+[^\s'\",]+", re.IGNORECASE), rf"\1 {MASK}"),
    (re.compile(r"([?&;](?:key|auth|code|" + _NAMES[3:] + r"=)[^&#\s\"'<>]+", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(r"\b(" + _NAMES + r"=)(?!\*)[^&#\s\"'<>,;)]+", re.IGNORECASE), rf"\1{MASK}"),
    (
        re.compile(r"(['\"]" + _NAMES + r"['\"]\s*:\s*)(['\"])(?!\*|Bearer |Basic |Bot )[^'\"]+\2", re.IGNORECASE),
        rf"\1\2{MASK}\2",
    ),
    (re.compile(r"(\b[a-z][a-z0-9+.-]{0,20}://[^/\s:@]{0,200}:)[^/\s@]{1,200}@", re.IGNORECASE), rf"\1{MASK}@"),
)
_ORDINARY: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class Redactor(logging.Filter):
    """A filter for handlers. Masks secrets in the message, its arguments, extras, the traceback and the stack."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        self._values: set[str] = set()
        self._known: re.Pattern[str] | None = None
        self.learn(secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """Mask these values from now on, also as they look in an address or in JSON."""
        for secret in secrets:
            for value in (secret, *secret.splitlines()):
                if len(value.strip()) >= SHORTEST:
                    self._values |= {value.strip(), quote(value), quote(value, safe=""), quote_plus(value)}
                    self._values |= {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
                    self._values.add(repr(value)[1:-1])
        longest_first = sorted(self._values, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def clean(self, text: str) -> str:
        """``text`` without secrets. Also for what a tool's or a vendor's error says, before anyone reads it."""
        if self._known is not None:
            text = self._known.sub(MASK, text)
        for pattern, replacement in _SHAPES:
            text = pattern.sub(replacement, text)
        return text

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self.clean(_message(record)), None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        record.exc_info = None
        if record.exc_text:
            record.exc_text = self.clean(record.exc_text)
        if record.stack_info:
            record.stack_info = self.clean(record.stack_info)
        for name, value in vars(record).items():
            if name not in _ORDINARY and isinstance(value, str):
                setattr(record, name, self.clean(value))
        return True


def _message(record: logging.LogRecord) -> str:
    """The formatted message; a record whose arguments do not fit its format is shown without them."""
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        message: Any = record.msg
        return f"{message} (arguments do not fit)"
