"""The nouns of the store: recorded once, decided once, read back as they were."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.address import Address, Sender
from bot.core.inbound import ButtonPress, CallerRequest, FileRef, Quote, UserMessage
from bot.core.model import CallBlock, ImageBlock, Message, TextBlock, ThinkingBlock, Usage
from bot.core.stop import StopReason
from bot.core.text import storable
from bot.core.tool import ToolCall
from bot.core.transcript import BreakRow, EndRow, GivenRow, ResultRow, StepRow, UserRow
from bot.core.view import ApprovalCard, Ref
from bot.store.approvals import Approval
from bot.store.codec import BODY, INBOUND
from bot.store.store import Store
from bot.store.transcript import Draft

HERE = Address("web", "main", "c")
WHO = Sender("web", "owner", "Owner")


def message(number: int, text: str = "hi", address: Address = HERE) -> UserMessage:
    return UserMessage(str(number), address, WHO, text, 1.0)


async def test_a_platform_id_is_recorded_once_and_keeps_its_turn(store: Store) -> None:
    first = await store.inbox.record(message(1), "turn-a", 1.0)
    again = await store.inbox.record(message(1, "other text"), "turn-b", 2.0)
    assert (first.duplicate, again.duplicate) == (False, True)
    assert again.row.turn == "turn-a" and again.row.inbound == message(1)


async def test_the_same_id_in_another_chat_or_of_another_kind_is_another_inbound(store: Store) -> None:
    await store.inbox.record(message(1), "a", 1.0)
    other = await store.inbox.record(message(1, address=Address("web", "main", "d")), "b", 1.0)
    press = await store.inbox.record(ButtonPress("1", HERE, WHO, "b:x:once", 1.0), "", 1.0)
    assert not other.duplicate and not press.duplicate


async def test_many_deliveries_at_once_become_one_row(store: Store) -> None:
    recorded = await asyncio.gather(*(store.inbox.record(message(7), f"t{n}", 1.0) for n in range(30)))
    assert sum(not r.duplicate for r in recorded) == 1
    assert len({r.row.turn for r in recorded}) == 1


async def test_unfinished_rows_come_back_in_order_until_their_turn_is_finished(store: Store) -> None:
    for n in range(3):
        await store.inbox.record(message(n), f"t{n}", 1.0)
    await store.inbox.finish_turn("t1", "answered", 2.0)
    assert [row.turn for row in await store.inbox.unfinished()] == ["t0", "t2"]


async def test_starts_are_counted_and_the_opening_rows_written_once(store: Store) -> None:
    row = (await store.inbox.record(message(1), "t", 1.0)).row
    opening = UserRow("hi", WHO, "1")
    assert (await store.transcript.begin(row.id, HERE, "t", 1.0, opening)).starts == 1
    assert (await store.transcript.begin(row.id, HERE, "t", 1.0, opening)).starts == 2
    assert [r.body for r in await store.transcript.turn_rows("t")] == [opening]
    await store.inbox.take_back_attempt("t")
    assert (await store.transcript.begin(row.id, HERE, "t", 1.0, opening)).starts == 2


async def test_a_message_joins_a_turn_once(store: Store) -> None:
    row = (await store.inbox.record(message(2, "also this"), "own", 1.0)).row
    said = UserRow("also this", WHO, "2", steered=True)
    assert await store.transcript.steer(row.id, HERE, "running", 1.0, said) is not None
    await store.inbox.finish_turn("running", "answered", 2.0)
    assert await store.inbox.unfinished() == []
    assert await store.transcript.steer(row.id, HERE, "another", 1.0, said) is None


async def test_a_call_has_one_result_whoever_writes_first(store: Store) -> None:
    written = await asyncio.gather(
        *(store.transcript.result(HERE, "t", 1.0, ResultRow("c1", "now", str(n))) for n in range(5))
    )
    assert sum(row is not None for row in written) == 1
    assert len(await store.transcript.turn_rows("t")) == 1


async def test_history_starts_behind_the_last_break_and_ends_before_the_turn(store: Store) -> None:
    await store.transcript.append(HERE, "old", 1.0, UserRow("forgotten", WHO, "1"), EndRow(StopReason.ANSWERED))
    await store.transcript.append(HERE, "new", 1.0, BreakRow())
    await store.transcript.append(HERE, "a", 1.0, UserRow("kept", WHO, "2"))
    mine = await store.transcript.append(HERE, "b", 1.0, UserRow("now", WHO, "3"))
    await store.transcript.append(HERE, "a", 1.0, EndRow(StopReason.ANSWERED))
    assert [row.turn for row in await store.transcript.history(HERE, mine[0].id, 50)] == ["a"]


async def test_a_draft_grows_and_goes_when_its_step_is_written(store: Store) -> None:
    for n, piece in enumerate(("Hel", "lo ", "wörld 你好")):
        await store.transcript.write_draft("t", 0, n, piece)
    assert await store.transcript.draft("t") == Draft(0, "Hello wörld 你好", 3)
    await store.transcript.append(HERE, "t", 1.0, StepRow(0, (TextBlock("Hello"),), "p/m", "end"))
    assert await store.transcript.draft("t") is None


async def test_new_text_of_this_life_ends_the_count_of_starts_and_text_in_place_of_the_old_does_not(
    store: Store,
) -> None:
    row = (await store.inbox.record(message(3), "t", 1.0)).row

    async def begun() -> int:
        return (await store.transcript.begin(row.id, HERE, "t", 1.0, UserRow("hi", WHO, "3"))).starts

    assert [await begun() for _ in range(2)] == [1, 2]
    await store.transcript.replace_draft("t", 0, 0, "Hel")
    assert await begun() == 3
    for n, piece in enumerate(("lo ", "world"), start=1):
        await store.transcript.write_draft("t", 0, n, piece)
    assert [await begun() for _ in range(2)] == [1, 2]


async def test_only_the_first_decision_counts(store: Store) -> None:
    card = ApprovalCard("abc", "c1", "note_write", "write", "writes", "{}", 100.0)
    await store.approvals.ask(Approval(card, "t", HERE, "web:owner", True, "f"))
    outcomes = await asyncio.gather(
        *(store.approvals.decide("abc", verb, verb, 5.0) for verb in ("deny", "once", "expired"))
    )
    assert sum(outcome is not None and outcome[1] for outcome in outcomes) == 1
    decided = await store.approvals.get("abc")
    assert decided is not None and decided.card.decision == "deny" and decided.card.decided_by == "deny"
    assert await store.approvals.decide("unknown", "once", "x", 5.0) is None


async def test_standing_permissions_hold_where_they_were_given(store: Store) -> None:
    for tool, verb in (("note_write", "chat"), ("shell", "always"), ("web_post", "once")):
        card = ApprovalCard(tool, "c1", tool, "write", "writes", "{}", 100.0)
        await store.approvals.ask(Approval(card, "t", HERE, "web:owner", True, "f"))
        await store.approvals.decide(tool, verb, "Ann", 1.0, "web:owner")
    assert await store.approvals.decide("web_post", "always", "Ann", 2.0, "web:owner")
    elsewhere = replace(HERE, chat="other")
    assert await store.approvals.permitted("note_write", HERE, "web:someone")
    assert not await store.approvals.permitted("note_write", elsewhere, "web:owner")
    assert await store.approvals.permitted("shell", elsewhere, "web:owner")
    assert not await store.approvals.permitted("shell", elsewhere, "web:someone")
    assert not await store.approvals.permitted("web_post", HERE, "web:owner")


async def test_a_started_call_is_known_as_started(store: Store) -> None:
    call = ToolCall("c1", "note_write", {"text": "x"})
    assert await store.calls.start("t", call, 1.0, durable=True)
    assert not await store.calls.start("t", call, 2.0, durable=True)
    assert await store.calls.started("t") == {"c1"}


async def test_the_ledger_of_parts(store: Store) -> None:
    await store.parts.intend("t", 0, 0, "h0")
    assert (await store.parts.load("t"))[0].ref is None
    await store.parts.record("t", 0, Ref("77"), "h1")
    await store.parts.seal("t", 0, 3900)
    await store.parts.intend("t", 1, 3900, "h2")
    first, second = await store.parts.load("t")
    assert (first.ref, first.end, first.accepted_hash, second.start, second.ref) == (Ref("77"), 3900, "h1", 3900, None)
    assert await store.parts.sealed_to("t") == 3900


async def test_chats_are_listed_newest_first_without_those_of_api_clients(store: Store) -> None:
    for chat in ("first", "second"):
        await store.transcript.append(Address("web", "main", chat), chat, 1.0, UserRow(f"about {chat}", WHO, "1"))
    api = Address("web", "main", "api-1")
    await store.transcript.append(api, "x", 1.0, GivenRow(()), UserRow("by a program", WHO, "1"))
    await store.transcript.append(Address("telegram", "main", "5"), "y", 1.0, UserRow("elsewhere", WHO, "1"))
    assert [(chat.address.chat, chat.title) for chat in await store.transcript.chats("web", "main", 10)] == [
        ("second", "about second"),
        ("first", "about first"),
    ]


async def test_usage_adds_up_by_model_and_person(store: Store) -> None:
    for person, usd in (("a", 0.5), ("a", None), ("b", 0.25)):
        await store.usage.add(10.0, "t", HERE, person, "p/m", Usage(100, 10), usd)
    (mine,) = await store.usage.since(5.0, "a")
    assert (mine.calls, mine.input_tokens, mine.usd, mine.unpriced) == (2, 200, 0.5, 1)
    assert await store.usage.since(11.0) == []


async def test_an_inbound_that_cannot_be_read_does_not_keep_the_others_from_being_answered(store: Store) -> None:
    for number in (1, 2):
        await store.inbox.record(message(number), f"t{number}", 1.0)
    await store.database.write(lambda db: db.execute("UPDATE inbox SET body = '{}' WHERE turn = 't1'"))
    assert [row.turn for row in await store.inbox.unfinished()] == ["t2"]


texts = st.text(max_size=60).map(storable)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts, lambda v: st.lists(v, max_size=3)
)
calls = st.builds(ToolCall, texts, texts, st.dictionaries(texts, json_values, max_size=4), texts)
blocks = st.one_of(
    st.builds(TextBlock, texts), st.builds(ThinkingBlock, texts, texts, texts), st.builds(CallBlock, calls)
)
images = st.builds(ImageBlock, texts, st.binary(max_size=30))
givens = st.builds(GivenRow, st.lists(st.builds(Message, st.just("user"), st.tuples(images)), max_size=2).map(tuple))


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.builds(StepRow, st.integers(0, 99), st.lists(blocks, max_size=4).map(tuple), texts, texts), givens))
def test_rows_survive_the_codec_unchanged(body: StepRow | GivenRow) -> None:
    assert BODY.validate_json(BODY.dump_json(body)) == body


@settings(max_examples=60, deadline=None)
@given(
    texts,
    texts,
    st.lists(st.builds(FileRef, texts, texts, texts, texts, st.none() | st.integers(0, 9)), max_size=2).map(tuple),
)
def test_inbounds_survive_the_codec_unchanged(text: str, quoted: str, files: tuple[FileRef, ...]) -> None:
    inbound = UserMessage("1", HERE, WHO, text, 1.5, files=files, quote=Quote(quoted), caller=CallerRequest(model=text))
    assert INBOUND.validate_json(INBOUND.dump_json(inbound)) == inbound
