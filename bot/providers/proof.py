"""Proving a key: one cheap question that only its owner gets answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from bot.core.errors import KeyRefused, ModelMissing, ProviderBusy, StreamGarbled
from bot.core.http import Timeouts
from bot.net.http import Transport

_TIMEOUTS: Final = Timeouts(connect=5.0, silence=5.0, total=10.0)


async def proven(url: str, headers: Mapping[str, str]) -> str:
    """What was learnt from asking ``url`` (a list of models) with the key in ``headers``.

    Raises ``ProviderError`` with what to do, ``TransportError`` where nothing answers.
    """
    transport = Transport()
    try:
        answer = await transport.fetch("GET", url, headers=headers, timeouts=_TIMEOUTS)
    finally:
        await transport.aclose()
    match answer.status:
        case 200:
            if not _is_object(answer.body):
                raise StreamGarbled("The address answers, but not as a model service does. Check base_url.")
            return "the key is accepted"
        case 401 | 403:
            raise KeyRefused("The key is not accepted. Check it where you got it, and in .env or config.yaml.")
        case 404:
            raise ModelMissing("The address answers, but knows no list of models. Check base_url.")
    raise ProviderBusy(f"The service answers with status {answer.status}. Try again later.")


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body), dict)
    except ValueError:
        return False
