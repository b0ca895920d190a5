"""What an Ollama server says that it has, and whether it is one at all."""

from __future__ import annotations

from pydantic import SecretStr

from bot.core.errors import StreamGarbled
from bot.core.http import Http, Timeouts
from bot.providers.proof import TIMEOUTS, listed


async def served(
    http: Http, base_url: str, key: SecretStr | None = None, timeouts: Timeouts = TIMEOUTS
) -> tuple[str, ...]:
    """The names of its models. Raises ``ProviderError`` where something else answers or the key is not accepted,
    ``TransportError`` where nothing does."""
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key and key.get_secret_value() else {}
    told = await listed(http, f"{base_url.rstrip('/')}/api/tags", headers, timeouts)
    models = told.get("models", ...)
    if models is None:  # how older servers tell of none
        return ()
    names = (
        [one.get("name") if isinstance(one, dict) else None for one in models] if isinstance(models, list) else [None]
    )
    if not all(isinstance(name, str) for name in names):
        raise StreamGarbled("The address answers, but not as Ollama does. Check base_url.")
    return tuple(map(str, names))
