"""The event log: whoever comes back, from wherever, ends up with exactly what a reader that never left has."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.stop import StopReason
from bot.core.view import ApprovalCard, Part, Phase, Rendered, ToolLine, View
from bot.time.clock import SystemClock
from channels.web import events as events_module
from channels.web.events import ChatLog, Frame, Hub
from channels.web.screen import Said, common_length, patch
from tests.channels.web.house import House, Turn, card
from tests.channels.web.reader import Event, Page, events
from tests.fakes.clock import FakeClock

WRITTEN = (
    "Hello |**bold|** and|\n\n|- item\n|```py\n|x = 1\n|```\n|你好，|👩\u200d👩\u200d👧 |\n1|. one\n|$x^2$ |> quote\n"
)
PIECES = st.sampled_from(
    [*WRITTEN.split("|"), "[link](http://e", "xample.org) ", "| a | b |\n", "|---|---|\n", "word " * 90]
)
STEP = st.one_of(
    st.tuples(st.just("write"), PIECES),
    st.tuples(st.just("rewind"), st.integers(0, 60)),
    st.tuples(st.just("tool"), st.integers(0, 3)),
    st.tuples(st.just("result"), st.integers(0, 3)),
    st.tuples(st.just("drop"), st.just(0)),
    st.tuples(st.just("card"), st.integers(0, 1)),
    st.tuples(st.just("decide"), st.integers(0, 1)),
    st.tuples(st.just("notice"), st.sampled_from(["A", "B"])),
    st.tuples(st.just("think"), st.just(0)),
    st.tuples(st.just("say"), st.integers(0, 2)),
)


def part(view: View) -> Part:
    return Part(view.turn, 0, 0, view.text, Rendered(view.text, len(view.text)), view, final=view.final)


def stepped(view: View, kind: str, value: int | str) -> View:
    match kind, value:
        case "write", str(text):
            return replace(view, text=view.text + text, phase=Phase.WRITING)
        case "rewind", int(chars):
            return replace(view, text=view.text[: max(0, len(view.text) - chars)])
        case "tool", int(n) if all(line.call_id != f"c{n}" for line in view.tools):
            return replace(view, tools=(*view.tools, ToolLine(f"c{n}", "tool", f"call {n}")))
        case "result", int(n):
            lines = (replace(one, seconds=1.5, error=n == 3) if one.call_id == f"c{n}" else one for one in view.tools)
            return replace(view, tools=tuple(lines))
        case "drop", _:
            return replace(view, tools=view.tools[:-1], cards=(), text="")
        case "card", int(n) if all(one.id != f"a{n}" for one in view.cards):
            asked = ApprovalCard(f"a{n}", f"c{n}", "shell", "run", "why", "{}", 2e9)
            return replace(view, cards=(*view.cards, asked), phase=Phase.WAITING)
        case "decide", int(n):
            decided = (replace(one, decision="once") if one.id == f"a{n}" else one for one in view.cards)
            return replace(view, cards=tuple(decided))
        case "notice", str(text):
            return replace(view, notices=(*view.notices, text))
        case "think", _:
            return replace(view, phase=Phase.THINKING)
    return view


def played(log: ChatLog, steps: Sequence[tuple[str, int | str]], stop: StopReason | None) -> View:
    view = View("t1")
    log.say("t1", Said("m0", "Hello", 1.0))
    log.show(part(view))
    for kind, value in steps:
        if kind == "say":
            log.say("t1", Said(f"m{value}", f"more {value}", 2.0, 1))
            continue
        view = stepped(view, kind, value)
        log.show(part(view))
    if stop:
        view = replace(view, stop=stop, phase=Phase.DONE)
        log.show(part(view))
    return view


def page_of(frames: Sequence[Frame]) -> Page:
    page = Page()
    for frame in frames:
        page.take(json.loads(frame.body))
    return page


@settings(max_examples=120, deadline=None)
@given(
    steps=st.lists(STEP, max_size=25),
    stop=st.sampled_from([None, StopReason.ANSWERED, StopReason.PROVIDER_UNAVAILABLE]),
    data=st.data(),
)
def test_whoever_comes_back_sees_what_a_reader_that_stayed_sees(
    steps: list[tuple[str, int | str]], stop: StopReason | None, data: st.DataObject
) -> None:
    log = Hub(FakeClock()).log("a")
    start = log.tip
    view = played(log, steps, stop)
    frames = log.since(start)
    assert frames is not None
    assert [frame.id for frame in frames] == sorted({frame.id for frame in frames})
    stayed = page_of(frames)
    shown = stayed.turns["t1"]
    assert shown.text == view.text
    assert shown.html == list(log.screens["t1"].blocks)
    assert shown.tools == {line.call_id: (line.name, line.summary, line.seconds, line.error) for line in view.tools}
    assert shown.cards == {one.id: one.decision for one in view.cards}
    assert shown.done == (stop.value if stop else "")
    assert bool(shown.error) == (stop is StopReason.PROVIDER_UNAVAILABLE)

    left_after = data.draw(st.integers(0, len(frames)))
    seen = frames[:left_after]
    missed = log.since(seen[-1].id if seen else start)
    assert missed == frames[left_after:]
    assert page_of([*seen, *(missed or [])]).turns == stayed.turns
    # and a snapshot, whatever was seen before it, ends the same way
    again = page_of([*seen, *log.snapshot(log.screens.values())])
    assert again.turns == stayed.turns


@given(old=st.text(max_size=40), new=st.text(max_size=40), tail=st.text(max_size=40))
def test_the_common_beginning_is_as_long_as_it_can_be(old: str, new: str, tail: str) -> None:
    assert common_length(old, old + tail) == len(old)
    size = common_length(old, new)
    assert old[:size] == new[:size]
    assert old[size : size + 1] != new[size : size + 1] or size == len(old) or size == len(new)


def test_a_long_block_that_grows_is_not_sent_again() -> None:
    old = "<pre><code>" + "😀 line\n" * 500 + "</code></pre>"
    new = "<pre><code>" + "😀 line\n" * 500 + "one more\n</code></pre>"
    change = patch(("<p>a</p>", old), ("<p>a</p>", new))
    assert change["block"] == 1
    assert len(change["html"][0]) < 60
    assert old.encode("utf-16-le")[: 2 * change["keep"]].decode("utf-16-le") + change["html"][0] == new


def test_nothing_new_makes_no_frame() -> None:
    log = Hub(FakeClock()).log("a")
    view = View("t1", text="Hello **you**", phase=Phase.WRITING, tools=(ToolLine("c1", "t", "s"),))
    log.show(part(view))
    tip = log.tip
    log.show(part(view))
    log.say("t1", Said("m1", "x", 0.0))
    after = log.tip
    assert after != tip
    log.say("t1", Said("m1", "x", 0.0))
    assert log.tip == after


def test_after_the_end_nothing_changes_a_turn() -> None:
    log = Hub(FakeClock()).log("a")
    log.show(part(View("t1", text="All.", stop=StopReason.ANSWERED, phase=Phase.DONE)))
    tip = log.tip
    log.show(part(View("t1", text="Late preview", phase=Phase.WRITING)))
    assert log.tip == tip
    assert log.screens["t1"].text == "All."


def test_ids_grow_across_a_restart_and_even_when_the_clock_stands() -> None:
    clock = FakeClock()
    first = Hub(clock).log("a")
    for n in range(50):
        first.show(part(View("t1", text="x" * n)))
    clock._now += 0.001
    second = Hub(clock).log("a")
    assert second.tip > first.tip
    assert second.since(first.tip) is None


def test_a_reader_that_falls_behind_gets_a_snapshot_and_the_ring_stays_small() -> None:
    log = Hub(FakeClock()).log("a")
    start = log.tip
    text = ""
    for n in range(3000):
        text += f"word{n} " if n % 20 else "\n\n"
        log.show(part(View("t1", text=text, phase=Phase.WRITING)))
    assert log.since(start) is None
    assert len(log._ring) <= events_module.RING_FRAMES
    assert log._ring_bytes <= events_module.RING_BYTES
    snapshot = log.snapshot(log.screens.values())
    assert page_of(snapshot).turns["t1"].text == text
    assert snapshot[-1].id == log.tip
    assert all(frame.id == 0 for frame in snapshot[:-1])


def test_quiet_chats_leave_memory_and_busy_ones_stay() -> None:
    clock = FakeClock()
    hub = Hub(clock)
    hub.log("busy").show(part(View("t0", text="still", phase=Phase.WRITING)))
    reader = hub.open("read", None, page=False)
    for n in range(500):
        clock._now += 1
        hub.log(f"chat{n}").show(part(View(f"t{n}", text="x", stop=StopReason.ANSWERED)))
    assert len(hub._logs) <= events_module.QUIET_LOGS + 3
    assert "busy" in hub._logs
    assert "read" in hub._logs
    hub.close("read", reader)


def test_finished_turns_are_kept_in_a_small_number() -> None:
    log = Hub(FakeClock()).log("a")
    for n in range(100):
        log.show(part(View(f"t{n}", text="x", stop=StopReason.ANSWERED)))
    assert len(log.screens) <= events_module.FINISHED_KEPT + 1


async def scripted(turn: Turn) -> None:
    await turn.think()
    await turn.tool("c1", "web_search", "birds")
    await turn.tool_done("c1", 0.4)
    await turn.stream("The satin bowerbird collects **blue** things.\n\n- feathers\n- caps\n- 石头\n", size=3)
    await turn.show(text=turn.view.text[:10])
    await turn.write("again: it collects blue things.")
    await turn.end()


async def test_over_http_a_stream_goes_on_exactly_behind_the_last_event() -> None:
    house = House(script=scripted)
    async with house.open(), aiohttp.ClientSession() as http:
        url = f"{house.url}/v1/events?chat=a"
        whole: list[tuple[int | None, dict[str, object]]] = []
        async with http.get(url) as stream:
            (await http.post(f"{house.url}/v1/messages", json={"chat": "a", "text": "Hi", "id": "1"})).close()
            async for event in events(stream):
                if event.type != ":":
                    whole.append((event.id, event.data))
                if event.type == "done":
                    break
        ids = [id_ for id_, _ in whole]
        assert ids == sorted(set(ids), key=lambda id_: id_ or 0)
        for at in range(0, len(whole), 5):
            replayed = []
            async with http.get(url, headers={"Last-Event-ID": str(ids[at])}) as stream:
                if at < len(whole) - 1:
                    async for event in events(stream):
                        if event.type != ":":
                            replayed.append((event.id, event.data))
                        if event.type == "done":
                            break
            assert replayed == whole[at + 1 :]


class ShiftedClock(SystemClock):
    """The machine's clock, set forward by hand."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self) -> float:
        return super().now() + self.ahead


async def test_a_question_that_is_open_comes_again_as_an_approval_after_a_reconnection() -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        turn = house.start("a", "Do it")
        await turn.show(cards=(card(),), phase=Phase.WAITING)
        async with http.get(f"{house.url}/v1/events?chat=a") as stream:
            seen = [event async for event in _first(events(stream), "approval")]
        assert [event.type for event in seen] == ["token", "approval"]
        assert seen[1].data == {**seen[0].data["cards"][0], "type": "approval", "seq": seen[1].id}
        await turn.show(cards=(replace(card(), decision="deny"),), phase=Phase.THINKING)
        await turn.write("Then not.")
        async with http.get(f"{house.url}/v1/events?chat=a") as stream:
            await turn.end()
            seen = [event async for event in _first(events(stream), "done")]
        assert "approval" not in [event.type for event in seen]


async def _first(stream: AsyncIterator[Event], last: str) -> AsyncIterator[Event]:
    async for event in stream:
        if event.type != ":":
            yield event
        if event.type == last:
            return


async def test_after_a_restart_a_stream_goes_on_with_one_snapshot() -> None:
    house = House()
    async with aiohttp.ClientSession() as http:
        async with house.open():
            turn = house.start("a", "Tell me")
            async with http.get(f"{house.url}/v1/events?chat=a") as stream:
                page = Page()
                await turn.write("Half of the ans")
                async for event in events(stream):
                    if event.type == "token":
                        page.take(event.data)
                        break
                last = event.id
            turn.record(None)
        async with house.open():
            headers = {"Last-Event-ID": str(last)}
            async with http.get(f"{house.url}/v1/events?chat=a", headers=headers) as stream:
                seen: list[Event] = []
                async for event in events(stream):
                    if event.type == ":":
                        continue
                    if not seen:
                        await turn.write("wer, and the rest.")
                        await turn.end(StopReason.ANSWERED)
                    seen.append(event)
                    page.take(event.data)
                    if event.type == "done":
                        break
        assert seen[0].type == "token"
        assert seen[0].data["snapshot"] is True
        assert seen[0].data["offset"] == 0
        assert seen[0].data["said"][0]["text"] == "Tell me"
        assert last is not None
        assert (seen[0].id or 0) > last
        assert [event.type for event in seen].count("token") == 2
        assert page.turns[turn.id].text == "Half of the answer, and the rest."
        assert page.turns[turn.id].done == "answered"


async def test_after_a_restart_a_turn_that_ended_meanwhile_comes_whole() -> None:
    clock = ShiftedClock()
    house = House(clock=clock)
    async with aiohttp.ClientSession() as http:
        async with house.open():
            old = house.start("a", "Before")
            await old.write("Long ago.")
            await old.end()
            clock.ahead += 60
            turn = house.start("a", "Now")
            async with http.get(f"{house.url}/v1/events?chat=a") as stream:
                await turn.write("One ")
                async for event in events(stream):
                    if event.type == "token" and event.data["turn"] == turn.id:
                        break
                last = event.id
        clock.ahead += 60
        turn.view = View(turn.id, text="One two three.", notices=("Stopped.",))
        turn.record(StopReason.STOPPED, "Stopped.")
        async with (
            house.open(),
            http.get(f"{house.url}/v1/events?chat=a", headers={"Last-Event-ID": str(last)}) as stream,
        ):
            page = Page()
            async for event in events(stream):
                if event.type != ":":
                    page.take(event.data)
                if event.type == "done":
                    break
        assert list(page.turns) == [turn.id]
        assert page.turns[turn.id].text == "One two three."
        assert page.turns[turn.id].done == "stopped"


async def test_without_a_last_event_a_running_turn_comes_as_it_stands() -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        turn = house.start("a")
        await turn.write("Already here. ")
        await turn.show(cards=(card(),), phase=Phase.WAITING)
        async with http.get(f"{house.url}/v1/events?chat=a") as stream:
            page = Page()
            async for event in events(stream):
                if event.type == "token":
                    page.take(event.data)
                    break
        assert page.turns[turn.id].text == "Already here. "
        assert page.turns[turn.id].cards == {"card1": ""}


@pytest.mark.parametrize("last", ["x", "-1", "1e9", "9" * 19, "１２"])
async def test_a_last_event_that_is_no_number_is_refused(last: str) -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        answer = await http.get(f"{house.url}/v1/events", params={"chat": "a", "after": last})
        answer.close()
        assert answer.status == 400


class BusyClock(SystemClock):
    """A machine so busy that each look at the clock is 20 ms after the last."""

    def __init__(self) -> None:
        self._looks = 0

    def monotonic(self) -> float:
        self._looks += 1
        return super().monotonic() + 0.02 * self._looks


async def test_the_words_before_a_pause_are_rendered_however_slow_the_machine_is() -> None:
    house = House(clock=BusyClock())
    async with house.open(), aiohttp.ClientSession() as client, client.get(f"{house.url}/v1/events?chat=a") as stream:
        page = Page()
        turn = house.start("a")
        await turn.write("First.\n\n")
        await turn.write("Second.\n\n")
        async for event in events(stream):
            if event.type != ":":
                page.take(event.data)
            shown = page.turns.get(turn.id)
            if shown and "Second." in "".join(shown.html):
                break
        assert page.turns[turn.id].text == "First.\n\nSecond.\n\n"
