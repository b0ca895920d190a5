"""Components as Discord checks them: rows of buttons and menus, and with the V2 flag text, sections and containers."""

from __future__ import annotations

from typing import Any

from tests.sim.discord.nouns import walk
from tests.sim.discord.refusals import FormErrors, Json

ROW, BUTTON, MENU, SECTION, TEXT, GALLERY, FILE, SEPARATOR, CONTAINER = 1, 2, 3, 9, 10, 12, 13, 14, 17
MENUS = frozenset({3, 5, 6, 7, 8})
OLD = (ROW,)
NEW = (ROW, SECTION, TEXT, GALLERY, FILE, SEPARATOR, CONTAINER)
IN_CONTAINER = (ROW, SECTION, TEXT, GALLERY, FILE, SEPARATOR)
MAX_ROWS, MAX_BUTTONS, MAX_COMPONENTS, MAX_TEXT = 5, 5, 40, 4000
MAX_CUSTOM_ID, MAX_LABEL, MAX_URL, MAX_OPTIONS, MAX_PLACEHOLDER, MAX_OPTION = 100, 80, 512, 25, 150, 100
LINK, PREMIUM = 5, 6


def check_components(components: list[Json], errors: FormErrors, *, v2: bool) -> list[Json]:
    """The components with their ids filled in; what is wrong goes to ``errors``."""
    if not v2 and len(components) > MAX_ROWS:
        errors.add("components", "BASE_TYPE_BAD_LENGTH", f"Must be {MAX_ROWS} or fewer in length.")
    every = walk(components)
    if v2 and len(every) > MAX_COMPONENTS:
        errors.add("components", "COMPONENT_MAX_TOTAL_COMPONENTS", f"Must have {MAX_COMPONENTS} or fewer components")
    if v2 and sum(len(str(one.get("content", ""))) for one in every if one.get("type") == TEXT) > MAX_TEXT:
        errors.add(
            "components",
            "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED",
            f"Components displayable text size exceeds maximum size of {MAX_TEXT}",
        )
    for index, component in enumerate(components):
        _check(component, f"components.{index}", errors, NEW if v2 else OLD, v2)
    _check_unique(components, errors)
    return numbered(components)


def numbered(components: list[Json]) -> list[Json]:
    """Every component gets an id, counted from 1 where it has none."""
    used = {one["id"] for one in walk(components) if one.get("id")}
    free = (number for number in range(1, 10_000) if number not in used)

    def filled(component: Json) -> Json:
        body = {**component, "id": component.get("id") or next(free)}
        if "components" in body:
            body["components"] = [filled(one) for one in body["components"] if isinstance(one, dict)]
        if isinstance(body.get("accessory"), dict):
            body["accessory"] = filled(body["accessory"])
        return body

    return [filled(component) for component in components if isinstance(component, dict)]


def _check(component: Any, path: str, errors: FormErrors, allowed: tuple[int, ...], v2: bool) -> None:
    kind = component.get("type") if isinstance(component, dict) else None
    if kind not in allowed:
        errors.add(f"{path}.type", "UNION_TYPE_CHOICES", f'Value of field "type" must be one of {allowed}.')
    elif kind == ROW:
        _check_row(component, path, errors)
    elif kind == TEXT:
        if not component.get("content"):
            errors.required(f"{path}.content")
    elif kind == SECTION:
        inner = component.get("components") or []
        errors.too_long(f"{path}.components", inner, 3, least=1)
        for index, one in enumerate(inner):
            _check(one, f"{path}.components.{index}", errors, (TEXT,), v2)
        if not isinstance(component.get("accessory"), dict):
            errors.required(f"{path}.accessory")
        elif component["accessory"].get("type") == BUTTON:
            _check_button(component["accessory"], f"{path}.accessory", errors)
    elif kind == GALLERY:
        errors.too_long(f"{path}.items", component.get("items") or [], 10, least=1)
    elif kind == CONTAINER:
        inner = component.get("components") or []
        if not inner:
            errors.add(f"{path}.components", "BASE_TYPE_MIN_LENGTH", "Must be 1 or more in length.")
        for index, one in enumerate(inner):
            _check(one, f"{path}.components.{index}", errors, IN_CONTAINER, v2)


def _check_row(row: Json, path: str, errors: FormErrors) -> None:
    inner = [one if isinstance(one, dict) else {} for one in row.get("components") or []]
    errors.too_long(f"{path}.components", inner, MAX_BUTTONS, least=1)
    menus = sum(one.get("type") in MENUS for one in inner)
    if menus and len(inner) > 1:
        message = "The specified component exceeds the maximum width"
        errors.add(f"{path}.components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED", message)
    for index, one in enumerate(inner):
        at = f"{path}.components.{index}"
        if one.get("type") == BUTTON:
            _check_button(one, at, errors)
        elif one.get("type") in MENUS:
            _check_menu(one, at, errors)
        else:
            errors.add(f"{at}.type", "UNION_TYPE_CHOICES", 'Value of field "type" must be one of (2, 3, 5, 6, 7, 8).')


def _check_button(button: Json, path: str, errors: FormErrors) -> None:
    style = button.get("style")
    if style not in range(1, 7):
        errors.add(f"{path}.style", "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3, 4, 5, 6).")
    if len(button.get("label") or "") > MAX_LABEL:
        errors.too_long(f"{path}.label", button["label"], MAX_LABEL)
    if style == LINK:
        url = button.get("url") or ""
        if button.get("custom_id"):
            message = "A custom id and url cannot both be specified"
            errors.add(path, "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", message)
        if not url:
            errors.add(f"{path}.url", "BUTTON_COMPONENT_URL_REQUIRED", "A url is required")
        errors.too_long(f"{path}.url", url, MAX_URL)
        check_url(url, f"{path}.url", errors)
    elif style != PREMIUM:
        _check_custom_id(button, path, errors)
    emoji = button.get("emoji")
    if emoji is not None and not (emoji.get("id") or (emoji.get("name") or "").strip()):
        errors.add(f"{path}.emoji.name", "BUTTON_COMPONENT_INVALID_EMOJI", "Invalid emoji")
    if style != PREMIUM and not button.get("label") and not emoji:
        errors.add(path, "BUTTON_COMPONENT_LABEL_EMOJI_REQUIRED", "A label or emoji is required")


def _check_menu(menu: Json, path: str, errors: FormErrors) -> None:
    _check_custom_id(menu, path, errors)
    errors.too_long(f"{path}.placeholder", menu.get("placeholder") or "", MAX_PLACEHOLDER)
    if menu["type"] != MENU:
        return
    options = menu.get("options") or []
    errors.too_long(f"{path}.options", options, MAX_OPTIONS, least=1)
    for index, option in enumerate(options):
        for name, least in (("label", 1), ("value", 1), ("description", 0)):
            errors.too_long(f"{path}.options.{index}.{name}", option.get(name) or "", MAX_OPTION, least=least)
    values = [option.get("value") for option in options]
    if len(set(values)) < len(values):
        message = "The specified option value is already used"
        errors.add(f"{path}.options", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", message)


def _check_custom_id(component: Json, path: str, errors: FormErrors) -> None:
    custom_id = component.get("custom_id")
    if custom_id is None:
        errors.required(f"{path}.custom_id")
    else:
        errors.too_long(f"{path}.custom_id", str(custom_id), MAX_CUSTOM_ID, least=1)


def _check_unique(components: list[Json], errors: FormErrors) -> None:
    seen: set[str] = set()

    def visit(inside: list[Any], path: str) -> None:
        for index, one in enumerate(inside):
            if not isinstance(one, dict):
                continue
            at = f"{path}.{index}"
            if (custom_id := one.get("custom_id")) is not None:
                if custom_id in seen:
                    message = "Component custom id cannot be duplicated"
                    errors.add(f"{at}.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", message)
                seen.add(custom_id)
            visit(one.get("components") or [], f"{at}.components")
            if isinstance(one.get("accessory"), dict):
                visit([one["accessory"]], f"{at}.accessory")

    visit(components, "components")


def check_url(url: str, path: str, errors: FormErrors) -> None:
    if url and not url.startswith(("http://", "https://", "discord://", "attachment://")):
        message = "Scheme must be one of ('http', 'https', 'discord')."
        errors.add(path, "URL_TYPE_INVALID_SCHEME", message)
