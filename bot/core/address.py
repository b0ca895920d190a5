"""Addresses: where a conversation happens and where its answers go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


def _escaped(part: str) -> str:
    return part.replace("%", "%25").replace(":", "%3A")


def _plain(part: str) -> str:
    return part.replace("%3A", ":").replace("%25", "%")


@dataclass(frozen=True, slots=True)
class Address:
    """Channel, account (which bot), chat and thread. Equal addresses share one transcript.

    Written ``channel:account:chat:thread``; empty parts stay (``telegram:main:123:``). A colon or a percent sign
    inside a part is percent-encoded, so that every address survives the round trip.
    """

    channel: str
    account: str
    chat: str
    thread: str = ""

    def __str__(self) -> str:
        return ":".join(_escaped(part) for part in (self.channel, self.account, self.chat, self.thread))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raise ``ValueError`` unless ``text`` has exactly four parts and names a channel and a chat."""
        parts = [_plain(part) for part in text.split(":")]
        if len(parts) != 4 or not parts[0] or not parts[2]:
            raise ValueError(
                f"{text!r} is not an address: write channel:account:chat:thread, such as telegram:main:123:"
            )
        return cls(*parts)


@dataclass(frozen=True, slots=True)
class Sender:
    """Who wrote, as the platform names them. ``id`` is the platform's own, always as text."""

    channel: str
    id: str
    name: str = ""
    is_bot: bool = False
    language: str = ""

    @property
    def identity(self) -> str:
        """``channel:id``, the key under which a person's platform identity is known."""
        return f"{self.channel}:{self.id}"
