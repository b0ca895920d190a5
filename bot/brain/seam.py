"""The seam of an answer that was cut off and goes on: what a model says again of it is left out."""

from __future__ import annotations

import re
from typing import Final

from bot.core.text import CJK
from bot.outbox.fences import fences

REACH: Final = 400
"""So many characters of what was said are compared, and so many of what comes may wait for it."""
_MANY: Final = 24
"""At the end of a line it takes so many characters: lines that come twice are not rare."""
_WORD_LETTERS: Final = 3
_LETTERS: Final = 6
_JOINER: Final = "\u200d"
_LOST: Final = "\ufffd"
_TONES: Final = tuple("🏻🏼🏽🏾🏿")
_REOPENED: Final = re.compile(r"\s*(?:`{3,}|~{3,})([^\n`]*)\n")
_MAY_REOPEN: Final = re.compile(r"\s*(?:`+|~+)[^\n]{0,40}\Z")
_WORD: Final = re.compile(r"[^\W_]+")
_PLAIN: Final = re.compile(r"[\w\s*`\"'“”‘’.,:;–-]+")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+>]|\d+[.)]|#{1,6}|\|)[ \t]*\S")
"""How a line begins that is one of a list or a table, or a heading: in the middle of another line nothing begins so."""
_FORMULA: Final = re.compile(
    r"""[\s*_(\[【（>]*(?:(?:I['’]m\ |I\ am\ |My\ )?(?:Sorry|sorry|Apolog|apolog)|I\ apologi|Continuing|Picking\ up
    |(?:Sure|Certainly|Of\ course|Okay|OK)\b[^\n]{0,60}(?:continu|rest|remainder|left\ off)|(?<=[(\[])continu
    |Here(?:['’]s|\ is)\ the\ (?:rest|continuation|remainder|complete|full|whole)|抱歉|对不起|不好意思|继续|接着|接上|续上)[^\n]{0,160}""",
    re.VERBOSE,
)
"""How a model begins that excuses itself, or says that it goes on. In the middle of a sentence nothing else begins so, and
behind one it is so where what was said last, or all of it, follows."""
_WHAT: Final = ("rest", "continuation", "remainder", "complete", "full", "whole")
_BEGINNINGS: Final = (
    *("I'm sorry", "I’m sorry", "I am sorry", "My apolog", "Sorry", "Apolog", "I apologi", "Continuing", "Picking up"),
    *(f"{here} the {what}" for here in ("Here is", "Here's", "Here’s") for what in _WHAT),
    *("Sure", "Certainly", "Of course", "Okay", "continu"),
    *("抱歉", "对不起", "不好意思", "继续", "接着", "接上", "续上"),
)
_MAY_AGREE: Final = re.compile(r"(?:Sure|Certainly|Of course|Okay|OK)\b[^\n]{0,60}\Z")
_ENDS: Final = ".!?。！？:：…\n"


class Seam:
    """``said`` is what is gone on from, "" for nothing; with ``stripped`` the model was shown it without its last blanks.

    ``take`` gives what of the pieces so far can be shown: the first few wait until it is clear whether they were said
    before. ``rest`` gives what still waits when no more come.
    """

    def __init__(self, said: str, *, stripped: bool = False) -> None:
        self._said, self._stripped = said, stripped
        self._held = ""
        self._open = bool(said)

    def take(self, piece: str) -> str:
        if not self._open:
            return piece
        self._held += piece
        return self._settled(final=len(self._held) > len(self._said) + 2 * REACH)

    def rest(self) -> str:
        return self._settled(final=True) if self._open else ""

    def _settled(self, *, final: bool) -> str:
        goes_on = continued(self._said, self._held, stripped=self._stripped, final=final)
        if goes_on is None:
            return ""
        self._open = False
        return goes_on


def continued(said: str, text: str, *, stripped: bool = False, final: bool = True) -> str | None:
    """What of ``text`` goes behind ``said``; None where that takes more of it, which is never so for the ``final`` one."""
    text = text.lstrip(_LOST)  # half of a sign whose other half was cut off
    if not text.strip() and not final:
        return None
    if not final and _may_excuse(text):
        return None
    if (excuse := _FORMULA.match(text)) and text[excuse.end() : excuse.end() + 1] == "\n":
        behind = text[excuse.end() :].lstrip("\n")
        if not final and (not behind or _may_repeat(said, behind)):
            return None
        if _in_sentence(said) or _joined(said, behind) != behind:
            text = behind
    if text.lstrip()[:1] in ("`", "~") and _in_fence(said):
        if not final and _MAY_REOPEN.match(text):
            return None
        if fence := _REOPENED.match(text):
            return _behind_fence(said, text, fence, final=final)
    if not final and _may_repeat(said, text):
        return None
    return _joined(said, text, stripped=stripped)


def _behind_fence(said: str, text: str, fence: re.Match[str], *, final: bool) -> str | None:
    """A fence with a language opens, and it is open already. A bare one closes it, unless what was said last follows."""
    behind = text[fence.end() :]
    if not final and (not behind.strip() or _may_repeat(said, behind)):
        return None
    if fence[1].strip() or _repeated(said, behind):
        return _joined(said, behind)
    return text if said.endswith("\n") or text.startswith("\n") else f"\n{text.lstrip()}"


def _joined(said: str, text: str, *, stripped: bool = False) -> str:
    core = said.rstrip()
    blanks = said[len(core) :]
    if len(core) > REACH and text.lstrip().startswith(core):  # begun anew, and word for word
        return _without(blanks, text.lstrip()[len(core) :])
    if again := _repeated(said, text):
        return text[again:]
    words = text.lstrip()
    again = _repeated(core, words) if blanks or len(words) < len(text) else 0
    if again and _is_long(words[:again]) and ("\n" not in blanks or again >= _MANY):
        return _without(blanks, words[again:])
    return _without(blanks, text) if stripped else text


def _without(blanks: str, text: str) -> str:
    """``text`` without the blanks it begins with, as far as they are there already."""
    if blanks and "\n" not in blanks:
        return text.lstrip(" \t")
    again = next((n for n in range(len(blanks), 0, -1) if text.startswith(blanks[-n:])), 0)
    return text[again:]


def _repeated(said: str, text: str) -> int:
    """How many characters ``text`` begins with are those that ``said`` ends with, where that is no chance."""
    for count in range(min(len(said), len(text), REACH), 0, -1):
        if said.endswith(text[:count]) and _is_telling(said, text, count):
            return count
    return 0


def _is_telling(said: str, text: str, count: int) -> bool:
    again, before = text[:count], said[: len(said) - count]
    if _is_half_a_sign(said, text, count) or _is_begun_line(before, again):
        return True
    if before[-1:].isalnum() and again[0].isalnum() and not CJK.match(again):
        return False
    if not again.strip() or before.rstrip().endswith(again.strip()):  # it was said twice before, so it may be meant
        return False
    if said.endswith("\n") and count < _MANY:
        return False
    if len(set(CJK.findall(again))) > 1:
        return True
    letters = sum(char.isalpha() for char in again)
    if len(_WORD.findall(again)) > 1:
        return letters >= _LETTERS
    return letters >= _WORD_LETTERS and not again[0].isspace() and _PLAIN.fullmatch(again) is not None


def _is_begun_line(before: str, again: str) -> bool:
    """One of a list, a table or a heading, which goes on in the middle of it."""
    return before[-1:] in ("", "\n") and "\n" not in again and _ITEM.match(again) is not None


def _is_half_a_sign(said: str, text: str, count: int) -> bool:
    """Parts of an emoji that was not complete."""
    if said.endswith(_JOINER):
        return _JOINER not in (said[-count], said[-count - 1 : -count])
    if _is_flag(text[0]):
        return count == 1 and _is_flag(text[1:2]) and _flags_at_end(said) % 2 == 1
    return text[count : count + 1] in _TONES and not text[:count].isalnum() and count == 1


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flags_at_end(said: str) -> int:
    return len(said) - len(said.rstrip("".join(map(chr, range(0x1F1E6, 0x1F200)))))


def _is_long(again: str) -> bool:
    return len(_WORD.findall(again)) > 1 or len(CJK.findall(again)) > 3


def _may_repeat(said: str, text: str) -> bool:
    """Whether more of ``text`` could show that it was said before."""
    words = text.lstrip()
    if said.startswith(words):
        return True
    return len(text) < REACH and any(one in said[-REACH:] for one in {text, words} if one)


def _in_sentence(said: str) -> bool:
    return said.rstrip(" ")[-1:] not in _ENDS


def _may_excuse(text: str) -> bool:
    words = text.lstrip(" \n*_([【（>")
    if not words or any(len(words) < len(one) and one.startswith(words) for one in _BEGINNINGS):
        return True
    if _MAY_AGREE.match(words):
        return True
    found = _FORMULA.match(text)
    return found is not None and found.end() == len(text)


def _in_fence(said: str) -> bool:
    """Whether what was said ends in a block of code."""
    blocks = fences(said, 0, len(said))
    return bool(blocks) and blocks[-1].close is None
