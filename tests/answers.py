"""Real answers of models, for whatever shows text: the file that BOWERBIRD_ANSWERS names (JSON Lines with a text each),
or the one that is shared beside the project."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Final

import pytest

SHARED: Final = Path("../shared/data/answers-70.jsonl")
"""Seen from the project's root."""
NAMED: Final = os.environ.get("BOWERBIRD_ANSWERS", "")
_FILE: Final = Path(NAMED) if NAMED else Path(__file__).parents[1] / SHARED
ARE_THERE: Final = bool(NAMED) or _FILE.is_file()

needs_answers = pytest.mark.skipif(
    not ARE_THERE, reason=f"there is no {SHARED}, and BOWERBIRD_ANSWERS names no other file of answers"
)


@cache
def real_answers() -> list[str]:
    """Empty where there are none."""
    if not ARE_THERE:
        return []
    return [json.loads(line)["text"] for line in _FILE.read_text(encoding="utf-8").splitlines()]
