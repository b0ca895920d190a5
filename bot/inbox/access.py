"""Who may talk to the bot and where, as the configuration says it. Ids are the platform's own, always as text."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

_SHAPE = re.compile(r"-?[A-Za-z0-9_-]+")
_NUMERIC = re.compile(r"-?[0-9]+")
_NUMBER_BUT_NOT_AN_ID = re.compile(r"[-+]?[0-9]+(\.[0-9]*|(\.[0-9]*)?[eE][-+]?[0-9]+|(_[0-9]+)+)|-?0[0-9]+|-0|0x\w+")
_NOT_AN_ID = "an id is a whole number or a text, as the platform shows it"
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "none"})


def _listed(value: Any) -> Any:
    """One id instead of a list is a list of one; nothing is nobody."""
    if value is None:
        return ()
    if isinstance(value, bool):
        raise ValueError('must be a list of ids; anyone is written "*", nobody is []')
    if isinstance(value, str | int | float):
        if isinstance(value, str) and "," in value:
            raise ValueError("must be a list: several ids in one text are not taken apart; write [one, two]")
        value = (value,)
    if isinstance(value, list | tuple):
        return tuple(item for item in value if not (isinstance(item, str) and not item.strip()))
    return value


def _identified(value: Any) -> str:
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise ValueError(_NOT_AN_ID)
    text = str(value).strip()
    if text.startswith("@"):
        raise ValueError("a user name can pass to another person; write the id")
    if text.lower() in _WORDS or _NUMBER_BUT_NOT_AN_ID.fullmatch(text):
        raise ValueError(_NOT_AN_ID)
    if text != "*" and not _SHAPE.fullmatch(text):
        raise ValueError("this is not an id; write the platform's id alone (letters, digits, - and _)")
    return text


def _one_person(value: str) -> str:
    if value == "*":
        raise ValueError('"*" would make everyone an owner; name the owners one by one')
    return value


def _numeric(value: str) -> str:
    if value != "*" and not _NUMERIC.fullmatch(value):
        raise ValueError("ids are numbers on this platform; a name is not an id")
    return value


Id = Annotated[str, BeforeValidator(_identified)]
OwnerId = Annotated[Id, AfterValidator(_one_person)]


class Access(BaseModel):
    """The ``access:`` section, the same on every channel. Empty lists mean nobody; only ``"*"`` means anyone.

    A single id may stand for a list of one, and an empty text for nobody (so that ``"${OWNER:-}"`` works).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    owners: Annotated[tuple[OwnerId, ...], BeforeValidator(_listed)] = ()
    users: Annotated[tuple[Id, ...], BeforeValidator(_listed)] = ()
    pairing: bool = True
    groups: Annotated[tuple[Id, ...], BeforeValidator(_listed)] = ()
    trigger: Literal["mention", "always", "never"] = "mention"
    bots: bool = False


class NumericAccess(Access):
    """For platforms whose ids are numbers (Telegram, Discord): a name that slipped in is refused."""

    owners: Annotated[tuple[Annotated[OwnerId, AfterValidator(_numeric)], ...], BeforeValidator(_listed)] = ()
    users: Annotated[tuple[Annotated[Id, AfterValidator(_numeric)], ...], BeforeValidator(_listed)] = ()
    groups: Annotated[tuple[Annotated[Id, AfterValidator(_numeric)], ...], BeforeValidator(_listed)] = ()
