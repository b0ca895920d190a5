"""The language of the person at the terminal."""

from __future__ import annotations

from collections.abc import Mapping


def language_of(environ: Mapping[str, str]) -> str:
    """The language of the terminal's locale, such as ``zh`` for ``zh_CN.UTF-8``."""
    locale = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
    return locale.split("_")[0].lower() or "en"
