"""A hostile environment changes nothing: no keys, addresses, headers, proxies, profiles or logs from outside."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.providers.bench import KEY, VENDORS, Bench
from tests.sim.llm import LlmSim, answer, text

NOWHERE = "http://127.0.0.1:9"
EVIL = {
    **{f"{vendor}_{name}": NOWHERE for vendor in ("ANTHROPIC", "OPENAI") for name in ("BASE_URL", "API_BASE")},
    **{f"{vendor}_API_KEY": "sk-evil-key" for vendor in ("ANTHROPIC", "OPENAI", "OLLAMA")},
    **{f"{vendor}_CUSTOM_HEADERS": "X-Evil: yes\nAuthorization: Bearer evil" for vendor in ("ANTHROPIC", "OPENAI")},
    **{f"{vendor}_LOG": "debug" for vendor in ("ANTHROPIC", "OPENAI")},
    "ANTHROPIC_AUTH_TOKEN": "evil-token",
    "ANTHROPIC_PROFILE": "evil",
    "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content",
    "OPENAI_ORG_ID": "org-evil",
    "OPENAI_PROJECT_ID": "proj-evil",
    "OPENAI_ADMIN_KEY": "sk-evil-admin",
    "OPENAI_API_TYPE": "azure",
    "OLLAMA_HOST": NOWHERE,
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NOWHERE),
    **dict.fromkeys(("ALL_PROXY", "all_proxy"), "socks5://127.0.0.1:9"),
    "SSL_CERT_FILE": "/nonexistent.pem",
}
CHILD = """
import asyncio, json, os, sys
from pathlib import Path
from random import Random
from bot.core.model import Message, ModelRef, ModelRequest, ModelText, TextBlock
from bot.net.http import Transport
from bot.providers.discovery import entry
from bot.providers.models import Models
from bot.time.clock import SystemClock

async def main(kind, model, section):
    before = dict(os.environ)
    http = Transport()
    models = Models([entry(kind, section)], SystemClock(), Random(1), Path("."), http)
    request = ModelRequest(ModelRef(kind, model), "private prompt", (Message("user", (TextBlock("hi"),)),))
    async with models.stream(request) as events:
        print("".join([event.text async for event in events if isinstance(event, ModelText)]))
    await models.aclose()
    await http.aclose()
    assert dict(os.environ) == before

asyncio.run(main(*json.loads(sys.argv[1])))
"""

WARMING = """
import json, logging, os, sys
from pathlib import Path
from random import Random
from bot.core.model import ModelRef
from bot.net.http import Transport
from bot.providers.discovery import entry
from bot.providers.models import Models
from bot.time.clock import SystemClock

before = dict(os.environ)
for kind in json.loads(sys.argv[1]):
    models = Models([entry(kind, {"api_key": "k"})], SystemClock(), Random(1), Path("."), Transport())
    models.warm(ModelRef(kind, "any"))
    assert kind in sys.modules
assert dict(os.environ) == before
print(logging.getLogger().handlers)
"""


@pytest.mark.parametrize("keyed", [True, False], ids=["with a key", "without a key"])
async def test_nothing_comes_from_the_environment(bench: Bench, sim: LlmSim, tmp_path: Path, keyed: bool) -> None:
    if bench.kind == "anthropic" and not keyed:
        pytest.skip("Anthropic is never asked without a key")
    profile = {"api_key": "sk-evil-profile", "base_url": NOWHERE}
    _write_profile(tmp_path, profile)
    sim.api_key = KEY if keyed else None
    sim.script(answer(text("Hi")))
    section = {"base_url": bench.base_url, "api_key": KEY if keyed else ""}
    said, noise = await _child(CHILD, [bench.kind, bench.model, section], tmp_path)
    assert said == "Hi\n", noise
    assert noise == ""
    (seen,) = sim.requests
    sent = json.dumps([seen.headers, seen.body]).lower()
    assert "evil" not in sent
    if keyed:
        assert seen.key_matches is True
    elif bench.kind == "ollama":
        assert seen.key_header is None


async def test_a_library_imported_ahead_of_time_does_not_look_at_the_environment(tmp_path: Path) -> None:
    """It would fail at a proxy it cannot use, and start logging."""
    assert await _child(WARMING, sorted(VENDORS), tmp_path) == ("[]\n", "")


def _write_profile(home: Path, profile: dict[str, Any]) -> None:
    """Where the anthropic library looks for credentials on disk."""
    configs = home / ".config" / "anthropic" / "configs"
    configs.mkdir(parents=True)
    for name in ("default", "evil"):
        (configs / f"{name}.json").write_text(json.dumps(profile))
    (configs.parent / "active_config").write_text("default")


async def _child(program: str, arguments: list[Any], home: Path) -> tuple[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-W", "error", "-c", program, json.dumps(arguments)),
        env={**kept, **EVIL, "HOME": str(home)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(25):
        out, err = await child.communicate()
    return out.decode(), err.decode()
