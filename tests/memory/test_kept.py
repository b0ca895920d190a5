from __future__ import annotations

import logging
from pathlib import Path

import pytest

from bot.core.errors import ProviderUnreachable
from bot.memory.kept import AT_ONCE, FOLDER, KeptVectors
from tests.fakes.embedder import FakeEmbedder

TEXTS = ["a cat", "a dog", "a bird", "a cat"]


def kept(embedder: FakeEmbedder, folder: Path | None) -> KeptVectors:
    return KeptVectors(embedder, folder, "tools")


async def test_they_are_computed_once_and_read_from_then_on(tmp_path: Path) -> None:
    embedder, later = FakeEmbedder("cat", "dog"), FakeEmbedder("cat", "dog")
    computed = await kept(embedder, tmp_path).of(TEXTS)
    assert embedder.asked == [["a cat", "a dog", "a bird"]] and computed[0] == computed[3] != computed[1]
    assert await kept(later, tmp_path).of(TEXTS) == computed
    assert later.asked == []


async def test_only_what_is_new_is_computed_and_what_is_not_asked_for_goes(tmp_path: Path) -> None:
    await kept(FakeEmbedder("cat"), tmp_path).of(TEXTS)
    later = FakeEmbedder("cat")
    await kept(later, tmp_path).of(["a cat", "a fish"])
    assert later.asked == [["a fish"]]
    last = FakeEmbedder("cat")
    await kept(last, tmp_path).of(["a dog", "a fish"])
    assert last.asked == [["a dog"]]


async def test_those_of_another_embedder_are_others(tmp_path: Path) -> None:
    await kept(FakeEmbedder("cat"), tmp_path).of(TEXTS)
    other = FakeEmbedder("cat", "dog")
    other.name = "other"
    assert len((await kept(other, tmp_path).of(TEXTS))[0]) == 3
    assert len(list((tmp_path / FOLDER).iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"\0" * 7, b"\0" * 100, None])
async def test_a_damaged_file_is_written_anew(tmp_path: Path, damage: bytes | None) -> None:
    sound = await kept(FakeEmbedder("cat"), tmp_path).of(TEXTS)
    (file,) = (tmp_path / FOLDER).iterdir()
    file.write_bytes(file.read_bytes()[:-1] if damage is None else damage)
    assert await kept(FakeEmbedder("cat"), tmp_path).of(TEXTS) == sound
    unasked = FakeEmbedder("cat")
    assert await kept(unasked, tmp_path).of(TEXTS) == sound and unasked.asked == []


async def test_a_folder_that_cannot_be_written_costs_the_file_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FOLDER).write_text("in the way")
    with caplog.at_level(logging.WARNING):
        assert len(await kept(FakeEmbedder("cat"), tmp_path).of(TEXTS)) == 4
    assert len(caplog.records) == 1


async def test_without_a_folder_they_are_computed_and_a_few_at_a_time() -> None:
    embedder = FakeEmbedder("cat")
    await kept(embedder, None).of([f"text {number}" for number in range(20)])
    assert [len(batch) for batch in embedder.asked] == [AT_ONCE, AT_ONCE, 20 - 2 * AT_ONCE]


async def test_what_keeps_the_embedder_from_it_is_told(tmp_path: Path) -> None:
    embedder = FakeEmbedder("cat")
    embedder.failure = ProviderUnreachable("no")
    with pytest.raises(ProviderUnreachable):
        await kept(embedder, tmp_path).of(TEXTS)
    assert await kept(FakeEmbedder("cat"), tmp_path).of([]) == []
