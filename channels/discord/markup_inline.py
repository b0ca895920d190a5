"""Runs of styled text in Discord's own Markdown, written so that its client reads them as they are meant.

Discord's reader (simple-markdown) takes the first rule that matches at each character. It knows backslashes before anything
but letters and digits, yet not within labels and code; emphasis ends at the first markers, even those inside code.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

from bot.outbox.styled.leaves import Run
from bot.outbox.styled.links import target
from bot.outbox.styled.nesting import Atom, nested

GUARD: Final = "\u200b"
"""Parts what must not be read as one; nobody sees it. Libraries for Discord use this one, too."""
MARKS: Final = {"bold": "**", "italic": "*", "underline": "__", "strikethrough": "~~", "spoiler": "||"}
_ENDS: Final = {"bold": "*", "italic": "*", "underline": "_", "strikethrough": "~~", "spoiler": "||"}
"""What ends a style too early where it stands in code or an address."""

_LINE_START = re.compile(r"^ *(?:(?P<mark>-(?=[ #]|$)|>|#{1,3}(?=[\s\ufeff]|$))|\d+(?P<dot>\.)(?= |$))")
_SPECIAL = re.compile(
    r"[\\*_~|`\[]|<@?(?! )|:(?=[^\s:]+:)|(?<=http):(?=//)|(?<=https):(?=//)|(?<=steam):(?=//)"
    r"|@(?=everyone|here|silent)"
)
_EMOJI = re.compile(
    "[\xa9\xae\u203c\u2049\u20e3\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030"
    "\u303d\u3297\u3299\ufe0f\U0001f000-\U0001faff\U000e0020-\U000e007f]"
)
_NO_LABEL = re.compile(r"[\\*~|`<]|__|(?<![^\W_])_|_(?![^\W_])|://|:[^\s:]+:|@(?:everyone|here|silent)")
_BRACKETED = re.compile(r"(?:[^\[\]]|\[[^\[\]]*\])*")
_INVITE = re.compile(r"discord(?:app)?\.(?:com|gg|gift|new)|dis\.gd", re.IGNORECASE)
"""Addresses with a meaning of their own, which are never masked."""
_MAILBOX = re.compile(r"(?!.*@(?:everyone|here|silent))[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+")
_BALANCED = re.compile(r"(?:[^()]|\([^()]*\))*")
_TICKS = re.compile("`+")


def written(runs: Sequence[Run], *, heading: bool = False) -> str:
    """A line of ``runs``, without its line break. Of a heading's own text nothing is taken for what surrounds it."""
    line = "".join(run.text for run in runs)
    atoms = _atoms(runs, _special_start(line, heading=heading))
    text = nested(list(atoms), MARKS, _border).rstrip()
    if heading:
        return (GUARD if text[:1].isspace() else "") + text + (GUARD if text.endswith("#") else "")
    return text


def masks(label: str, url: str) -> bool:
    """Whether Discord shows ``label`` as a link to ``url``: it does so only for what cannot deceive, and shows the rest raw."""
    if label in (url, target(url)):
        return _MAILBOX.fullmatch(label) is not None if url.startswith("mailto:") else _opens(url)
    plain = unicodedata.normalize("NFKC", label)
    if not plain.strip() or _NO_LABEL.search(plain) or _EMOJI.search(label) or _INVITE.search(plain + " " + url):
        return False
    return bool(_BRACKETED.fullmatch(label)) and not ("[" in label and "\n" in label) and _opens(url)


def _opens(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme == "mailto" or ("%" not in parts.netloc and parts.port != 0)
    except ValueError:
        return False


def _special_start(line: str, *, heading: bool) -> int:
    """Where the character stands that would make a block of ``line``; -1 if none would."""
    found = _LINE_START.match(line)
    if found:
        return found.start("mark") if found["mark"] else found.start("dot")
    return len(line) - len(line.lstrip()) if heading and line.lstrip().startswith("#") else -1


def _atoms(runs: Sequence[Run], special: int) -> Iterator[Atom]:
    at, after_code = 0, False
    for group in _links(runs):
        run = group[0]
        if run.link:
            yield _link(group)
        elif run.code:
            if after_code:
                yield Atom(GUARD)
            yield Atom(_ticked(run.text), _kept(run.styles, run.text))
        else:
            mark = special - at if at <= special < at + len(run.text) else -1
            yield Atom(_escaped(run.text, mark), run.styles)
        after_code = run.code and not run.link
        at += sum(len(run.text) for run in group)


def _links(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Runs that are one link, and each other one. An address that is shown itself ends where it is complete."""
    group: list[Run] = []
    for run in runs:
        if group and (not run.link or run.link != group[0].link or _is_address(group)):
            yield group
            group = []
        group.append(run)
    if group:
        yield group


def _is_address(runs: Sequence[Run]) -> bool:
    return "".join(run.text for run in runs) in (runs[0].link, target(runs[0].link))


def _escaped(text: str, mark: int = -1) -> str:
    """``text`` with nothing in it that means anything; the character at ``mark`` does where it stands."""
    if mark >= 0:
        return f"{_escaped(text[:mark])}\\{text[mark]}{_escaped(text[mark + 1 :])}"
    return _SPECIAL.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    if found[0] == "@":
        return "@" + GUARD
    return "\\" + found[0] + (GUARD if found[0] == "<@" else "")


def _ticked(code: str) -> str:
    """Between one or two backticks: three are a block, wherever they stand."""
    sizes = {len(run) for run in _TICKS.findall(code)}
    if {1, 2} <= sizes:
        code, sizes = _TICKS.sub(lambda found: GUARD.join(found[0]), code), {1}
    ticks = "`" if 1 not in sizes else "``"
    start = " " if re.match(" *`", code) else ""
    end = " " if re.search("` *$", code) else ""
    return ticks + start + code + end + ticks


def _link(runs: Sequence[Run]) -> Atom:
    common = frozenset.intersection(*(run.styles for run in runs))
    if _is_address(runs):
        address = "".join(run.text for run in runs)
        return Atom(f"<{address}>", _kept(common, address))
    inside = [Atom(_ticked(run.text) if run.code else run.text, run.styles - common) for run in runs]
    return Atom(f"[{nested(inside, MARKS, _border)}](<{_address(runs[0].link)}>)", common)


def _address(url: str) -> str:
    """``url`` where Discord can find its end, and no markers."""
    url = url.replace("\\", "%5C").replace("*", "%2A").replace("|", "%7C").replace("~~", "%7E%7E")
    return url if _BALANCED.fullmatch(url) else url.replace("(", "%28").replace(")", "%29")


def _kept(styles: Iterable[str], text: str) -> frozenset[str]:
    return frozenset(style for style in styles if style not in _ENDS or _ENDS[style] not in text)


def _border(before: str, closing: str, opening: str, after: str) -> str:
    """Markers that close are not followed by others at once: ``**a***b*`` would be read otherwise. Nor may bars and tildes
    stand before their own kind, since their rules know no backslashes."""
    inside = GUARD if closing[:1] in ("~", "|") and before == closing[0] else ""
    return inside + closing + (GUARD if closing and opening else "") + opening
