"""The files that come with Bowerbird."""

from __future__ import annotations

from pathlib import Path


def packaged(name: str) -> str:
    """The text of ``config.yaml`` or ``SOUL.md`` as it comes with Bowerbird."""
    return _place(name).read_text(encoding="utf-8")


def packaged_skills() -> Path:
    """The folder of the skills that come with Bowerbird."""
    return _place("skills")


def _place(name: str) -> Path:
    """In the package, or in its source tree."""
    inside = Path(__file__).parent / "starter" / name
    return inside if inside.exists() else Path(__file__).parents[2] / name
