"""The contract of `Provider` over every vendor, part two: whatever goes wrong comes out as the right `ProviderError`."""

from __future__ import annotations

import asyncio
import socket

import pytest

from bot.core.errors import (
    ContextTooLong,
    KeyRefused,
    ModelForbidden,
    ModelMissing,
    NoCredit,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderUnreachable,
    RequestRefused,
    StreamCut,
    StreamGarbled,
    StreamStalled,
)
from bot.core.model import ModelStopReason, ModelText
from bot.core.ports import Provider
from tests.providers.bench import KEY, Bench, SleeplessClock, ask
from tests.sim.llm import (
    LlmSim,
    answer,
    call,
    drop,
    end_early,
    error_event,
    garbage,
    gate,
    raw,
    sleep,
    stall,
    status,
    stop,
    text,
)
from tests.sim.llm.steps import Step


@pytest.mark.parametrize("break_off", [drop("rst"), drop("fin"), end_early()], ids=["reset", "closed", "ended"])
@pytest.mark.parametrize("said", ["", "Hello wor"], ids=["at once", "after some text"])
async def test_a_stream_that_breaks_off_gives_its_text_and_then_fails(
    bench: Bench, sim: LlmSim, said: str, break_off: Step
) -> None:
    sim.script(answer(text(said), sleep(0.05), break_off))  # a reset throws away what has not been read yet
    heard = await ask(bench.bare(), bench.request())
    assert heard.text == said
    assert isinstance(heard.error, StreamCut)
    assert heard.error.retryable


async def test_a_stream_that_breaks_off_in_a_call_gives_no_call(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(call("c1", "get_time"), end_early()))
    heard = await ask(bench.bare(), bench.request())
    assert heard.calls == []
    assert isinstance(heard.error, StreamCut)


async def test_a_connection_lost_after_the_end_of_the_answer_is_no_error(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("All of it."), stop(), sleep(0.05), drop("rst")))
    heard = await ask(bench.bare(), bench.request())
    assert (heard.text, heard.stop.reason) == ("All of it.", ModelStopReason.END)


async def test_a_connection_lost_before_the_answer_may_be_tried_again(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(drop("fin", before_headers=True)))
    heard = await ask(bench.bare(), bench.request())
    assert isinstance(heard.error, ProviderUnreachable | StreamCut)
    assert heard.error.retryable


async def test_nobody_at_the_address_is_unreachable(bench: Bench, sim: LlmSim) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        base_url = bench.base_url.replace(sim.url, f"http://127.0.0.1:{taken.getsockname()[1]}")
        heard = await ask(bench.bare(base_url=base_url), bench.request())
    assert isinstance(heard.error, ProviderUnreachable)
    assert bench.kind in str(heard.error)
    assert "base_url" in str(heard.error)


@pytest.mark.parametrize("said", ["", "Two words"], ids=["before the text", "after some text"])
async def test_b121_silence_ends_the_stream_and_closes_the_connection(bench: Bench, sim: LlmSim, said: str) -> None:
    sim.script(answer(text(said), stall(), repeat=True))
    models = bench.wrapped(SleeplessClock(), silence_seconds=0.15, first_seconds=0.3)
    heard = await ask(models, bench.request())
    assert isinstance(heard.error, StreamStalled)
    assert heard.text == said
    await sim.until(lambda requests: all(seen.left_early for seen in requests))


async def test_silence_before_the_headers_ends_the_stream(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(stall(before_headers=True), repeat=True))
    models = bench.wrapped(SleeplessClock(), first_seconds=0.2)
    heard = await ask(models, bench.request())
    assert isinstance(heard.error, StreamStalled)
    await sim.until(lambda requests: all(seen.left_early for seen in requests))


NO_OBJECT = raw(b"data: [1, 2]\n\n[1, 2]\n")


@pytest.mark.parametrize("frame", [garbage("json"), NO_OBJECT], ids=["torn", "not an object"])
async def test_what_cannot_be_read_once_the_answer_has_begun_is_a_broken_stream_and_no_wrong_address(
    bench: Bench, sim: LlmSim, frame: Step
) -> None:
    sim.script(answer(text("So"), frame, text("and so")))
    heard = await ask(bench.bare(), bench.request())
    assert heard.text == "So"
    assert isinstance(heard.error, StreamCut) and "base_url" not in str(heard.error)


@pytest.mark.parametrize(
    ("frame", "error"), [(garbage("json"), StreamCut), (NO_OBJECT, StreamGarbled)], ids=["torn", "not an object"]
)
async def test_what_cannot_be_read_at_the_beginning_is_another_service_unless_it_was_torn(
    bench: Bench, sim: LlmSim, frame: Step, error: type[ProviderError]
) -> None:
    sim.script(answer(frame, text("and so")))
    heard = await ask(bench.bare(), bench.request())
    assert (heard.text, type(heard.error)) == ("", error)
    assert ("base_url" in str(heard.error)) is (error is StreamGarbled)


async def test_a_web_page_is_no_answer(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(status(200, body="<html>Please log in</html>")))
    heard = await ask(bench.bare(), bench.request())
    assert isinstance(heard.error, StreamGarbled)
    assert "base_url" in str(heard.error)


@pytest.mark.parametrize("said", ["", "Twenty tokens"], ids=["before the text", "after some text"])
async def test_b124_an_error_inside_the_stream_is_an_error(bench: Bench, sim: LlmSim, said: str) -> None:
    sim.script(answer(text(said), error_event("overloaded_error", "Overloaded")))
    heard = await ask(bench.bare(), bench.request())
    assert heard.text == said
    assert isinstance(heard.error, ProviderBusy)
    assert "Overloaded" not in str(heard.error)


STATUSES: list[tuple[int, str | None, type[ProviderError]]] = [
    (400, None, RequestRefused),
    (400, "context_length", ContextTooLong),
    (401, None, KeyRefused),
    (402, None, NoCredit),
    (403, None, ModelForbidden),
    (404, None, ModelMissing),
    (408, None, ProviderBusy),
    (413, None, ContextTooLong),
    (422, None, RequestRefused),
    (429, None, ProviderBusy),
    (429, "insufficient_quota", NoCredit),
    (500, None, ProviderFailed),
    (502, None, ProviderFailed),
    (503, None, ProviderBusy),
    (529, None, ProviderBusy),
]


@pytest.mark.parametrize(("code", "kind", "expected"), STATUSES)
async def test_a_status_is_the_error_it_means(
    bench: Bench, sim: LlmSim, code: int, kind: str | None, expected: type[ProviderError]
) -> None:
    if kind and bench.kind == "ollama":
        pytest.skip("Ollama has no such error body")
    sim.script(answer(status(code, kind)))
    heard = await ask(bench.bare(), bench.request())
    assert type(heard.error) is expected
    assert bench.kind in str(heard.error)
    assert len(sim.chats) == 1, "the library must not try again by itself"


async def test_a_wait_that_the_vendor_asks_for_is_told(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(status(429, headers={"retry-after": "17"})))
    heard = await ask(bench.bare(), bench.request())
    assert isinstance(heard.error, ProviderBusy)
    assert heard.error.retry_after == 17.0


async def test_an_error_page_of_a_proxy_is_an_error(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(status(502, body="<html><h1>Bad gateway</h1></html>")))
    heard = await ask(bench.bare(), bench.request())
    assert isinstance(heard.error, ProviderFailed)


async def test_a_redirect_is_not_followed(bench: Bench, sim: LlmSim) -> None:
    """The key would go along."""
    sim.script(answer(status(307, headers={"location": f"{sim.url}/elsewhere"})))
    heard = await ask(bench.bare(), bench.request())
    assert isinstance(heard.error, RequestRefused)
    assert len(sim.requests) == 1


async def test_b264_no_error_quotes_the_key(bench: Bench, sim: LlmSim, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    for trouble in (status(401, "quotes_key"), status(500, message="boom for {key} at ?key={key}")):
        sim.script(answer(trouble))
        heard = await ask(bench.bare(), bench.request())
        assert isinstance(heard.error, ProviderError)
        assert heard.error.detail
        chain = [heard.error, heard.error.__cause__]
        assert not any(KEY in f"{error!r} {vars(error)}" for error in chain if error is not None)
        assert heard.error.__context__ is None or heard.error.__suppress_context__
    assert KEY not in caplog.text


async def test_b262_the_libraries_write_no_requests_into_the_log(
    bench: Bench, sim: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    provider = bench.bare()
    sim.script(answer(text("Hi"), repeat=True))
    await ask(provider, bench.request())
    caplog.clear()
    await ask(provider, bench.request(system="a private prompt"))
    noisy = [record for record in caplog.records if not record.name.startswith(("asyncio", "tests", "aiohttp"))]
    assert noisy == []


async def test_leaving_early_closes_the_connection(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("One"), gate("more"), text("Two")))
    async with bench.bare().stream(bench.request()) as events:
        async for event in events:
            if isinstance(event, ModelText):
                break
    await sim.until(lambda requests: requests[0].left_early, timeout=2)


async def test_leaving_without_reading_closes_the_connection(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("One"), gate("more")))
    async with bench.bare().stream(bench.request()):
        pass
    await sim.until(lambda requests: requests[0].left_early, timeout=2)


@pytest.mark.parametrize("where", ["headers", "text"])
async def test_cancelling_closes_the_connection(bench: Bench, sim: LlmSim, where: str) -> None:
    sim.script(answer(*([text("One")] if where == "text" else []), gate("more"), text("Two")))
    models = bench.wrapped(SleeplessClock())
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(_listened(models, bench))
        await sim.at("more")
        await asyncio.sleep(0.05)
        asking.cancel()
    assert asking.cancelled()
    await sim.until(lambda requests: requests[0].left_early, timeout=2)


async def _listened(provider: Provider, bench: Bench) -> None:
    async with provider.stream(bench.request()) as events:
        async for _ in events:
            pass
