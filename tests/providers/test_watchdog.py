"""Silence ends a stream, and so do signs of life that are nothing else for too long."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.core.errors import StreamStalled
from bot.core.model import ModelAlive, ModelEvent, ModelText, ModelThinking, ModelUsage, Usage
from bot.providers.watchdog import Patience, Watchdog
from tests.providers.bench import VENDORS, Bench, ask
from tests.providers.scripted import END, Part, Pause, ScriptedProvider
from tests.sim.llm import LlmSim, answer, ping, raw, sleep, text
from tests.sim.llm.steps import Step

REQUEST = Bench(VENDORS["openai"], LlmSim()).request()


async def test_a_lively_stream_passes_unchanged() -> None:
    inner = ScriptedProvider([ModelText("a"), Pause(0.05), ModelText("b"), Pause(0.05), END])
    heard = await ask(Watchdog(inner, "lab", Patience(first=0.5, silence=0.5)), REQUEST)
    assert heard.events == (ModelText("a"), ModelText("b"), END)
    assert inner.left == 1


async def test_silence_between_events_is_a_stall() -> None:
    inner = ScriptedProvider([ModelText("a"), Pause(5), END])
    heard = await ask(Watchdog(inner, "lab", Patience(first=5, silence=0.05)), REQUEST)
    assert isinstance(heard.error, StreamStalled)
    assert "lab" in str(heard.error)
    assert heard.text == "a"
    assert inner.left == 1


async def test_the_first_event_has_its_own_limit() -> None:
    late: list[Part] = [Pause(0.1), ModelText("a"), END]
    assert (await ask(Watchdog(ScriptedProvider(late), "lab", Patience(first=5, silence=0.05)), REQUEST)).text == "a"
    heard = await ask(Watchdog(ScriptedProvider(late), "lab", Patience(first=0.02, silence=5)), REQUEST)
    assert isinstance(heard.error, StreamStalled)


async def test_connecting_counts_towards_the_first_event() -> None:
    inner = ScriptedProvider([ModelText("a"), END], connects_in=5)
    heard = await ask(Watchdog(inner, "lab", Patience(first=0.05, silence=5)), REQUEST)
    assert isinstance(heard.error, StreamStalled)


async def test_a_slow_listener_is_no_silence() -> None:
    watched = Watchdog(ScriptedProvider([ModelText("a"), ModelText("b"), END]), "lab", Patience(first=1, silence=0.05))
    texts = []
    async with watched.stream(REQUEST) as events:
        async for event in events:
            await asyncio.sleep(0.1)
            texts.append(event)
    assert texts[-1] == END


async def test_a_time_limit_of_the_caller_is_not_taken_for_silence() -> None:
    inner = ScriptedProvider([ModelText("a"), Pause(5), END])
    with pytest.raises(TimeoutError):
        async with (
            asyncio.timeout(0.05),
            Watchdog(inner, "lab", Patience(first=5, silence=5)).stream(REQUEST) as events,
        ):
            async for _ in events:
                pass
    assert inner.left == 1


async def test_the_limit_of_a_later_wait_may_be_shorter_than_that_of_the_first() -> None:
    inner = ScriptedProvider(
        [ModelText("a"), *(part for _ in range(6) for part in (Pause(0.05), ModelText("b"))), Pause(5)]
    )
    heard = await ask(Watchdog(inner, "lab", Patience(first=30, silence=0.2)), REQUEST)
    assert isinstance(heard.error, StreamStalled)
    assert heard.text == "abbbbbb"


async def test_a_cancellation_at_the_same_moment_as_the_limit_stays_a_cancellation() -> None:
    inner = ScriptedProvider([ModelText("a"), Pause(5), END])

    async def listen() -> None:
        async with Watchdog(inner, "lab", Patience(first=5, silence=0.1)).stream(REQUEST) as events:
            async for _ in events:
                asyncio.get_running_loop().call_later(0.1, asyncio.current_task().cancel)  # type: ignore[union-attr]

    task = asyncio.ensure_future(listen())
    with pytest.raises((asyncio.CancelledError, StreamStalled)) as caught:
        await task
    assert task.cancelled() is isinstance(caught.value, asyncio.CancelledError)
    assert inner.left == 1


async def test_a_stall_leaves_no_cancellation_behind() -> None:
    inner = ScriptedProvider([ModelText("a"), Pause(5), END])
    heard = await ask(Watchdog(inner, "lab", Patience(first=5, silence=0.05)), REQUEST)
    assert isinstance(heard.error, StreamStalled)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    async with asyncio.timeout(5):
        await asyncio.sleep(0)


PULSE: tuple[Step, ...] = tuple(step for _ in range(100) for step in (ping(), sleep(0.02)))


async def test_keep_alives_put_off_the_end_of_the_patience_but_not_for_ever(bench: Bench, sim: LlmSim) -> None:
    if bench.kind == "ollama":
        pytest.skip("Ollama sends none")
    sim.script(answer(text("a"), *PULSE[:30], text("b")), answer(text("a"), *PULSE))
    watched = Watchdog(bench.bare(), bench.kind, Patience(first=5, silence=0.2, alive=1.0))
    assert (await ask(watched, bench.request())).text == "ab"
    heard = await ask(watched, bench.request())
    assert isinstance(heard.error, StreamStalled) and "signs of life" in heard.error.detail
    assert heard.text == "a"


async def test_before_the_first_progress_keep_alives_do_not_shorten_the_patience() -> None:
    late: list[Part] = [ModelAlive(), Pause(0.2), ModelText("a"), END]
    heard = await ask(Watchdog(ScriptedProvider(late), "lab", Patience(first=5, silence=0.05)), REQUEST)
    assert heard.events == (ModelText("a"), END)


@pytest.mark.parametrize(
    "empty", [ModelAlive(), ModelUsage(Usage(5, 1))], ids=["nothing", "the same counts over and over"]
)
async def test_what_says_nothing_new_is_no_progress(empty: ModelEvent) -> None:
    idle = [part for _ in range(100) for part in (empty, Pause(0.02))]
    heard = await ask(Watchdog(ScriptedProvider(idle), "lab", Patience(0.3, 0.2, alive=0.3)), REQUEST)
    assert isinstance(heard.error, StreamStalled)


@pytest.mark.parametrize(
    "piece", [ModelThinking("hm "), ModelThinking(""), ModelText("a")], ids=["reasoning", "arguments", "text"]
)
async def test_what_grows_is_progress_however_long_it_takes(piece: ModelEvent) -> None:
    long = [part for _ in range(40) for part in (piece, Pause(0.02))]
    heard = await ask(Watchdog(ScriptedProvider([*long, END]), "lab", Patience(0.3, 0.2, alive=0.3)), REQUEST)
    assert heard.events[-1] == END


async def test_an_answer_in_one_piece_has_a_patience_of_its_own() -> None:
    inner = ScriptedProvider([Pause(0.2), ModelText("a"), END])
    watched = Watchdog(inner, "lab", Patience(first=0.05, silence=0.05, alive=0.05, whole=5))
    assert isinstance((await ask(watched, REQUEST)).error, StreamStalled)
    assert (await ask(watched, replace(REQUEST, whole=True))).text == "a"


async def test_empty_pieces_on_the_wire_are_no_progress(bench: Bench, sim: LlmSim) -> None:
    empty = {
        "anthropic": b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}\n\n',
        "openai": b'data: {"choices":[{"index":0,"delta":{"content":""}}]}\n\n',
        "ollama": b'{"message":{"role":"assistant","content":""},"done":false}\n',
    }[bench.kind]
    idle = [step for _ in range(100) for step in (raw(empty), sleep(0.02))]
    sim.script(answer(text("a"), *idle))
    watched = Watchdog(bench.bare(), bench.kind, Patience(first=5, silence=0.3, alive=0.4))
    heard = await ask(watched, bench.request())
    assert isinstance(heard.error, StreamStalled) and heard.text == "a"
