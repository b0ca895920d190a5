"""Calls to the Web API: every refusal in the house's words, waits kept by method, and what never leaves Slack."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot.core.errors import (
    ChannelError,
    ChannelUnreachable,
    ChatClosed,
    FormatRefused,
    MessageGone,
    RateLimited,
    TooLong,
    Unauthorised,
)
from bot.core.view import Button, Part, Rendered, View
from bot.net.http import Transport
from bot.outbox.silences import Silences
from channels.slack.messages import TEXT_BYTES, content
from channels.slack.refusals import FileGone, Hushed, Outside, StillOpen, StreamOver, TokenRefused, Unfit
from channels.slack.tiers import Tier, Waits, Window
from channels.slack.wire import FILE_BYTES, Wire
from tests.fakes.clock import FakeClock
from tests.fakes.notes import MemoryNotes
from tests.sim.slack import SlackSim


@asynccontextmanager
async def wired(notes: MemoryNotes, clock: FakeClock) -> AsyncIterator[tuple[SlackSim, Wire]]:
    async with SlackSim() as sim:
        http = Transport()
        try:
            tokens, waits = (sim.bot_token, sim.app_token), Waits(Silences(notes, clock), clock)
            yield sim, Wire(http, sim.api_base, *tokens, clock, waits)
        finally:
            await http.aclose()


async def failure(sim: SlackSim, wire: Wire, **fault: object) -> ChannelError:
    dm = sim.dm(sim.person("U0ANN", "Ann"))
    sim.fail("chat.postMessage", **fault)  # type: ignore[arg-type]
    with pytest.raises(ChannelError) as failed:
        await wire.call("chat.postMessage", channel=dm.id, text="hello")
    return failed.value


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("channel_not_found", Outside),
        ("not_in_channel", Outside),
        ("no_permission", Outside),
        ("is_archived", ChatClosed),
        ("restricted_action", ChatClosed),
        ("message_not_found", MessageGone),
        ("cant_update_message", MessageGone),
        ("edit_window_closed", MessageGone),
        ("msg_too_long", TooLong),
        ("msg_blocks_too_long", TooLong),
        ("invalid_blocks", FormatRefused),
        ("message_not_in_streaming_state", StreamOver),
        ("streaming_state_conflict", StillOpen),
        ("internal_error", ChannelUnreachable),
        ("file_upload_size_restricted", TooLong),
        ("file_not_found", FileGone),
        ("invalid_auth", TokenRefused),
        ("account_inactive", TokenRefused),
        ("not_allowed_token_type", TokenRefused),
        ("something_of_next_year", Unfit),
    ],
)
async def test_every_refusal_is_one_of_the_houses(error: str, kind: type[ChannelError]) -> None:
    async with wired(MemoryNotes(), FakeClock()) as (sim, wire):
        failed = await failure(sim, wire, error=error)
        assert type(failed) is kind and failed.__cause__ is None
        assert wire.is_refused == isinstance(failed, Unauthorised)


@pytest.mark.parametrize("fault", [{"status": 503}, {"action": "garbage"}, {"action": "drop"}, {"action": "reset"}])
async def test_an_answer_that_is_none_may_have_had_its_effect(fault: dict[str, object]) -> None:
    async with wired(MemoryNotes(), FakeClock()) as (sim, wire):
        failed = await failure(sim, wire, **fault)
        assert isinstance(failed, ChannelUnreachable) and failed.maybe_done
        assert len(sim.called("chat.postMessage")) == 1, "the library tried again by itself"


async def test_a_server_that_is_not_there_had_no_effect() -> None:
    http = Transport()
    with pytest.raises(ChannelUnreachable) as failed:
        await Wire(http, "http://127.0.0.1:9/api/", "xoxb-1", "xapp-1", FakeClock()).call("auth.test")
    assert not failed.value.maybe_done
    await http.aclose()


async def test_a_missing_scope_is_named() -> None:
    async with wired(MemoryNotes(), FakeClock()) as (sim, wire):
        sim.missing_scope("chat:write")
        failed = await failure(sim, wire, nth=9, error="fatal_error")
        assert isinstance(failed, Unfit) and "chat:write" in str(failed) and failed.missing == "chat:write"


async def test_waits_hold_by_method_for_posts_by_channel_and_after_a_restart() -> None:
    notes, clock = MemoryNotes(), FakeClock()
    async with wired(notes, clock) as (sim, wire):
        ann, bob = (sim.dm(sim.person(id, id)) for id in ("U0ANN", "U0BOB"))
        assert isinstance(await failure(sim, wire, retry_after=30), RateLimited)
        with pytest.raises(Hushed):
            await wire.call("chat.postMessage", channel=ann.id, text="again")
        told = await wire.call("chat.postMessage", channel=bob.id, text="hello")
        sim.fail("chat.update", retry_after=30)
        with pytest.raises(RateLimited):
            await wire.call("chat.update", channel=bob.id, ts=told["ts"], text="hello!")
        with pytest.raises(Hushed) as hushed:
            await wire.call("chat.update", channel=ann.id, ts="1.0", text="hello!")
        assert 29 < hushed.value.retry_after <= 30
    async with wired(notes, clock) as (sim, wire):
        ann = sim.dm(sim.person("U0ANN", "Ann"))
        for _ in range(2):
            with pytest.raises(Hushed):
                await wire.call("chat.postMessage", channel=ann.id, text="again")
            assert sim.calls == []
        await clock.advance(31)
        await wire.call("chat.postMessage", channel=ann.id, text="again")


async def test_answers_and_tokens_go_to_slack_alone() -> None:
    async with wired(MemoryNotes(), FakeClock()) as (sim, wire):
        for url in ("https://slack.com.evil.example/x", "http://hooks.slack.com/x", "https://evil.example/slack.com"):
            with pytest.raises(ChannelError, match="leave Slack"):
                await wire.respond(url, "a notice")
        assert sim.calls == []


async def test_files_that_are_too_large_or_lie_elsewhere_or_are_a_page_to_log_in_are_refused() -> None:
    async with wired(MemoryNotes(), FakeClock()) as (sim, wire):
        ann = sim.person("U0ANN", "Ann")
        said = await sim.say(sim.dm(ann), ann, "x", files=[("a.txt", "text/plain", b"abc")])
        file = sim.world.files.by_id[said["files"][0]["id"]]
        assert await wire.download(file.id) == b"abc"
        sim.fail("download", action="garbage")
        with pytest.raises(ChannelError, match="could not be fetched"):
            await wire.download(file.id)
        file.length = FILE_BYTES + 1
        with pytest.raises(ChannelError, match="too large"):
            await wire.download(file.id)
        file.gone = True
        for id in (file.id, "F0NONE"):
            with pytest.raises(ChannelError):
                await wire.download(id)


def test_a_tier_gives_a_burst_and_then_goes_evenly_and_a_window_counts_a_minute() -> None:
    clock = FakeClock()
    tier, window = Tier(clock, per_minute=60, burst=3), Window(clock, 2)
    assert [tier.take() for _ in range(5)] == [True, True, True, False, False]
    assert 0.9 < tier.wait <= 1.0
    window.take()
    window.take()
    assert window.left == 0


def part(markdown: str, *buttons: Button) -> Part:
    return Part("t", 0, 0, markdown, Rendered(markdown, len(markdown)), View("t"), buttons)


def test_buttons_stand_in_rows_by_what_they_decide_and_have_ids_of_their_own() -> None:
    buttons = (
        Button("Yes", "b:x:once", "primary"),
        Button("No", "b:x:deny", "danger"),
        Button("Yes", "b:y:once"),
        Button("Stop", "b:t:stop"),
    )
    *_, first, second, third = content(part("text", *buttons), [], plain=False)["blocks"]
    assert [one["value"] for one in first["elements"]] == ["b:x:once", "b:x:deny"]
    assert [one.get("style") for one in first["elements"]] == ["primary", "danger"]
    assert len(second["elements"]) == len(third["elements"]) == 1 and "style" not in third["elements"][0]


def test_the_text_for_notifications_fits_and_ends_with_whole_characters() -> None:
    long = content(part("a &amp; <b>" * 1000), [], plain=True)
    assert len(long["text"].encode()) <= TEXT_BYTES and long["blocks"][0]["elements"][0]["elements"][0][
        "text"
    ].startswith("a &amp; <b>a")
    cut = long["text"].removesuffix("…")
    assert "&" not in cut[-4:] or cut.endswith(";")
    wide = content(part("🐦" * 2000), [], plain=False)["text"]
    assert len(wide.encode()) <= TEXT_BYTES and set(wide) == {"🐦", "…"}
    assert content(part("\u200b"), [], plain=False)["text"] == "…"
