from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from bot.brain.routing.catalogue import Slot
from bot.brain.routing.examples import CHUNK, Examples
from bot.memory.likeness import Likeness
from tests.fakes.embedder import FakeEmbedder

SLOTS = (Slot("cats", "", ("a cat", "my cat")), Slot("dogs", "", ("a dog",)))


def examples(embedder: FakeEmbedder, folder: Path, slots: tuple[Slot, ...] = SLOTS) -> Examples:
    return Examples(embedder, slots, folder)


def same(one: Likeness, other: Likeness) -> bool:
    return bool((one.vectors == other.vectors).all() and (one.weights == other.weights).all())


async def test_they_are_learnt_once_and_read_from_then_on(tmp_path: Path) -> None:
    embedder = FakeEmbedder("cat", "dog")
    first = examples(embedder, tmp_path)
    learnt, again = await asyncio.gather(first.get(), first.get())
    assert learnt is again is first.known and len(embedder.asked) == 1
    later = FakeEmbedder("cat", "dog")
    read = await examples(later, tmp_path).get()
    assert same(read, learnt) and later.asked == []
    vector = (await later.embed(["cat"]))[0]
    assert read.scores(vector) == learnt.scores(vector)


async def test_other_texts_slots_or_another_embedder_are_learnt_anew_and_the_old_file_goes(tmp_path: Path) -> None:
    await examples(FakeEmbedder("cat"), tmp_path).get()
    other = examples(FakeEmbedder("cat"), tmp_path, (SLOTS[0], Slot("dogs", "", ("a fish",))))
    await other.get()
    assert list(other.file.parent.iterdir()) == [other.file]
    moved = examples(FakeEmbedder("cat"), tmp_path, (replace(SLOTS[0], name="pets"), SLOTS[1]))
    assert moved.file != other.file
    named = FakeEmbedder("cat", "dog")
    named.name = "another"
    assert (await examples(named, tmp_path).get()).vectors.shape == (3, 3)
    assert len(named.asked) == 1


@pytest.mark.parametrize("damage", [b"", b"\0" * 7, b"\0" * 100])
async def test_a_damaged_file_is_written_anew(tmp_path: Path, damage: bytes) -> None:
    sound = await examples(FakeEmbedder("cat"), tmp_path).get()
    one = examples(embedder := FakeEmbedder("cat"), tmp_path)
    one.file.write_bytes(damage)
    assert same(await one.get(), sound) and len(embedder.asked) == 1
    assert same(await examples(unasked := FakeEmbedder("cat"), tmp_path).get(), sound)
    assert unasked.asked == []


async def test_a_folder_that_cannot_be_written_costs_the_file_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "cache").write_text("in the way")
    with caplog.at_level(logging.WARNING):
        assert (await examples(FakeEmbedder("cat"), tmp_path).get()).vectors.shape == (3, 2)
    assert len(caplog.records) == 1


class SlowEmbedder(FakeEmbedder):
    """Answers only once it is let."""

    def __init__(self, *words: str) -> None:
        super().__init__(*words)
        self.may = asyncio.Semaphore(0)

    async def embed(self, texts: object) -> object:  # type: ignore[override]
        await self.may.acquire()
        return await super().embed(texts)  # type: ignore[arg-type]


async def test_whoever_stops_waiting_loses_nothing_that_was_embedded(tmp_path: Path) -> None:
    embedder = SlowEmbedder("cat")
    one = examples(embedder, tmp_path, (Slot("many", "", tuple(f"cat {n}" for n in range(CHUNK + 1))), SLOTS[1]))
    embedder.may.release()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await one.get()
    assert one.known is None and [len(texts) for texts in embedder.asked] == [CHUNK]
    embedder.may.release()
    await one.get()
    assert [len(texts) for texts in embedder.asked] == [CHUNK, 2]
