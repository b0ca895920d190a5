"""What the suite asks of a chat platform: what the person does there and sees, and what the bot was seen doing."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self


@dataclass(frozen=True, slots=True)
class Seen:
    """One message of the bot as it stands. ``buttons`` are label and payload; ``bold`` what stands out in it."""

    id: str
    text: str
    buttons: dict[str, str]
    bold: tuple[str, ...] = ()

    def label(self, verb: str) -> str:
        """The label of its button with this verb, "" when it has none."""
        return next((label for label, payload in self.buttons.items() if payload.endswith(f":{verb}")), "")


@dataclass(frozen=True, slots=True)
class Look:
    """What the bot once made of a message; ``message`` is "" where it was sent, and has no id yet."""

    message: str
    text: str
    buttons: bool


class Platform(Protocol):
    """One chat of one person, Ann, with the bot; it outlives every life of the daemon."""

    @property
    def name(self) -> str:
        """The key under ``channels:``."""
        ...

    @property
    def section(self) -> str:
        """What stands under that key, as YAML on one line."""
        ...

    @property
    def idempotent(self) -> bool:
        """Whether a message that is sent again within minutes is the one that stands there: the platform recognises it, or
        the bot can."""
        ...

    @property
    def says(self) -> str:
        """The platform's own id of the last message that Ann wrote."""
        ...

    @property
    def standing(self) -> Sequence[Seen]:
        """The bot's messages as Ann sees them, oldest first."""
        ...

    @property
    def looks(self) -> Sequence[Look]:
        """All that the bot ever sent and edited, in order."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """What Ann was told about her presses."""
        ...

    @property
    def violations(self) -> Sequence[str]: ...

    @property
    def heard(self) -> Set[tuple[str, str]]:
        """What the bot has confirmed and, but for ``again``, will never be told any more: kind and id as its inbox names
        them."""
        ...

    @property
    def unheard(self) -> int:
        """How much the bot has not confirmed yet."""
        ...

    def rendered(self, markdown: str) -> str:
        """The text of a message that shows ``markdown`` whole."""
        ...

    def under_way(self, deed: str) -> bool:
        """Whether a call of this name has arrived whose effect is still to come."""
        ...

    async def say(self, text: str) -> None: ...

    async def press(self, verb: str) -> bool:
        """Press the newest button of this verb, by its label. IndexError when there is none. False where the press was in
        vain: the platform keeps none for a bot that is not there, and tells the person."""
        ...

    async def again(self) -> None:
        """Deliver once more all that the bot had confirmed, as a platform does that is not sure it was heard; where the bot
        itself asks for that at its start, only begin to count anew what it has heard of."""
        ...

    async def until(self, holds: Callable[[], Any], timeout: float = 15.0) -> None:
        """Return once ``holds()`` is true, looked at whenever something changes; TimeoutError otherwise."""
        ...


class Trouble(Protocol):
    """A fault that was asked for; ``hits`` counts the calls that it met."""

    hits: int


class Simulated(Platform, Protocol):
    """A platform in this process, with more people on it and a line that can be troubled. Calls are named as ``deed`` does
    it, without what they show; "*" is any call."""

    @property
    def ann_id(self) -> str:
        """The platform's own id of the person."""
        ...

    async def befriend(self, data: Path) -> None:
        """Leave in a data folder what an earlier conversation in this chat would have left there."""
        ...

    def beside(self, id: int, name: str) -> Self:
        """The same platform for another person of this number, in a direct chat."""
        ...

    def delay(self, deed: str, seconds: float) -> None:
        """From now on such calls take so long, and happen at the end of that time."""
        ...

    def fail(self, deed: str, **fault: Any) -> Trouble:
        """Script one fault, as the simulators' ``fail`` does it."""
        ...

    def deafen(self) -> None:
        """The line on which the bot hears stays open, and after the next press nothing comes over it any more."""
        ...

    async def cut(self) -> None:
        """Every call and every connection breaks."""
        ...

    def heal(self) -> None:
        """No more trouble."""
        ...
