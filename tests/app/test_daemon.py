"""The whole house in one process: from a config file to answers over HTTP, with a vendor on the wire."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import openai
import pytest

from bot.app.control_client import ControlClient
from bot.cli.doctor import _daemon
from bot.core.address import Address, Sender
from bot.core.errors import AlreadyRunning
from bot.core.inbound import UserMessage
from bot.store.store import Store
from tests.app.conftest import CONFIG, StartDaemon
from tests.sim.llm import LlmSim, When, answer, call, gate, sleep, status, stop, text, usage


async def test_a_message_on_the_page_is_answered_by_the_configured_model(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(answer(text("Hello "), text("there."), usage(input=20, output=3)))
    async with daemon(sim.url) as live:
        turn = await live.say("hi")
        shown, done = await live.until_done(turn=turn)
        assert (shown, done["stop"]) == ("Hello there.", "answered")
        asked = sim.chats[0].body
        assert asked["messages"][-1]["content"].startswith("hi") or "hi" in str(asked["messages"][-1]["content"])
        names = [tool["function"]["name"] for tool in asked["tools"]]
        assert names == ["calculate", "now", "read_more", "note_write", "web_fetch", "web_search"]


async def test_the_same_id_twice_is_one_message(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(answer(text("Once.")))
    async with daemon(sim.url) as live:
        first = await live.say("hi", message_id="same")
        assert await live.say("hi", message_id="same") == first
        await live.until_done(turn=first)
        assert len(sim.chats) == 1


async def test_a_tool_that_asks_is_approved_on_the_page_and_runs_once(
    sim: LlmSim, daemon: StartDaemon, tmp_path: Path
) -> None:
    sim.script(
        answer(call("c1", "note_write", ['{"text":', '"buy milk"}'])),
        answer(text("Noted."), when=When(tool_result=True)),
    )
    async with daemon(sim.url) as live:
        turn = await live.say("note: buy milk")
        async with asyncio.timeout(10):
            card = await anext(data async for _, event, data in live.events(last="0") if event == "approval")
        assert '"buy milk"' in card["arguments"]
        code, body = await live.post(f"/v1/approvals/{card['id']}", {"decision": "once"})
        assert (code, body["notice"]) == (200, "Approved once.")
        shown, done = await live.until_done(turn=turn)
        assert (shown, done["stop"]) == ("Noted.", "answered")
        assert (tmp_path / "workspace" / "notes.md").read_text().count("buy milk") == 1


async def test_the_openai_client_talks_to_us(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(answer(text("Paris"), text(" it is.")), answer(text("Streamed "), text("words.")))
    async with daemon(sim.url) as live:
        client = openai.AsyncOpenAI(base_url=f"{live.url}/v1", api_key="none")
        try:
            whole = await client.chat.completions.create(
                model="bowerbird", messages=[{"role": "user", "content": "Capital of France?"}]
            )
            assert whole.choices[0].message.content == "Paris it is."
            assert whole.choices[0].finish_reason == "stop"
            pieces = []
            stream = await client.chat.completions.create(
                model="bowerbird",
                messages=[
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": "one"},
                    {"role": "assistant", "content": "first"},
                    {"role": "user", "content": "two"},
                ],
                stream=True,
            )
            async for chunk in stream:
                if chunk.choices and chunk.choices[0].delta.content:
                    pieces.append(chunk.choices[0].delta.content)
            assert "".join(pieces) == "Streamed words."
            sent = sim.chats[1].body["messages"]
            assert [m["role"] for m in sent] == ["system", "user", "assistant", "user"]
            assert "Be brief." in sent[0]["content"]
        finally:
            await client.close()


async def test_a_model_that_an_openai_client_names_is_used_or_refused_never_replaced(
    sim: LlmSim, daemon: StartDaemon
) -> None:
    sim.script(answer(text("ok")))
    async with daemon(sim.url) as live:
        client = openai.AsyncOpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0)
        hello: list = [{"role": "user", "content": "hi"}]
        try:
            named = await client.chat.completions.create(model="openai/gpt-test", messages=hello)
            assert named.choices[0].message.content == "ok" and sim.chats[0].body["model"] == "gpt-test"
            with pytest.raises(openai.NotFoundError, match="openai/gpt-test"):
                await client.chat.completions.create(model="gpt-4o", messages=hello)
            assert len(sim.chats) == 1
        finally:
            await client.close()


async def test_an_openai_client_is_offered_no_tool_that_would_need_a_press(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(answer(text("ok")))
    async with daemon(sim.url) as live:
        status_code, _ = await live.post(
            "/v1/chat/completions", {"model": "bowerbird", "messages": [{"role": "user", "content": "hi"}]}
        )
        assert status_code == 200
        names = [tool["function"]["name"] for tool in sim.chats[0].body["tools"]]
        assert names == ["calculate", "now", "read_more", "web_fetch", "web_search"]


async def test_the_tools_of_an_openai_client_are_handed_back_and_their_results_go_on(
    sim: LlmSim, daemon: StartDaemon
) -> None:
    sim.script(
        answer(call("w1", "weather", ['{"city":"Oslo"}'])),
        answer(text("It rains in Oslo."), when=When(tool_result=True)),
    )
    weather = {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "Weather of a city",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
    async with daemon(sim.url) as live:
        client = openai.AsyncOpenAI(base_url=f"{live.url}/v1", api_key="none")
        try:
            messages: list = [{"role": "user", "content": "Weather in Oslo?"}]
            first = await client.chat.completions.create(model="bowerbird", messages=messages, tools=[weather])  # type: ignore[list-item]
            (asked,) = first.choices[0].message.tool_calls or []
            assert first.choices[0].finish_reason == "tool_calls"
            assert (asked.function.name, asked.function.arguments.replace(" ", "")) == ("weather", '{"city":"Oslo"}')  # type: ignore[union-attr]
            messages += [first.choices[0].message, {"role": "tool", "tool_call_id": asked.id, "content": "rain"}]
            second = await client.chat.completions.create(model="bowerbird", messages=messages, tools=[weather])  # type: ignore[list-item]
            assert second.choices[0].message.content == "It rains in Oslo."
        finally:
            await client.close()


async def test_closing_an_openai_stream_stops_the_turn_and_the_vendors_meter(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(answer(text("a long"), sleep(0.05), gate("never"), text(" story")))
    async with daemon(sim.url) as live:
        client = openai.AsyncOpenAI(base_url=f"{live.url}/v1", api_key="none")
        try:
            stream = await client.chat.completions.create(
                model="bowerbird", messages=[{"role": "user", "content": "tell"}], stream=True
            )
            async for chunk in stream:
                if chunk.choices and chunk.choices[0].delta.content:
                    break
            await stream.close()
            async with asyncio.timeout(5):
                await sim.until(lambda requests: any(seen.left_early for seen in requests))
        finally:
            await client.close()


async def test_stop_on_the_page_keeps_the_text_and_closes_the_vendors_connection(
    sim: LlmSim, daemon: StartDaemon
) -> None:
    sim.script(answer(text("as far as this"), gate("never"), text(" and on")))
    async with daemon(sim.url) as live:
        turn = await live.say("talk")
        async with asyncio.timeout(10):
            async for _, event, data in live.events(last="0"):
                if event == "token" and data["text"]:
                    break
        await live.say("/stop", message_id="m2")
        shown, done = await live.until_done(turn=turn)
        assert (shown, done["stop"], done["notice"]) == ("as far as this", "stopped", "Stopped.")
        async with asyncio.timeout(5):
            await sim.until(lambda requests: requests[0].left_early)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (status(401), "does not accept its key"),
        (status(402), "no credit left"),
        (status(429, "insufficient_quota"), "no credit left"),
        (status(404), "has no model"),
        (status(400, "context_length"), "too long for the model"),
        (status(401, "quotes_key"), "does not accept its key"),
    ],
)
async def test_b264_a_provider_that_refuses_is_told_in_one_sentence_without_its_words(
    sim: LlmSim, daemon: StartDaemon, fault: object, words: str
) -> None:
    sim.script(answer(fault, repeat=True))  # type: ignore[arg-type]
    async with daemon(sim.url) as live:
        turn = await live.say("hi")
        _, done = await live.until_done(turn=turn)
        assert words in done["notice"] and "sk-" not in done["notice"] and "Traceback" not in done["notice"]


async def test_a_key_that_is_refused_is_seen_in_the_status_and_left_alone_until_it_is_changed(
    sim: LlmSim, daemon: StartDaemon, control: Callable[[], ControlClient]
) -> None:
    sim.script(answer(status(401)), answer(text("It works.")))
    async with daemon(sim.url) as live, control() as client:
        await live.until_done(turn=await live.say("hi"))
        told = await client.status()
        assert "openai" in told["trouble"] and "/model reset" in told["trouble"]
        assert [(one["provider"], one["model"]) for one in told["resting"]] == [("openai", "every model")]
        shown, _ = await live.until_done(turn=await live.say("/status", message_id="m2"))
        assert "openai" in shown.partition("⚠")[2]
        assert "; every model of openai rests until " in str(await _daemon(live.config))
    async with daemon(sim.url) as live, control() as client:
        assert (await client.status())["resting"] == told["resting"], "over a restart"
        _, done = await live.until_done(turn=await live.say("hi again", message_id="m3"))
        assert "does not accept its key" in done["notice"] and len(sim.chats) == 1
    async with daemon(sim.url, CONFIG.replace("sk-test-0123456789", "sk-another-0123")) as live, control() as client:
        shown, _ = await live.until_done(turn=await live.say("and now?", message_id="m4"))
        assert shown == "It works."
        told = await client.status()
        assert (told["trouble"], told["resting"]) == ("", [])


async def test_the_command_line_reaches_the_daemon(
    sim: LlmSim, daemon: StartDaemon, control: Callable[[], ControlClient]
) -> None:
    async with daemon(sim.url) as live, control() as client:
        told = await client.status()
        assert told["channels"] == {"web": "connected", "terminal": "connected"}
        assert told["chain"] == ["openai/gpt-test"] and told["urls"] == [f"{live.url}/"]


async def test_b241_a_second_daemon_on_the_same_folder_is_refused(sim: LlmSim, daemon: StartDaemon) -> None:
    async with daemon(sim.url):
        with pytest.raises(AlreadyRunning, match="process"):
            async with daemon(sim.url):
                pass


async def test_b242_commands_beside_a_running_daemon_cost_it_no_row(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(answer(text("one")), answer(text("two")))
    async with daemon(sim.url) as live:
        await live.until_done(turn=await live.say("first"))
        for command in (["trace", "web:main:c:"], ["doctor"], ["status"]):
            program = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bot", *command, "--config", str(live.config.file), stdout=asyncio.subprocess.PIPE
            )
            out, _ = await program.communicate()
            assert out
        _, done = await live.until_done(turn=await live.say("second", message_id="m2"))
        assert done["stop"] == "answered"
    reader = sqlite3.connect(live.config.data_dir / "bowerbird.db")
    texts = [
        row[0] for row in reader.execute("SELECT json_extract(body, '$.text') FROM transcript WHERE kind = 'user'")
    ]
    reader.close()
    assert texts == ["first", "second"]


async def test_health_readiness_and_metrics(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(answer(text("ok")))
    async with daemon(sim.url) as live:
        turn = await live.say("hi")
        await live.until_done(turn=turn)
        for path, expected in (("/healthz", "ok"), ("/readyz", '"status": "ready"')):
            async with live.http.get(live.url + path) as got:
                assert got.status == 200 and expected in await got.text()
        async with live.http.get(live.url + "/metrics") as got:
            metrics = await got.text()
        for line in (
            'bowerbird_turns_total{reason="answered"} 1',
            "bowerbird_live_turns 0",
            'bowerbird_inbound_total{channel="web",kind="message"} 1',
            'bowerbird_shows_total{channel="web"} 1',
            'bowerbird_tokens_total{provider="openai",direction="output"}',
        ):
            assert line in metrics


async def test_without_any_model_commands_answer_and_say_how_to_get_one(sim: LlmSim, daemon: StartDaemon) -> None:
    config = "data_dir: data\nchannels:\n  web: {{host: 127.0.0.1, port: {port}}}\nproviders:\n  local: off\n  ollama: off\n# {sim}\n"
    async with daemon(sim.url, config) as live:
        _, done = await live.until_done(turn=await live.say("hi"))
        assert done["stop"] == "no_model" and "ANTHROPIC_API_KEY" in done["notice"]
        shown, done = await live.until_done(turn=await live.say("/help", message_id="m2"))
        assert "/new" in shown and done["stop"] == "command"


async def test_a_restart_shows_the_whole_conversation_again(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(answer(text("The first answer.")), answer(text("You said: one."), stop("stop")))
    async with daemon(sim.url) as live:
        await live.until_done(turn=await live.say("one"))
    async with daemon(sim.url) as live:
        await live.until_done(turn=await live.say("what did I say?", message_id="m2"))
        asked, answered = (m["content"] for m in sim.chats[1].body["messages"][1:3])
        assert asked.startswith("one\n\n<now>") and answered == "The first answer."


async def test_unfinished_messages_of_a_channel_that_is_off_wait_and_stop_nobody(
    sim: LlmSim, daemon: StartDaemon, tmp_path: Path
) -> None:
    sim.script(answer(text("Here.")))
    (tmp_path / "data").mkdir()
    async with Store.open(tmp_path / "data") as store:
        gone = UserMessage("1", Address("gone", "main", "1"), Sender("gone", "7"), "hi", 1.0)
        await store.inbox.record(gone, "t1", 1.0)
    async with daemon(sim.url) as live:
        shown, _ = await live.until_done(turn=await live.say("hi"))
        assert shown == "Here."
    async with Store.open(tmp_path / "data") as store:
        assert [row.turn for row in await store.inbox.unfinished()] == ["t1"]
