"""What Slack takes as ``blocks``: types, lengths, unique ids, and how much there may be in all (PLATFORMS.md 3.3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt

from tests.sim.slack.nouns import Json, Refused
from tests.sim.slack.rich import Fault, check_rich_text

MAX_BLOCKS, MAX_HOME_BLOCKS = 50, 100
MAX_MARKDOWN = 12_000
MAX_CHARACTERS = 13_200
HEADING_COST = 100
_HELD = {"header": 150, "section": 3000, "field": 2000, "context": 3000, "button": 75}
MAX_ID, MAX_VALUE, MAX_URL = 255, 2000, 3000
STATUSES = ("pending", "in_progress", "complete", "error")
_OUTLINE = MarkdownIt("commonmark").enable("table").disable("inline")


class _Faults(list[str]):
    def __call__(self, message: str, pointer: str) -> None:
        self.append(f"[ERROR] {message} [json-pointer:{pointer}]")


def checked(blocks: list[Any], *, limit: int = MAX_BLOCKS) -> list[Json]:
    """The blocks, every one given its ``block_id`` as Slack does; refused as ``invalid_blocks`` with what is wrong
    where, or ``msg_blocks_too_long``."""
    faults = _Faults()
    if len(blocks) > limit:
        faults(f"no more than {limit} items allowed", "/blocks")
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        _block(block, f"/blocks/{index}", faults, seen)
    written = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "markdown"]
    markdown = [text for text in written if isinstance(text, str)]
    if sum(map(len, markdown)) > MAX_MARKDOWN:
        faults(f"markdown blocks together must be less than {MAX_MARKDOWN + 1} characters", "/blocks")
    if faults:
        raise Refused("invalid_blocks", *faults)
    expanded = len(blocks) - len(markdown) + sum(map(expansion, markdown))
    if characters(blocks) > MAX_CHARACTERS or (markdown and expanded > limit):
        raise Refused("msg_blocks_too_long")
    return [{**block, "block_id": block.get("block_id") or f"auto{index}"} for index, block in enumerate(blocks)]


def expansion(markdown: str) -> int:
    """How many blocks Slack makes of Markdown: one per heading, code, table and rule, and per run between them."""
    return _outline(markdown)[0]


@lru_cache(maxsize=64)
def _outline(markdown: str) -> tuple[int, int]:
    """Blocks in all, and headings among them."""
    count, headings, running = 0, 0, False
    for token in _OUTLINE.parse(markdown):
        if token.level or token.nesting < 0:
            continue
        alone = token.type in ("heading_open", "fence", "code_block", "table_open", "hr")
        headings += token.type == "heading_open"
        if alone or not running:
            count += 1
        running = not alone
    return count, headings


def characters(blocks: Any) -> int:
    """What the blocks show, in characters; a heading costs ``HEADING_COST`` more (bolt-js#2509, and measured 3p)."""
    if isinstance(blocks, list):
        return sum(map(characters, blocks))
    if not isinstance(blocks, dict):
        return 0
    own = HEADING_COST if blocks.get("type") == "header" else 0
    if blocks.get("type") == "markdown":
        own += HEADING_COST * _outline(str(blocks.get("text", "")))[1]
    for name, value in blocks.items():
        if name in ("text", "title", "alt_text", "details", "output", "url") and isinstance(value, str):
            own += len(value)
        elif isinstance(value, dict | list):
            own += characters(value)
    return own


def _block(block: Any, pointer: str, fault: Fault, seen: set[str]) -> None:
    if not isinstance(block, dict):
        fault("must be an object", pointer)
        return
    kind = block.get("type")
    check = _CHECKS.get(str(kind))
    if check is None:
        fault(f"unsupported type: {kind}", f"{pointer}/type")
        return
    name = block.get("block_id")
    if name is not None:
        if not isinstance(name, str) or not 1 <= len(name) <= MAX_ID:
            fault(f"must be less than {MAX_ID + 1} characters", f"{pointer}/block_id")
        elif name in seen:
            fault(f"block_id {name} already exists", f"{pointer}/block_id")
        seen.add(str(name))
    check(block, pointer, fault)


def _text(value: Any, pointer: str, fault: Fault, limit: int, *, plain: bool = False) -> None:
    if not isinstance(value, dict) or value.get("type") not in (("plain_text",) if plain else ("plain_text", "mrkdwn")):
        fault("must be a plain_text object" if plain else "must be a text object", pointer)
        return
    extra = set(value) - {"type", "text", "emoji" if value["type"] == "plain_text" else "verbatim"}
    if extra:
        fault(f"invalid additional property: {min(extra)}", pointer)
    text = value.get("text")
    if not isinstance(text, str) or not text:
        fault("must be more than 0 characters", f"{pointer}/text")
    elif len(text) > limit:
        fault(f"must be less than {limit + 1} characters", f"{pointer}/text")


def _section(block: Json, pointer: str, fault: Fault) -> None:
    fields = block.get("fields")
    if "text" not in block and not fields:
        fault("missing required field: text", pointer)
    if "text" in block:
        _text(block["text"], f"{pointer}/text", fault, _HELD["section"])
    if fields is not None:
        if not isinstance(fields, list) or not 1 <= len(fields) <= 10:
            fault("no more than 10 items allowed", f"{pointer}/fields")
            return
        for index, one in enumerate(fields):
            _text(one, f"{pointer}/fields/{index}", fault, _HELD["field"])
    if "accessory" in block:
        _element(block["accessory"], f"{pointer}/accessory", fault, set())


def _header(block: Json, pointer: str, fault: Fault) -> None:
    _text(block.get("text"), f"{pointer}/text", fault, _HELD["header"], plain=True)


def _context(block: Json, pointer: str, fault: Fault) -> None:
    for index, one in enumerate(_elements(block, pointer, fault, 10)):
        place = f"{pointer}/elements/{index}"
        if isinstance(one, dict) and one.get("type") == "image":
            _image(one, place, fault)
        else:
            _text(one, place, fault, _HELD["context"])


def _actions(block: Json, pointer: str, fault: Fault) -> None:
    seen: set[str] = set()
    for index, one in enumerate(_elements(block, pointer, fault, 25)):
        _element(one, f"{pointer}/elements/{index}", fault, seen)


def _elements(block: Json, pointer: str, fault: Fault, limit: int) -> list[Any]:
    elements = block.get("elements")
    if not isinstance(elements, list) or not elements:
        fault("must have at least 1 item", f"{pointer}/elements")
        return []
    if len(elements) > limit:
        fault(f"no more than {limit} items allowed", f"{pointer}/elements")
    return elements


def _element(element: Any, pointer: str, fault: Fault, seen: set[str]) -> None:
    """An interactive element. Buttons are checked in full, menus by their ids."""
    kind = element.get("type") if isinstance(element, dict) else None
    if kind == "image":
        _image(element, pointer, fault)
        return
    if kind not in INTERACTIVE:
        fault(f"unsupported type: {kind}", f"{pointer}/type")
        return
    action = element.get("action_id")
    if action is not None and (not isinstance(action, str) or not 1 <= len(action) <= MAX_ID):
        fault(f"must be less than {MAX_ID + 1} characters", f"{pointer}/action_id")
    if isinstance(action, str) and action in seen:
        fault(f"action_id {action} already exists", f"{pointer}/action_id")
    seen.add(str(action))
    if kind == "button":
        _button(element, pointer, fault)


def _button(element: Json, pointer: str, fault: Fault) -> None:
    extra = set(element) - BUTTON_FIELDS
    if extra:
        fault(f"invalid additional property: {min(extra)}", pointer)
    _text(element.get("text"), f"{pointer}/text", fault, _HELD["button"], plain=True)
    for name, limit in (("value", MAX_VALUE), ("url", MAX_URL), ("accessibility_label", 75)):
        value = element.get(name)
        if value is not None and (not isinstance(value, str) or len(value) > limit):
            fault(f"must be less than {limit + 1} characters", f"{pointer}/{name}")
    if element.get("style", "primary") not in ("primary", "danger"):
        fault("must be one of: primary, danger", f"{pointer}/style")


def _image(element: Json, pointer: str, fault: Fault) -> None:
    if not element.get("image_url") and not element.get("slack_file"):
        fault("missing required field: image_url", pointer)
    if not isinstance(element.get("alt_text"), str):
        fault("missing required field: alt_text", pointer)


def _markdown(block: Json, pointer: str, fault: Fault) -> None:
    text = block.get("text")
    if not isinstance(text, str) or not text:
        fault("must be more than 0 characters", f"{pointer}/text")
    elif len(text) > MAX_MARKDOWN:
        fault(f"must be less than {MAX_MARKDOWN + 1} characters", f"{pointer}/text")


def _task_card(block: Json, pointer: str, fault: Fault) -> None:
    for name in ("task_id", "title"):
        if not isinstance(block.get(name), str) or not block[name]:
            fault(f"missing required field: {name}", pointer)
    if block.get("status", "pending") not in STATUSES:
        fault(f"must be one of: {', '.join(STATUSES)}", f"{pointer}/status")
    for name in ("details", "output"):
        if name in block:
            held = block[name]
            if not isinstance(held, dict) or held.get("type") != "rich_text":
                fault("must be a rich_text block", f"{pointer}/{name}")
            else:
                check_rich_text(held, f"{pointer}/{name}", fault)


def _plan(block: Json, pointer: str, fault: Fault) -> None:
    if not isinstance(block.get("title"), str) or not block["title"]:
        fault("missing required field: title", pointer)
    for index, task in enumerate(block.get("tasks") or ()):
        _task_card(task if isinstance(task, dict) else {}, f"{pointer}/tasks/{index}", fault)


def _table(block: Json, pointer: str, fault: Fault) -> None:
    rows = block.get("rows")
    if not isinstance(rows, list) or not 1 <= len(rows) <= 100:
        fault("must have 1 to 100 rows", f"{pointer}/rows")
        return
    for index, row in enumerate(rows):
        if not isinstance(row, list) or not 1 <= len(row) <= 20:
            fault("must have 1 to 20 cells", f"{pointer}/rows/{index}")
            continue
        for column, cell in enumerate(row):
            place = f"{pointer}/rows/{index}/{column}"
            kind = cell.get("type") if isinstance(cell, dict) else None
            if kind == "rich_text":
                check_rich_text(cell, place, fault)
            elif kind != "raw_text" or not isinstance(cell.get("text"), str) or not cell["text"]:
                fault("must be raw_text or rich_text with a text", place)


def _anything(block: Json, pointer: str, fault: Fault) -> None:
    """Block types that are let through as they are."""


_INTERACTIVE = (
    "button checkboxes datepicker datetimepicker timepicker radio_buttons overflow static_select users_select"
    " conversations_select channels_select external_select multi_static_select multi_users_select"
    " multi_conversations_select multi_channels_select multi_external_select workflow_button"
)
INTERACTIVE = frozenset(_INTERACTIVE.split())
_BUTTON_FIELDS = "type text action_id value url style confirm accessibility_label agent_prompt"
BUTTON_FIELDS = frozenset(_BUTTON_FIELDS.split())
_CHECKS: dict[str, Callable[[Json, str, Fault], None]] = {
    "section": _section,
    "header": _header,
    "context": _context,
    "actions": _actions,
    "divider": _anything,
    "image": _image,
    "markdown": _markdown,
    "rich_text": check_rich_text,
    "task_card": _task_card,
    "plan": _plan,
    "table": _table,
    "context_actions": _anything,
    "input": _anything,
    "file": _anything,
    "video": _anything,
    "alert": _anything,
    "card": _anything,
    "carousel": _anything,
    "container": _anything,
}
