"""B262: with everything logged, no key and no token is in any log line, error text, file of the data folder or event."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Final

import aiohttp

from tests.crash.program import a_free_port, running
from tests.sim.llm import LlmSim, When, answer, call, status, text

SECRETS: Final = {
    "VENDOR_API_KEY": "sk-proj-Vq7crash0123456789abcdefVENDOR",
    "ANTHROPIC_API_KEY": "sk-ant-api03-crash0123456789abcdefANT",
    "BOWERBIRD_WEB_TOKEN": "web-crash-token-0123456789abcdef",
    "WEATHER_KEY": "weather-crash-key-0123456789",
}
CONFIG: Final = """\
data_dir: data
channels: {{web: {{port: {port}, token: "${{BOWERBIRD_WEB_TOKEN}}", loopback: token}}}}
providers:
  vendor: {{kind: openai, base_url: "{vendor}/v1", api_key: "${{VENDOR_API_KEY}}"}}
  anthropic: {{base_url: "{vendor}", api_key: "${{ANTHROPIC_API_KEY}}"}}
  ollama: off
  local: off
brain:
  llm:
    default: {{provider: vendor, model: gpt-4.1-mini}}
    fallback: [{{provider: anthropic, model: claude-haiku-5-5}}]
memory: {{embedder: none, reranker: none, distill: off}}
tools: {{secrets: {{weather: "${{WEATHER_KEY}}"}}}}
"""
QUOTED = "The key {key} is not valid, {masked}."
SCRIPT = (
    answer(status(401, message=QUOTED), when=When(user="refuse", vendor="openai"), repeat=True),
    answer(status(401, message=QUOTED), when=When(user="refuse", vendor="anthropic"), repeat=True),
    answer(status(500, message=QUOTED), when=When(user="break", vendor="openai"), repeat=True),
    answer(text("From the other vendor."), when=When(user="break", vendor="anthropic")),
    answer(call("c1", "calculate", ['{"expression": "1+1"}']), when=When(user="sum", step=1)),
    answer(text("Two."), when=When(user="sum", step=2)),
)


async def visit(url: str) -> str:
    """What a visitor does and everything that is answered: in with the token, out with a wrong one, three turns."""
    token = {"Authorization": f"Bearer {SECRETS['BOWERBIRD_WEB_TOKEN']}"}
    heard: list[str] = []
    async with aiohttp.ClientSession() as session:

        async def ask(method: str, path: str, headers: dict[str, str], **body: str) -> str:
            async with session.request(method, f"{url}/{path}", headers=headers, json=body or None) as answered:
                heard.append(f"{answered.status} {dict(answered.headers)} {await answered.text()}")
                return heard[-1]

        assert (await ask("GET", "v1/about", {})).startswith("401")
        assert (await ask("GET", "v1/about", {"Authorization": "Bearer wrong"})).startswith("401")
        assert (await ask("POST", "v1/session", {}, token=SECRETS["BOWERBIRD_WEB_TOKEN"])).startswith("204")
        for turn in ("sum", "break", "refuse"):
            assert (await ask("POST", "v1/messages", token, chat=turn, text=turn, id=turn)).startswith("202")
            while '"type":"done"' not in await ask("GET", f"v1/history?chat={turn}", token):
                pass
        for path in ("readyz", "metrics", "v1/about", "v1/chats", "v1/models"):
            assert (await ask("GET", path, token)).startswith("200")
    return "\n".join(heard)


def holding(secret: str, folder: Path, config: Path) -> list[Path]:
    """The files that hold the secret; the configuration may name it."""
    return [
        path for path in folder.rglob("*") if path.is_file() and path != config and secret.encode() in path.read_bytes()
    ]


async def test_b262_no_secret_leaves_the_configuration(tmp_path: Path) -> None:
    port = a_free_port()
    config = tmp_path / "config.yaml"
    async with LlmSim() as sim:
        sim.script(*SCRIPT)
        config.write_text(CONFIG.format(port=port, vendor=sim.url))
        async with running(config, port, BOWERBIRD_LOG="debug", **SECRETS) as program:
            await program.ready()
            heard = await visit(program.url)
            assert await program.stops() == 0
        assert [seen.vendor for seen in sim.chats] == [*["openai"] * 5, "anthropic", "anthropic", "openai"]
        assert " DEBUG " in program.said
        assert program.said.count("The key *** is not valid") == 3, "what the vendors said was not logged at all"
    with socket.create_server(("127.0.0.1", port)):
        async with running(config, port, BOWERBIRD_LOG="debug", **SECRETS) as refused:
            assert await refused.ends() == 78
    config.write_text(config.read_text().replace("api_key:", "api-key:"))
    async with running(config, port, BOWERBIRD_LOG="debug", **SECRETS) as wrong:
        assert await wrong.ends() == 78
    for name, secret in SECRETS.items():
        assert holding(secret, tmp_path, config) == [], name
        assert secret not in heard, name
        assert all(secret not in str(seen.body) for seen in sim.chats), name
