"""What a person reads of a message: mrkdwn, Markdown and blocks as plain text, the buttons, the cards, and who is pinged."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.sim.slack.nouns import Button, Card, Json

Names = Callable[[str], str]
"""The name that stands for a user's or channel's id."""

_ANGLE = re.compile(r"<([^<>\n]*)>")
_PING = re.compile(r"<(!channel|!here|!everyone|!subteam\^\w+|@[UW]\w+)(?:\|[^<>]*)?>")
_EMPHASIS = tuple(
    re.compile(rf"(?<![\w{re.escape(mark)}]){re.escape(mark)}(\S(?:[^\n]*?\S)?){re.escape(mark)}(?!\w)")
    for mark in "*_~"
)
_CODE = re.compile(r"```\n?(.*?)\n?```|`([^`\n]+)`", re.DOTALL)
_MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def mrkdwn(text: str, names: Names) -> str:
    """``text`` as Slack shows it: no marks, links by their labels, mentions by name, entities decoded."""
    parts, at = [], 0
    for found in _CODE.finditer(text):
        parts.append(_plain(text[at : found.start()], names))
        parts.append(html.unescape(_angles(found[1] if found[1] is not None else found[2], names)))
        at = found.end()
    return "".join([*parts, _plain(text[at:], names)])


def _plain(text: str, names: Names) -> str:
    text = _angles(text, names)
    for pattern in _EMPHASIS:
        text = pattern.sub(r"\1", text)
    return html.unescape(text)


def _angles(text: str, names: Names) -> str:
    def shown(found: re.Match[str]) -> str:
        target, _, label = found[1].partition("|")
        if target.startswith(("@", "#")):
            return target[0] + (label or names(target[1:]))
        if target.startswith("!"):
            return label or "@" + target[1:].partition("^")[0]
        return label or target.removeprefix("mailto:")

    return _ANGLE.sub(shown, text)


def markdown(text: str, names: Names) -> str:
    """Markdown as Slack shows it: paragraphs apart by an empty line, lists by bullets and numbers, no marks."""
    lines: list[str] = []
    _render(_MARKDOWN.parse(text), lines, names)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _render(tokens: list[Token], lines: list[str], names: Names) -> None:
    lists: list[int | None] = []
    lead, row = "", list[str]()
    for token in tokens:
        kind = token.type
        if kind in ("bullet_list_open", "ordered_list_open"):
            lists.append(int(token.attrGet("start") or 1) if kind.startswith("ordered") else None)
        elif kind in ("bullet_list_close", "ordered_list_close"):
            lists.pop()
            lines.append("") if not lists else None
        elif kind == "list_item_open":
            number = lists[-1]
            lead = "    " * (len(lists) - 1) + ("• " if number is None else f"{number}. ")
            lists[-1] = None if number is None else number + 1
        elif kind in ("fence", "code_block"):
            lines += [token.content.rstrip("\n"), ""]
        elif kind == "tr_open":
            row = []
        elif kind == "tr_close":
            lines.append(" | ".join(row))
        elif kind == "inline":
            text = _inline(token, names)
            if token.level and tokens[tokens.index(token) - 1].type in ("th_open", "td_open"):
                row.append(text)
            else:
                lines.append(lead + text)
                lead = ""
        elif kind in ("paragraph_close", "heading_close", "table_close") and not lists:
            lines.append("")


def _inline(token: Token, names: Names) -> str:
    text = ""
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            text += "\n"
        elif child.type in ("text", "code_inline", "html_inline", "image"):
            text += child.content
    return _angles(text, names)


def rich_text(block: Json, names: Names) -> str:
    """A list's numbers begin after its ``offset``, whatever list stood before it."""
    lines = []
    for element in block.get("elements", ()):
        if element["type"] != "rich_text_list":
            lines.append(_rich_inline(element, names).removesuffix("\n"))
            continue
        for number, item in enumerate(element["elements"], 1 + element.get("offset", 0)):
            lead = "• " if element["style"] == "bullet" else f"{number}. "
            lines.append("    " * element.get("indent", 0) + lead + _rich_inline(item, names))
    return "\n".join(lines)


def _rich_inline(section: Json, names: Names) -> str:
    text = ""
    for one in section.get("elements", ()):
        match one["type"]:
            case "text":
                text += one["text"]
            case "link":
                text += one.get("text") or one["url"]
            case "user":
                text += f"@{names(one['user_id'])}"
            case "usergroup":
                text += f"@{one['usergroup_id']}"
            case "channel":
                text += f"#{names(one['channel_id'])}"
            case "broadcast":
                text += f"@{one['range']}"
            case "emoji":
                text += f":{one['name']}:"
            case "date":
                text += one.get("fallback", one["format"])
            case "color":
                text += one["value"]
    return text


def read_blocks(blocks: Iterable[Json], names: Names) -> str:
    """The text of blocks, one line apart; buttons, cards and dividers are no text."""
    return "\n".join(text for block in blocks if (text := _block(block, names)))


def _block(block: Json, names: Names) -> str:
    match block["type"]:
        case "rich_text":
            return rich_text(block, names)
        case "markdown":
            return markdown(block["text"], names)
        case "section":
            held = [*([block["text"]] if "text" in block else ()), *block.get("fields", ())]
            return "\n".join(_object(one, names) for one in held)
        case "header":
            return _object(block["text"], names)
        case "context":
            return " ".join(_object(one, names) for one in block["elements"])
        case "table":
            return "\n".join(" | ".join(_cell(cell, names) for cell in row) for row in block["rows"])
        case "image":
            return str(block.get("alt_text", ""))
    return ""


def _cell(cell: Json, names: Names) -> str:
    return rich_text(cell, names) if cell["type"] == "rich_text" else str(cell["text"])


def _object(held: Json, names: Names) -> str:
    if held.get("type") == "image":
        return str(held.get("alt_text", ""))
    return str(held["text"]) if held.get("type") == "plain_text" else mrkdwn(held["text"], names)


def buttons(blocks: Iterable[Json]) -> Iterator[Button]:
    for block in blocks:
        held = [*block.get("elements", ())] if block["type"] in ("actions", "context_actions") else []
        held += [block["accessory"]] if "accessory" in block else []
        for one in held:
            if one.get("type") == "button":
                yield Button(
                    one["text"]["text"],
                    one.get("action_id", ""),
                    one.get("value", ""),
                    one.get("style", ""),
                    block.get("block_id", ""),
                    one.get("url", ""),
                )


def cards(blocks: Iterable[Json], names: Names) -> Iterator[Card]:
    for block in blocks:
        for one in (
            [block] if block["type"] == "task_card" else block.get("tasks", ()) if block["type"] == "plan" else ()
        ):
            read = [rich_text(one[name], names) if name in one else "" for name in ("details", "output")]
            yield Card(one["task_id"], one["title"], one.get("status", "pending"), *read)


def pings(*held: Any) -> list[str]:
    """What would notify people in texts and blocks, as it is written."""
    return [what for one in held for what in _pings(one, literal=False)]


def _pings(held: Any, *, literal: bool) -> Iterator[str]:
    if isinstance(held, str):
        if not literal:
            yield from (f"<{found[1]}>" for found in _PING.finditer(held))
    elif isinstance(held, list | tuple):
        for one in held:
            yield from _pings(one, literal=literal)
    elif isinstance(held, dict):
        kind = held.get("type")
        if kind == "user":
            yield f"<@{held.get('user_id')}>"
        elif kind == "broadcast":
            yield f"<!{held.get('range')}>"
        elif kind == "usergroup":
            yield f"<!subteam^{held.get('usergroup_id')}>"
        else:
            inner = literal or kind in ("plain_text", "rich_text", "actions")
            for value in held.values():
                yield from _pings(value, literal=inner)
