from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from bot.brain.routing.examples import ExampleVectors
from tests.fakes.embedder import FakeEmbedder

TEXTS = ("a cat", "a dog", "a bird")


def vectors(embedder: FakeEmbedder, folder: Path, texts: tuple[str, ...] = TEXTS) -> ExampleVectors:
    return ExampleVectors(embedder, texts, folder)


async def test_they_are_computed_once_and_read_from_then_on(tmp_path: Path) -> None:
    embedder = FakeEmbedder("cat", "dog")
    first = vectors(embedder, tmp_path)
    computed, again = await asyncio.gather(first.get(), first.get())
    assert computed == again and len(embedder.asked) == 1
    later = FakeEmbedder("cat", "dog")
    assert list(await vectors(later, tmp_path).get()) == list(computed)
    assert later.asked == []


async def test_other_texts_or_another_embedder_are_computed_anew_and_the_old_file_goes(tmp_path: Path) -> None:
    await vectors(FakeEmbedder("cat"), tmp_path).get()
    other = vectors(FakeEmbedder("cat"), tmp_path, ("a fish",))
    assert len(await other.get()) == 1
    assert list(other.file.parent.iterdir()) == [other.file]
    named = FakeEmbedder("cat", "dog")
    named.name = "another"
    assert len((await vectors(named, tmp_path, ("a fish",)).get())[0]) == 3


@pytest.mark.parametrize("damage", [b"", b"\0" * 7, b"\0" * 100])
async def test_a_damaged_file_is_written_anew(tmp_path: Path, damage: bytes) -> None:
    sound = await vectors(FakeEmbedder("cat"), tmp_path).get()
    one = vectors(embedder := FakeEmbedder("cat"), tmp_path)
    one.file.write_bytes(damage)
    assert await one.get() == sound and len(embedder.asked) == 1
    assert list(await vectors(unasked := FakeEmbedder("cat"), tmp_path).get()) == list(sound)
    assert unasked.asked == []


async def test_a_folder_that_cannot_be_written_costs_the_file_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "cache").write_text("in the way")
    with caplog.at_level(logging.WARNING):
        assert len(await vectors(FakeEmbedder("cat"), tmp_path).get()) == 3
    assert len(caplog.records) == 1
