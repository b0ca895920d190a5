"""The configured providers by name."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from bot.core.errors import KeyRefused, ModelMissing
from bot.core.http import Http
from bot.core.model import ModelRef
from bot.net.http import Transport
from bot.providers.discovery import entry, kinds
from bot.providers.models import Models
from tests.fakes.clock import FakeClock
from tests.providers.bench import KEY, VENDORS, Bench, ask
from tests.sim.llm import LlmSim, answer, text


def models(http: Http | None = None, **sections: dict[str, Any]) -> Models:
    """Without ``http``: models that are asked nothing."""
    entries = [entry(name, section) for name, section in sections.items()]
    return Models(entries, FakeClock(), Random(7), Path("unused"), http or Transport())


@pytest.fixture
async def http() -> AsyncIterator[Transport]:
    transport = Transport()
    yield transport
    await transport.aclose()


async def test_the_request_says_which_provider_is_meant(sim: LlmSim, http: Transport) -> None:
    sim.script(answer(text("Hi"), repeat=True))
    named = models(
        http,
        mylab={"kind": "openai", "base_url": sim.openai_url, "api_key": KEY},
        anthropic={"base_url": sim.url, "api_key": KEY},
        ollama={"base_url": sim.url},
    )
    bench = Bench(VENDORS["openai"], sim)
    for name in ("mylab", "anthropic", "ollama", "mylab"):
        request = bench.request()
        ref = ModelRef(name, bench.model)
        heard = await ask(named, type(request)(model=ref, system="", messages=request.messages))
        assert heard.text == "Hi"
    assert [seen.vendor for seen in sim.chats] == ["openai", "anthropic", "ollama", "openai"]
    assert named.provider("mylab") is named.provider("mylab")
    await named.aclose()


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_what_cannot_be_used_says_why(name: str) -> None:
    named = models(anthropic={}, openai={}, mylab={"kind": "openai", "base_url": "http://lab/v1"}, ollama={})
    assert not named.usable(ModelRef(name, "m"))
    with pytest.raises(KeyRefused, match=f"The provider {name} cannot be used. It has no api_key."):
        named.provider(name)
    assert named.usable(ModelRef("mylab", "m")) and named.usable(ModelRef("ollama", "m"))


def test_an_endpoint_of_its_own_makes_a_model_usable() -> None:
    named = models(openai={})
    assert not named.usable(ModelRef("openai", "gpt-5.4-mini"))
    assert named.usable(ModelRef("openai", "qwen3", endpoint="http://lab:8000/v1"))
    assert not named.usable(ModelRef("nobody", "m"))


async def test_asking_what_cannot_be_used_is_an_error_of_the_chain(sim: LlmSim) -> None:
    named, bench = models(anthropic={}), Bench(VENDORS["anthropic"], sim)
    heard = await ask(named, bench.request())
    assert isinstance(heard.error, KeyRefused)
    assert str(heard.error) == "The provider anthropic cannot be used. It has no api_key."
    with pytest.raises(ModelMissing, match="No provider called elsewhere"):
        named.provider("elsewhere")


async def test_the_bare_provider_is_the_one_behind_the_wrappers(sim: LlmSim, http: Transport) -> None:
    named = models(http, ollama={"base_url": sim.url})
    assert named.bare("ollama") is named.bare("ollama")
    sim.script(answer(text("Hi"), repeat=True))
    bench = Bench(VENDORS["ollama"], sim)
    assert (await ask(named.bare("ollama"), bench.request())).text == "Hi"
    assert (await ask(named, bench.request())).text == "Hi"
    await named.aclose()


def test_sections_are_checked() -> None:
    with pytest.raises(LookupError):
        entry("mylab", {})
    for kind in ("sse", "models", "wire", "../openai", "local.serve", ""):
        with pytest.raises(LookupError):
            entry("x", {"kind": kind})
    for wrong in ({"api_kye": "x"}, {"base_url": "lab:8000"}, {"api_key": "sk with space"}, {"api_key": "sk-ключ"}):
        with pytest.raises(ValidationError):
            entry("openai", wrong)
    assert {"anthropic", "ollama", "openai"} <= set(kinds())


def test_keys_are_never_printed() -> None:
    checked = entry("anthropic", {"api_key": KEY})
    assert KEY not in repr(checked)
    assert KEY not in str(checked.config)
    with pytest.raises(ValidationError) as caught:
        entry("openai", {"api_key": KEY, "unknown": 1})
    assert KEY not in str(caught.value)


LAZY = """
import json, sys
from pathlib import Path
from random import Random
from bot.providers.discovery import entry, kinds
from bot.net.http import Transport
from bot.core.model import ModelRef
from bot.providers.models import Models
from tests.fakes.clock import FakeClock
found = kinds()
entries = [entry(name, {"api_key": "k"}) for name in ("anthropic", "openai", "ollama")]
named = Models(entries, FakeClock(), Random(1), Path("."), Transport())
usable = [named.usable(ModelRef(name, "m")) for name in ("anthropic", "openai", "ollama")]
for name in ("anthropic", "openai", "ollama"):
    named.provider(name)
heavy = [name for name in ("anthropic", "openai", "ollama", "httpx", "httpx2", "xllamacpp") if name in sys.modules]
print(json.dumps([usable, heavy]))
"""


def test_no_vendor_library_is_imported_before_a_model_is_asked() -> None:
    done = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, check=True, timeout=25)
    assert json.loads(done.stdout) == [[True, True, True], []]


IMPORTING = """
import asyncio, sys
from pathlib import Path
from random import Random
from bot.core.errors import ProviderUnreachable
from bot.core.model import Message, ModelRef, ModelRequest, TextBlock
from bot.net.http import Transport
from bot.providers.discovery import entry
from bot.providers.models import Models
from tests.fakes.clock import FakeClock

async def ask(models):
    request = ModelRequest(ModelRef("openai", "m"), "", (Message("user", (TextBlock("hi"),)),))
    try:
        async with models.stream(request):
            pass
    except ProviderUnreachable:
        pass

async def main():
    http = Transport()
    section = {"api_key": "k", "base_url": "http://127.0.0.1:1/v1"}
    models = Models([entry("openai", section)], FakeClock(), Random(1), Path("."), http)
    looks = 0
    asking = asyncio.ensure_future(ask(models))
    while "openai" not in sys.modules or not hasattr(sys.modules["openai"], "AsyncOpenAI"):
        await asyncio.sleep(0.01)
        looks += 1
    asking.cancel()
    await asyncio.wait([asking])
    await http.aclose()
    print(looks)

asyncio.run(main())
"""


def test_a_first_request_that_has_to_wait_for_its_library_holds_up_nothing_else() -> None:
    told = subprocess.run([sys.executable, "-c", IMPORTING], capture_output=True, text=True, timeout=25)
    assert int(told.stdout) >= 5, told.stderr
