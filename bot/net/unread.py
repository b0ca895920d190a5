"""Why a page was not read: every way in which a guarded fetch can end without one."""

from __future__ import annotations

from typing import Literal

from bot.core.errors import TransportError

Why = Literal[
    "address",  # it is no web address
    "scheme",  # neither http nor https
    "userinfo",  # it names somebody, as in name:password@host
    "numeric",  # an IP address in a form that hides which
    "local",  # a name or an address that is not the public internet's
    "port",  # not one that the web uses
    "unknown",  # no such name
    "redirects",  # led on too often
    "kind",  # not of the kinds that are asked for
    "size",  # longer than is read
    "packing",  # packed in a way that cannot be undone
    "time",  # not whole in time
    "certificate",  # not the server it says
    "connection",  # none, or it broke off
]


class Unread(TransportError):
    """``str()`` is a sentence for whoever asked for the page, a model or a person; it names the host and nothing of an
    address that could hold a key, nor any IP address that a name led to."""

    def __init__(self, why: Why, message: str, *, sent: bool = True) -> None:
        super().__init__(message, sent=sent)
        self.why: Why = why
