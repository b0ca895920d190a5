"""An answer as one object of a given shape, for the house's own questions: never for what a person reads."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from bot.brain.spent import Spent
from bot.core.errors import ContentRefused, ProviderError, StructuredFailed
from bot.core.model import Message, ModelEvent, ModelRequest, ModelStop, ModelStopReason, ModelText, TextBlock, Usage
from bot.core.ports import Provider

log = logging.getLogger(__name__)

T = TypeVar("T")
Bill = Callable[[Usage], Awaitable[None]]

MOST_TOKENS: Final = 4096
"""What such an answer may cost at most; a caller that needs less says so in ``request.model.max_tokens``."""
BILL_SECONDS: Final = 5.0
_ATTEMPTS: Final = 2
_WRONG_CHARS: Final = 600
_MEND: Final = "That cannot be used: {wrong}\nAnswer once more, with the corrected JSON object and nothing else."
_STARTS: Final = re.compile(r"^\{", re.MULTILINE)
_DECODER: Final = json.JSONDecoder(strict=False)


async def structured(
    provider: Provider, request: ModelRequest, parse: Callable[[Mapping[str, Any]], T], *, bill: Bill | None = None
) -> T:
    """What ``parse`` makes of the object that the model answers with.

    ``request.schema`` is its shape; a vendor that can is held to it. ``parse`` raises ``ValueError`` (pydantic's own is
    one) with words that the model can learn from: it is shown its answer and those words, once. ``bill`` hears what each
    call used, also where it came to nothing. Raises ``StructuredFailed``, for whatever the model could not be had for.
    """
    if request.schema is None:
        raise ValueError("a structured answer needs a schema")
    most = min(request.model.max_tokens, MOST_TOKENS)
    asked = replace(
        request, model=replace(request.model, max_tokens=most), tools=(), tool_choice="auto", gather=0.0, prefill="{"
    )
    for _ in range(_ATTEMPTS):
        said, stop = await _said(provider, asked, bill)
        if stop is ModelStopReason.REFUSED:
            raise StructuredFailed(f"{request.model} declined to answer.")
        try:
            return parse(object_in(said))
        except ValueError as error:
            cut = stop is ModelStopReason.MAX_TOKENS
            wrong = f"it was cut off after {most} tokens; make it shorter." if cut else str(error)[:_WRONG_CHARS]
            log.info("%s gave no usable object (%s)", request.model, "cut off" if cut else type(error).__name__)
        shown = (Message("assistant", (TextBlock(said),)), Message("user", (TextBlock(_MEND.format(wrong=wrong)),)))
        asked = replace(asked, messages=(*asked.messages, *shown))
    raise StructuredFailed(f"{request.model} gave no usable object, not even when it was shown its mistake.")


def object_in(text: str) -> Mapping[str, Any]:
    """The JSON object in ``text``, which may stand in a fence or between words. Raises ``ValueError`` in words for the
    model. Behind a broken object only one that begins a line is looked for: others may be parts of the broken one."""
    first = text.find("{")
    failure = "there is no JSON object in it."
    for at in dict.fromkeys((first, *(match.start() for match in _STARTS.finditer(text)))):
        if at < 0:
            break
        try:
            value, _ = _DECODER.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            failure = f"the JSON is not valid: {error}"
        else:
            return dict(value)
    raise ValueError(failure)


async def _said(provider: Provider, request: ModelRequest, bill: Bill | None) -> tuple[str, ModelStopReason]:
    spent = Spent(request)
    parts: list[str] = []
    stop = ModelStopReason.END
    try:
        async with provider.stream(replace(request, wasted=spent.wasted)) as events:
            spent.begins()
            async for event in events:
                spent.note(event)
                stop = _taken(event, parts, stop)
    except ContentRefused:
        stop = ModelStopReason.REFUSED
    except ProviderError as error:
        raise StructuredFailed(f"{request.model} could not be asked: {error}", error) from error
    finally:
        if bill is not None:
            async with asyncio.timeout(BILL_SECONDS):
                for usage in spent.bills:
                    await bill(usage)
    return "".join(parts), stop


def _taken(event: ModelEvent, parts: list[str], stop: ModelStopReason) -> ModelStopReason:
    if isinstance(event, ModelText):
        parts.append(event.text)
    return event.reason if isinstance(event, ModelStop) else stop
