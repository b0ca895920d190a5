"""Unicode's small raised and lowered letters, its combining marks and its mathematical alphabets."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

_RAISED: Final = dict(
    zip(
        "0123456789+−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW∘*†‡′″‴⊤",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ°*†‡′″‴ᵀ",
        strict=True,
    )
)
_LOWERED: Final = dict(zip("0123456789+−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
_SCRIPTS: Final = frozenset(_RAISED.values()) | frozenset(_LOWERED.values())
_NAMES: Final = {"DOUBLE-STRUCK": "DOUBLE-STRUCK", "SCRIPT": "SCRIPT", "FRAKTUR": "BLACK-LETTER"}
"""How letters are called that Unicode had before it had the alphabets."""


def raised(text: str) -> str:
    """``text`` as a superscript; "" where Unicode has not all of it."""
    return _mapped(text, _RAISED)


def lowered(text: str) -> str:
    """``text`` as a subscript; "" where Unicode has not all of it."""
    return _mapped(text, _LOWERED)


def _mapped(text: str, table: dict[str, str]) -> str:
    return "".join(map(table.__getitem__, text)) if all(char in table for char in text) else ""


def marked(text: str, mark: str) -> str:
    """``text`` with a combining ``mark`` over or under its characters, but for those that are scripts themselves."""
    bare = all(char in _SCRIPTS or char.isspace() for char in text)
    out = []
    for char in text:
        takes = bare or not (char in _SCRIPTS or char.isspace() or unicodedata.combining(char))
        out.append(char + mark if takes else char)
    return unicodedata.normalize("NFC", "".join(out))


@lru_cache(maxsize=1024)
def styled(char: str, alphabet: str) -> str:
    """``char`` out of a mathematical alphabet, by its name in Unicode; as it is where that one lacks it."""
    name = unicodedata.name(char, "").replace("LATIN ", "").replace("GREEK ", "").replace("LETTER ", "")
    for candidate in (f"MATHEMATICAL {alphabet} {name}", f"{_NAMES.get(alphabet, alphabet)} {name}"):
        try:
            return unicodedata.lookup(candidate)
        except KeyError:
            continue
    return char
