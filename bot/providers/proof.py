"""Proving a key: one cheap question that only its owner gets answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from bot.core.errors import KeyRefused, ModelMissing, ProviderBusy, StreamGarbled
from bot.core.http import Http, Timeouts
from bot.net.http import Transport

TIMEOUTS: Final = Timeouts(connect=5.0, silence=5.0, total=10.0)


async def proven(url: str, headers: Mapping[str, str]) -> str:
    """What was learnt from asking ``url`` (a list of models) with the key in ``headers``. Raises as ``listed`` does."""
    transport = Transport()
    try:
        await listed(transport, url, headers)
    finally:
        await transport.aclose()
    return "the key is accepted"


async def listed(
    http: Http,
    url: str,
    headers: Mapping[str, str],
    timeouts: Timeouts = TIMEOUTS,
    question: Mapping[str, Any] | None = None,
) -> Mapping[str, Any]:
    """The JSON object at ``url``, a list of models or what there is to know of one; some want a ``question`` posted.

    Raises ``ProviderError`` with what to do, ``TransportError`` where nothing answers.
    """
    if question is None:
        answer = await http.fetch("GET", url, headers=headers, timeouts=timeouts)
    else:
        sent = {"Content-Type": "application/json", **headers}
        answer = await http.fetch("POST", url, headers=sent, body=json.dumps(question).encode(), timeouts=timeouts)
    match answer.status:
        case 200:
            return _object(answer.body)
        case 401 | 403:
            raise KeyRefused("The key is not accepted. Check it where you got it, and in .env or config.yaml.")
        case 404:
            raise ModelMissing("The address answers, but knows no list of models. Check base_url.")
        case 301 | 302 | 303 | 307 | 308:
            raise StreamGarbled("The address only points to another one, as web pages do. Check base_url.")
    raise ProviderBusy(f"The service answers with status {answer.status}. Try again later.")


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        told = json.loads(body)
    except ValueError:
        told = None
    if isinstance(told, dict):
        return told
    what = (
        "is a web page, not a model service" if body.lstrip()[:1] == b"<" else "does not answer as a model service does"
    )
    raise StreamGarbled(f"What stands at this address {what}. Check base_url.")
