from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bot.brain.routing.catalogue import Slot, built_in
from bot.brain.routing.reader import KEPT, LEARN_AFTER_SECONDS, WAIT_SECONDS, Reader
from bot.brain.routing.reading import Asked, Reading
from bot.core.errors import ProviderFailed
from bot.core.ports import Vector
from tests.brain.routing.test_classify import CHEAP, DEAR, HOME, WISH, Desk, answers, desk
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import FakeEmbedder

SLOTS = (
    Slot("code", "programming", ("a program with a bug",), ("python",)),
    Slot("plan", "a plan", ("a trip to the sea",), ("itinerary",)),
    Slot("personal_info", "about oneself", ("the divorce",), ()),
)
NOTHING = Asked()
INTENT = Asked(frozenset({"intent"}), (DEAR, CHEAP))
COMPLEXITY = Asked(frozenset({"complexity"}), (DEAR, CHEAP))


def an_embedder() -> FakeEmbedder:
    return FakeEmbedder("program", "bug", "trip", "sea", "divorce")


def reader(
    folder: Path, embedder: FakeEmbedder | None, at: Desk | None = None, clock: FakeClock | None = None
) -> Reader:
    return Reader(
        lambda: SLOTS,
        embedder,
        folder,
        clock or FakeClock(),
        "UTC",
        (lambda slots: replace(at.classifier(), slots=slots)) if at is not None else (lambda slots: None),
    )


async def read(one: Reader, text: str, asked: Asked = INTENT) -> Reading:
    return await one(replace(WISH, text=text), asked)


async def test_where_nothing_depends_on_it_nothing_is_embedded_or_asked(tmp_path: Path) -> None:
    embedder, at = an_embedder(), desk(answers())
    found = await read(reader(tmp_path, embedder, at), "write some python about Ann Lee for tomorrow", NOTHING)
    assert (found.intent, found.complexity, found.privacy) == ("code", "medium", "public")
    assert found.parameters["names"] == "Ann Lee" and found.parameters["from"] == found.parameters["to"]
    assert (embedder.asked, at.provider.requests) == ([], [])


async def test_complexity_needs_no_vectors(tmp_path: Path) -> None:
    embedder = an_embedder()
    assert (await read(reader(tmp_path, embedder), "thanks", COMPLEXITY)).complexity == "simple"
    assert embedder.asked == []


async def test_an_intent_is_told_by_nearness(tmp_path: Path) -> None:
    found = await read(reader(tmp_path, an_embedder()), "the program that I wrote has another bug in it")
    assert found.intent == "code" and found.scores["code"] > 0.9


async def test_privacy_hangs_on_the_intent(tmp_path: Path) -> None:
    privacy = Asked(frozenset({"privacy"}))
    found = await read(reader(tmp_path, an_embedder()), "she talks of nothing but the divorce", privacy)
    assert (found.intent, found.privacy) == ("personal_info", "personal")


async def test_without_an_embedder_or_when_it_fails_words_tell(tmp_path: Path) -> None:
    assert (await read(reader(tmp_path, None), "an itinerary for two")).intent == "plan"
    embedder = an_embedder()
    embedder.failure = ProviderFailed("down")
    one = reader(tmp_path, embedder)
    text = "an itinerary by the sea"
    words = await read(one, text)
    assert words.intent == "plan"
    embedder.failure = None
    found = await read(one, text)
    assert found.scores != words.scores, "a failure is not remembered"


async def test_the_same_message_is_judged_once_however_it_is_spaced(tmp_path: Path) -> None:
    embedder = an_embedder()
    one = reader(tmp_path, embedder)
    first = await read(one, "the program has a bug")
    asked = len(embedder.asked)
    assert (await read(one, "  The PROGRAM has\na bug ")).scores == first.scores
    assert len(embedder.asked) == asked
    await read(one, "the program has a bug", Asked(frozenset({"intent", "privacy"})))
    assert len(embedder.asked) == asked + 1, "another question is another matter"
    for number in range(KEPT):
        await read(one, f"the program has {number} bugs")
    asked = len(embedder.asked)
    await read(one, "the program has a bug")
    assert len(embedder.asked) == asked + 1, "only so many are remembered"


async def test_the_small_model_is_asked_only_where_nearness_is_unsure(tmp_path: Path) -> None:
    at = desk(answers(intent="plan", complexity="complex"))
    one = reader(tmp_path, an_embedder(), at)
    assert (await read(one, "the program has a bug")).intent == "code"
    assert at.provider.requests == []
    found = await read(one, "the program of the trip")
    assert found.intent == "plan" and len(at.provider.requests) == 1
    assert set(found.scores) == {"code", "plan"}, "what nearness said stays to be seen"
    assert await read(one, "the program of the trip") == found and len(at.provider.requests) == 1


async def test_an_unsure_complexity_is_settled_a_sure_intent_stays(tmp_path: Path) -> None:
    at = desk(answers(intent="plan", complexity="complex"))
    both = Asked(frozenset({"intent", "complexity"}), (DEAR, CHEAP))
    found = await read(reader(tmp_path, an_embedder(), at), "the program has a bug, and then another one", both)
    assert (found.intent, found.complexity) == ("code", "complex")


async def test_the_small_model_never_makes_a_message_less_private(tmp_path: Path) -> None:
    at = desk(answers(privacy="public"), answers(privacy="secret"))
    one = reader(tmp_path, an_embedder(), at)
    assert (await read(one, "my password is hunter2, the program of the trip")).privacy == "secret"
    assert (await read(one, "the bug of the trip")).privacy == "secret"


async def test_a_failed_question_costs_the_answer_alone(tmp_path: Path) -> None:
    at = desk([ProviderFailed("down")])
    found = await read(reader(tmp_path, an_embedder(), at), "the program of the trip")
    assert set(found.scores) == {"code", "plan"} == {found.intent, *found.near}


class SlowEmbedder(FakeEmbedder):
    """Takes its time over the examples, until it is let."""

    def __init__(self, *words: str) -> None:
        super().__init__(*words)
        self.may = asyncio.Event()

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        if len(texts) > 1:
            await self.may.wait()
        return await super().embed(texts)


async def test_until_the_examples_are_learnt_words_tell_and_no_answer_waits_long_for_them(tmp_path: Path) -> None:
    embedder = SlowEmbedder("program", "bug", "trip", "sea", "divorce")
    one, loop = reader(tmp_path, embedder), asyncio.get_running_loop()
    async with asyncio.TaskGroup() as group:
        group.create_task(one.warm(INTENT))
        began = loop.time()
        words = await read(one, "a bug in the sea")
        assert loop.time() - began < WAIT_SECONDS + 1 and words.scores
        assert embedder.asked == []
        embedder.may.set()
    found = await read(one, "a bug in the sea")
    assert found.scores != words.scores and embedder.asked[-1] == ["a bug in the sea"], "that was not remembered"


async def test_what_it_may_be_as_well_is_said_and_makes_it_private(tmp_path: Path) -> None:
    found = await read(reader(tmp_path, an_embedder()), "bring trip trip trip divorce divorce")
    assert {found.intent, *found.near} == {"plan", "personal_info"} and found.privacy == "personal"
    verdict = desk(answers(intent="plan", privacy="public"))
    found = await read(reader(tmp_path, an_embedder(), verdict), "bring trip trip trip divorce divorce")
    assert (found.intent, found.near, found.privacy) == ("plan", ("personal_info",), "personal")


async def test_a_message_is_read_in_a_moment(tmp_path: Path) -> None:
    """Without its vector, of which the embedder's own tests tell."""
    one = Reader(built_in, None, tmp_path, FakeClock(), "UTC")
    await one.warm(INTENT)
    texts = [f"{text} {number}" for number, slot in enumerate(built_in()) for text in slot.examples[:20]]
    began = time.process_time()
    for text in texts:
        await read(one, text)
    assert (time.process_time() - began) / len(texts) < 0.005


async def test_warmed_up_the_first_message_embeds_itself_alone(tmp_path: Path) -> None:
    embedder = an_embedder()
    clock = FakeClock()
    one = reader(tmp_path, embedder, clock=clock)
    async with asyncio.TaskGroup() as group:
        warming = group.create_task(one.warm(NOTHING))
        await asyncio.sleep(0.05)
        assert not warming.done(), "what nothing depends on waits until the start is over"
        assert (await read(one, "the program has a bug", NOTHING)).intent in ("", "code")
        await clock.advance(LEARN_AFTER_SECONDS)
    assert embedder.asked == []
    await one.warm(INTENT)
    assert embedder.asked == [["a program with a bug", "a trip to the sea", "the divorce"]]
    await read(one, "the program has a bug")
    assert embedder.asked[1:] == [["the program has a bug"]]
    broken = an_embedder()
    broken.failure = ProviderFailed("down")
    await reader(tmp_path / "other", broken).warm(INTENT)


async def test_every_text_can_be_read(tmp_path: Path) -> None:
    slots = Reader(built_in, an_embedder(), tmp_path, FakeClock(), "Asia/Shanghai")
    asked = Asked(frozenset({"intent", "complexity", "privacy"}), (HOME,), private=True)
    await slots.warm(asked)
    for text in ("", " ", "\0", "x" * 50_000, "\ud800", "🙂"):
        assert (await slots(replace(WISH, text=text), asked)).privacy == "public"
