"""Half-written Markdown, made to look like what it is about to be: no stray asterisks, fences or half links."""

from __future__ import annotations

import re
from typing import Final

from bot.outbox.fences import fences
from bot.outbox.marks import BLOCK_BEGINS, flanking, formula_end, opening

LONGEST_HELD_BLOCK_CHARS: Final = 2000
LONGEST_HELD_FORMULA_CHARS: Final = 600
LONGEST_HELD_DOLLAR_CHARS: Final = 40
"""So much of what is perhaps a formula waits for its end: a price or a variable must not wait long."""

_MARKER_ONLY = re.compile(
    r"^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?:[-+*_=~`#>]+|\d{1,9}[.)]?|[-+*]\s+\[[ xX]?\]?|\[[ xX]?\]|\||!?\[|<)?\s*$"
)
_SUBSCRIPT = re.compile(r"(?=[\0-\u10ff\U00010000-\U0010ffff])[^\W_]\[|[)\]/$=]\[|.?\[[\s\d\"'\[(<$.,-]", re.DOTALL)
"""Brackets that begin no link, as in code, intervals and formulas; after Chinese a link may follow without a space."""
_OPERAND = re.compile(r"(?=[\0-\u10ff\U00010000-\U0010ffff])[^\W_]|[)\]}]")
"""An asterisk behind one of these is most likely a product or a power."""
_LEAF = re.compile(r"^[\s>]*(?:[-*+]|\d{1,9}[.)]|#{1,6})\s+")
_TEX = re.compile(r"[\\^_{]")
_NUMBER = re.compile(r"\d[\d.,]{0,11}")
_TERM = re.compile(r" ?[\\^_={]|[A-Za-z](?<![kKmMbBtT])(?![A-Za-z])| [+*-](?: (?:\d|[a-z](?![a-z])|\\|\Z)|\Z)| \Z")
"""What follows a number in a formula, and not in an amount of money."""
_LONG_FORMULA = re.compile(r"`+|\$\$|\\(?:\[|begin\{|.)", re.DOTALL)
_ENVIRONMENT_BEGUN = re.compile(r"\\b(?:e(?:g(?:i(?:n(?:\{[A-Za-z]*\*?)?)?)?)?)?\Z")
_DELIMITER = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_DELIMITER_BEGUN = re.compile(r"^[\s|:-]*$")


def repaired(text: str) -> str:
    """``text`` with its end held back or closed: open emphasis, code and links are finished, half markers are hidden.

    Only the end changes; what precedes the last paragraph is returned as it is, and so is code. Idempotent on finished
    text.
    """
    found = fences(text, 0, len(text))
    head, _, last = text.rpartition("\n")
    after = 0
    if found:
        fence = found[-1]
        if fence.end is None:
            half_closed = bool(last.strip()) and not last.strip().strip(fence.marker[0])
            return head if half_closed or "\n" not in text[fence.start :] else text
        after = fence.end
        if after == len(text):
            return text
    whole, after, inline = _without_half_formula(text, after)
    if len(whole) < len(text):
        text = whole
        head, _, last = text.rpartition("\n")
    if last.strip() and _MARKER_ONLY.match(last):
        text = head
    text = _without_half_table(text)
    start = _leaf_start(text)
    for begin, end in reversed(inline):
        start = _leaf_start(text[:begin]) if begin < start < end else start
    start = min(len(text), max(after, start))
    return text[:start] + _closed(text[start:])


def _without_half_formula(text: str, after: int) -> tuple[str, int, list[tuple[int, int]]]:
    """The text up to a formula that may go on over several lines and is not closed; where the last block of one that is
    closed ends; and where such formulas stand within the last paragraph. What their lines begin with means nothing."""
    begin = at = max(after, text.rfind("\n\n") + 1)
    inline: list[tuple[int, int]] = []
    if not _LONG_FORMULA.search(text, at):
        return text, after, inline
    blocks = {found.end() for found in BLOCK_BEGINS.finditer(text, begin)}
    while found := _LONG_FORMULA.search(text, at):
        start, at = found.start(), found.end()
        pair = opening(text, start)
        if pair is None:
            closed = text.find(found[0], at) if found[0][0] == "`" else at
            if closed < 0:
                break
            at = closed + len(found[0]) if found[0][0] == "`" else at
            continue
        end = text.find(pair[1], start + len(pair[0]))
        held = LONGEST_HELD_BLOCK_CHARS if start in blocks else LONGEST_HELD_FORMULA_CHARS
        if end < 0 and len(text) - start <= held:
            return text[:start], after, inline
        if 0 <= end - start <= held:
            at = end + len(pair[1])
            if start in blocks:
                after = at
            else:
                inline.append((start, at))
    return text, after, inline


def _without_half_table(text: str) -> str:
    """Hold a table back until its delimiter row is there: before that its header would show as text with bars."""
    lines = text.split("\n")
    begin = len(lines)
    while begin and lines[begin - 1].lstrip().startswith("|"):
        begin -= 1
    if len(lines) > 1 and not lines[-1] and lines[-2].lstrip().startswith("|"):
        return _without_half_table(text[:-1])
    rows = lines[begin:]
    if not rows:
        return text
    complete = len(rows) > 1 and _DELIMITER.match(rows[1]) and rows[1].count("-") and _bars(rows[1]) >= _bars(rows[0])
    if complete or (len(rows) > 1 and not _DELIMITER_BEGUN.match(rows[1])):
        return text
    return "\n".join(lines[:begin])


def _bars(row: str) -> int:
    return row.strip().strip("|").count("|")


def _leaf_start(text: str) -> int:
    """Where the last paragraph, heading, list item or table cell begins: emphasis and links do not reach across."""
    start = text.rfind("\n\n") + 1
    lines = text[start:].split("\n")
    offset = len(text)
    for line in reversed(lines):
        offset -= len(line)
        if line.lstrip().startswith("|"):
            return offset + line.rfind("|") + 1
        match = _LEAF.match(line)
        if match:
            return offset + match.end()
        offset -= 1
    return start


def _closed(leaf: str) -> str:
    scan = _Scan(leaf)
    scan.run()
    return scan.result()


class _Scan:
    """One pass over a paragraph whose end is missing."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._cut = len(text)
        self._dropped: set[int] = set()
        self._open: list[tuple[str, int]] = []
        self._code = ""

    def run(self) -> None:
        while self._at < self._cut and not self._code:
            char = self._text[self._at]
            if char == "\\" and not self._formula():
                self._escape()
            elif char == "`":
                self._ticks()
            elif char in "*_~":
                self._emphasis(char)
            elif char == "[" or self._text.startswith("![", self._at):
                self._link()
            elif char == "!" and self._text[max(0, self._at - 1) :] in ("!", " !"):
                self._cut = self._at
            elif char == "$":
                if not self._formula():
                    self._at += 1
            elif char == "<" and re.fullmatch(
                r"<(?:h[a-z]*|(?:https?|mailto):(?:[^\s>|]*|[^\s>|]*\|[^>\n]{0,200})|m[a-z]*)?", self._text[self._at :]
            ):
                self._dropped.add(self._at)
                self._at += 1
            elif char != "\\":
                self._at += 1

    def result(self) -> str:
        kept = [char for at, char in enumerate(self._text[: self._cut]) if at not in self._dropped]
        shown = "".join(kept)
        while self._open:
            marker, at = self._open[-1]
            inside = "".join(
                char
                for index, char in enumerate(self._text[at + len(marker) : self._cut], at + len(marker))
                if index not in self._dropped
            )
            if inside.strip():
                break
            self._open.pop()
            shown = shown.rstrip()[: -len(marker)] if shown.rstrip().endswith(marker) else shown
        closers = self._code + "".join(marker for marker, _ in reversed(self._open))
        return shown.rstrip().rstrip(closers[0]) + closers if closers else shown

    def _escape(self) -> None:
        if self._at + 1 == len(self._text):
            self._cut = self._at
        self._at += 2

    def _ticks(self) -> None:
        run = re.compile("`+").match(self._text, self._at)
        assert run
        after = run.end()
        closer = next((one for one in re.finditer("`+", self._text[after:]) if len(one[0]) == len(run[0])), None)
        if closer:
            self._at = after + closer.end()
        elif not self._text[after:].strip("` \n"):
            self._cut = self._at
        else:
            half = re.search(r"`+$", self._text[after:])
            self._cut = after + half.start() if half and len(half[0]) < len(run[0]) else self._cut
            self._code = run[0]

    def _emphasis(self, char: str) -> None:
        run = re.compile(re.escape(char) + "+").match(self._text, self._at)
        assert run
        size, after = len(run[0]), run.end()
        if char == "~" and size != 2:
            self._cut = self._at if after == len(self._text) else self._cut
            self._at = after
            return
        before = self._text[self._at - 1 : self._at] or " "
        follows = self._text[after : after + 1]
        matches = bool(self._open) and self._open[-1][0][0] == char and not before.isspace()
        if not follows:
            if matches and size >= len(self._open[-1][0]):
                self._pop(size)
            else:
                self._cut = self._at
        else:
            opens, closes = flanking(before, follows)
            if matches and closes and not (char == "_" and follows.isalnum()):
                if not (opens and (size + len(self._open[-1][0])) % 3 == 0):
                    self._pop(size)
            elif opens and not (before.isalnum() if char == "_" else _OPERAND.match(before)):
                self._open.append((run[0][:3], self._at))
        self._at = after

    def _pop(self, size: int) -> None:
        while size > 0 and self._open:
            marker, at = self._open.pop()
            if len(marker) > size:
                self._open.append((marker[: len(marker) - size], at))
            size -= len(marker)

    def _link(self) -> None:
        start = self._at + (self._text[self._at] == "!")
        close = self._text.find("]", start)
        if start == self._at and _SUBSCRIPT.match(self._text, max(0, start - 1)):
            self._at = start + 1
        elif close < 0:
            self._dropped.update((self._at, start))
            self._at = start + 1
        elif close == len(self._text) - 1:
            self._dropped.update((self._at, start, close))
            self._at = start + 1
        elif close >= 0 and self._text[close + 1] == "(":
            end = self._text.find(")", close)
            if end < 0 and "\n" not in self._text[close:]:
                self._dropped.update((self._at, start))
                self._cut = close
                self._at = start + 1
            else:
                self._at = end + 1 if end >= 0 else start + 1
        else:
            self._at = start + 1

    def _formula(self) -> bool:
        """True when a formula begins here; a finished one is passed over, an unfinished one held back. One between single
        dollars is not finished before what follows is known: in ``$a$b`` there is none."""
        text, at = self._text, self._at
        pair = opening(text, at)
        if pair is None:
            half = bool(_ENVIRONMENT_BEGUN.match(text, at))
            self._cut = at if half else self._cut
            return half
        opener, closer = pair
        end = formula_end(text, at, opener, closer, len(text))
        if end >= 0 and not (opener == "$" and end + 1 == len(text)):
            self._at = end + len(closer)
            return True
        if end < 0 and not may_be_formula(text[at + len(opener) :], opener):
            return False
        self._cut = at
        return True


def may_be_formula(begun: str, opener: str) -> bool:
    """Whether what has ``begun`` behind ``opener`` may still become a formula, as far as anybody would wait for that."""
    if opener != "$":
        return len(begun) <= LONGEST_HELD_FORMULA_CHARS
    if begun[:1].isspace() or "\n" in begun or "`" in begun or "$" in begun.replace("\\$", ""):
        return False
    if (number := _NUMBER.match(begun)) and number.end() < len(begun) and not _TERM.match(begun, number.end()):
        return False
    return len(begun) <= (LONGEST_HELD_FORMULA_CHARS if _TEX.search(begun) else LONGEST_HELD_DOLLAR_CHARS)
