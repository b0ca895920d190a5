"""Every sentence the bot itself says to a person, in English and Chinese: one table, one function."""

from __future__ import annotations

from typing import Final

from bot.core.sentences import commands, people, terminal, turns

TEXTS: Final[dict[str, dict[str, str]]] = {**turns.TEXTS, **commands.TEXTS, **people.TEXTS, **terminal.TEXTS}


def say(key: str, language: str = "en", **values: object) -> str:
    """The sentence ``key`` in ``language`` (``zh…`` is Chinese, anything else English) with ``values`` filled in."""
    entry = TEXTS[key]
    return entry["zh" if language.lower().startswith("zh") else "en"].format(**values)


def language_of(text: str, wanted: str = "auto", person: str = "") -> str:
    """The language for the bot's own sentences: ``wanted`` unless that is ``auto``, else by the script of ``text``.

    A command or a number says nothing of it: there the language that the platform tells of the ``person`` counts.
    """
    if wanted != "auto":
        return wanted
    if any("\u4e00" <= char <= "\u9fff" for char in text):
        return "zh"
    silent = text.lstrip().startswith("/") or not any(char.isalpha() for char in text)
    return (person if silent else "") or "en"
