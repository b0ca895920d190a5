"""Reply markup: which keyboards the platform takes, which it refuses, which it shows badly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.sim.telegram.bodies import Params
from tests.sim.telegram.nouns import Json, bad

MAX_BUTTONS = 100
MAX_PER_ROW = 8
DATA_BYTES = 64
STYLES = ("primary", "success", "danger")
_ACTIONS = (
    "callback_data url web_app login_url switch_inline_query switch_inline_query_current_chat"
    " switch_inline_query_chosen_chat copy_text callback_game pay"
)
ACTIONS = tuple(_ACTIONS.split())
OTHERS = ("keyboard", "remove_keyboard", "force_reply")


def read_markup(params: Params, note: Callable[[str], None], *, inline_only: bool = False) -> Json | None:
    """The keyboard of a call, None without one; an empty inline keyboard is none."""
    raw = params.parsed("reply_markup", "reply keyboard markup")
    if raw is None or raw == {}:
        return None
    if not isinstance(raw, dict):
        raise bad("object expected as reply markup")
    if "inline_keyboard" not in raw:
        if inline_only or not any(name in raw for name in OTHERS):
            raise bad("inline keyboard expected")
        return raw
    rows = raw["inline_keyboard"]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise bad('field "inline_keyboard" must be an Array of Arrays')
    kept = [[_button(key, note) for key in row] for row in rows if row]
    if sum(map(len, kept)) > MAX_BUTTONS:
        raise bad("reply markup is too long")
    for row in kept:
        if len(row) > MAX_PER_ROW:
            note(f"{len(row)} buttons in a row")
    return {"inline_keyboard": kept} if kept else None


def _button(raw: Any, note: Callable[[str], None]) -> Json:
    if not isinstance(raw, dict):
        raise bad("can't parse InlineKeyboardButton: InlineKeyboardButton must be an Object")
    label = raw.get("text")
    if not isinstance(label, str):
        raise bad("can't parse InlineKeyboardButton: Can't find field \"text\"")
    if not label.strip():
        raise bad("inline keyboard button text must be non-empty")
    actions = [name for name in ACTIONS if name in raw]
    if not actions:
        raise bad("text buttons are unallowed in the inline keyboard")
    if len(actions) > 1:
        note(f"a button with several actions: {actions}")
    if "callback_data" in raw:
        data = raw["callback_data"]
        if not isinstance(data, str) or not 1 <= len(data.encode("utf-8", "surrogatepass")) <= DATA_BYTES:
            raise bad("BUTTON_DATA_INVALID")
    if raw.get("style") is not None and raw["style"] not in STYLES:
        raise bad("invalid button style specified")
    return raw
