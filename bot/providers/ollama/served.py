"""What an Ollama server says that it has, and whether it is one at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import SecretStr

from bot.core.errors import StreamGarbled
from bot.core.http import Http, Timeouts
from bot.providers.proof import TIMEOUTS, listed
from bot.providers.windows import count_in

_NUM_CTX: Final = re.compile(r"^\s*num_ctx\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Shown:
    """What ``/api/show`` tells of a model. ``context_tokens`` is what it was made for, ``num_ctx`` what whoever set it up
    here gives it; ``remote``: it runs elsewhere, and takes no memory here."""

    context_tokens: int | None
    num_ctx: int | None
    remote: bool

    def window(self, usual: int) -> int:
        """What a question may ask for: no more than the model was made for, and where nobody set it up otherwise, of memory
        here, the ``usual``. A server that is asked for more than the model has cuts the prompt silently."""
        if self.remote and self.context_tokens:
            return self.context_tokens
        return min(self.num_ctx or usual, self.context_tokens or self.num_ctx or usual)


async def shown(http: Http, base_url: str, key: SecretStr | None, model: str) -> Shown:
    """Raises ``ProviderError``, ``TransportError``."""
    told = await listed(http, f"{base_url.rstrip('/')}/api/show", _headers(key), question={"model": model})
    info, parameters = told.get("model_info"), _NUM_CTX.search(str(told.get("parameters") or ""))
    facts: Mapping[str, Any] = info if isinstance(info, dict) else {}
    own = count_in(facts.get(f"{facts.get('general.architecture')}.context_length"))
    return Shown(own, int(parameters[1]) or None if parameters else None, bool(told.get("remote_host")))


async def served(
    http: Http, base_url: str, key: SecretStr | None = None, timeouts: Timeouts = TIMEOUTS
) -> tuple[str, ...]:
    """The names of its models. Raises ``ProviderError`` where something else answers or the key is not accepted,
    ``TransportError`` where nothing does."""
    told = await listed(http, f"{base_url.rstrip('/')}/api/tags", _headers(key), timeouts)
    models = told.get("models", ...)
    if models is None:  # how older servers tell of none
        return ()
    names = (
        [one.get("name") if isinstance(one, dict) else None for one in models] if isinstance(models, list) else [None]
    )
    if not all(isinstance(name, str) for name in names):
        raise StreamGarbled("The address answers, but not as Ollama does. Check base_url.")
    return tuple(map(str, names))


def _headers(key: SecretStr | None) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key.get_secret_value()}"} if key and key.get_secret_value() else {}
