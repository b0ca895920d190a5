"""Buttons as Discord lays them out: rows of five, five rows at most."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final

from bot.core.view import Button

STYLES: Final = {"plain": 2, "primary": 1, "danger": 4}
ROW_BUTTONS: Final = 5
ROWS: Final = 5


def rows(buttons: Sequence[Button]) -> list[dict[str, Any]]:
    """The verbs of a card in one row, Stop in one of its own, as long as there is room; what finds none comes up when
    others are pressed. The last button, which is Stop, always does."""
    lines = [list(line) for _, line in groupby(buttons, key=lambda button: button.payload.rpartition(":")[0])]
    if len(lines) > ROWS or any(len(line) > ROW_BUTTONS for line in lines):
        shown = [*buttons[: ROWS * ROW_BUTTONS - 1], buttons[-1]] if len(buttons) > ROWS * ROW_BUTTONS else buttons
        lines = [list(shown[at : at + ROW_BUTTONS]) for at in range(0, len(shown), ROW_BUTTONS)]
    return [{"type": 1, "components": [_button(button) for button in line]} for line in lines]


def _button(button: Button) -> dict[str, Any]:
    return {"type": 2, "style": STYLES[button.style], "label": button.label, "custom_id": button.payload}
