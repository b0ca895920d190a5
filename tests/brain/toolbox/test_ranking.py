"""Tools are found by what they are for, in whatever words and language."""

from __future__ import annotations

import time
from array import array
from pathlib import Path
from random import Random

import pytest

from bot.brain.toolbox.ranking import Ranking, spoken
from bot.core.errors import ProviderUnreachable
from bot.core.ports import Vector
from bot.memory.embedding import EmbeddedEmbedder, is_installed
from tests.brain.toolbox.shop import STOCK
from tests.fakes.embedder import FakeEmbedder

ABOUT = {name: tool.spec.description for name, tool in STOCK.items()}
SMALL = {"boil_egg": "Cook an egg.", "feedCat": "Give the cat its dinner.", "walk-dog": "Take the dog out."}


@pytest.mark.parametrize("name", ["file_read", "fileRead", "file-read", "file.read"])
def test_names_are_read_as_words(name: str) -> None:
    assert spoken(name).lower() == "file read"


async def test_words_alone_tell_until_the_vectors_are_there(tmp_path: Path) -> None:
    ranking = Ranking(SMALL, FakeEmbedder("egg", "cat", "dog"), tmp_path)
    found = await ranking.of("cooking eggs for the guests")
    assert found.names[0] == "boil_egg" and found.near
    assert not (await ranking.of("the capital of Peru")).near


async def test_vectors_find_what_shares_no_word(tmp_path: Path) -> None:
    embedder = FakeEmbedder("cat", "dog")
    embedder.meaning = {"kitten": "cat"}
    ranking = Ranking(SMALL, embedder, tmp_path)
    await ranking.warm()
    found = await ranking.of("my kitten is hungry")
    assert found.names[0] == "feedCat" and found.sure


async def test_the_vectors_are_reckoned_once(tmp_path: Path) -> None:
    await Ranking(SMALL, FakeEmbedder("cat"), tmp_path).warm()
    later = FakeEmbedder("cat")
    ranking = Ranking(SMALL, later, tmp_path)
    await ranking.warm()
    assert later.asked == []
    await Ranking({**SMALL, "sing": "Sing a song."}, later, tmp_path).warm()
    assert all("dog" not in text for batch in later.asked for text in batch)


async def test_an_embedder_that_fails_costs_the_vectors_alone(tmp_path: Path) -> None:
    embedder = FakeEmbedder("cat")
    embedder.failure = ProviderUnreachable("no")
    ranking = Ranking(SMALL, embedder, tmp_path)
    await ranking.warm()
    assert (await ranking.of("walk the dog")).names[0] == "walk-dog"
    embedder.failure = None
    await ranking.warm()
    embedder.failure = ProviderUnreachable("no")
    assert (await ranking.of("walk the dog")).names[0] == "walk-dog"


@pytest.mark.parametrize("said", ["", "   ", "and the other one?", "谢谢", "好的", "\ud800", "!" * 50_000])
async def test_what_says_nothing_by_itself_finds_nothing(said: str) -> None:
    assert not (await Ranking(ABOUT, None, None).of(said)).near


async def test_of_nothing_nothing_is_found() -> None:
    ranking = Ranking({}, FakeEmbedder("a"), None)
    await ranking.warm()
    assert (await ranking.of("anything")).names == ()


embedded = pytest.mark.skipif(not is_installed(), reason="the package with the embedded model is not installed")


SAID = {
    "Will I need an umbrella in Bergen tomorrow?": "weather",
    "明天上海会下雨吗": "weather",
    "我的快递到哪里了？": "parcel",
    "Wo bleibt mein Paket?": "parcel",
    "帮我查一下去东京的机票": "flight",
    "Wer kommt alles zu der Besprechung am Dienstag?": "calendar",
}


@embedded
async def test_english_descriptions_are_found_in_other_words_and_languages(tmp_path: Path) -> None:
    """By the embedded model, over a part of the shop for the sake of time."""
    embedder = EmbeddedEmbedder()
    subjects = ("weather", "parcel", "flight", "calendar", "recipe", "share", "music", "server")
    ranking = Ranking(
        {subject: ABOUT[f"{subject}_list"].partition(". ")[0] for subject in subjects}, embedder, tmp_path
    )
    await ranking.warm()
    for said, subject in SAID.items():
        found = await ranking.of(said)
        assert subject in found.names[:2], (said, found.names)
    await embedder.aclose()


class RandomEmbedder(FakeEmbedder):
    """Vectors as long as those of the embedded model."""

    def _vector(self, text: str) -> Vector:
        numbers = Random(text)
        return array("f", (numbers.gauss(0, 0.044) for _ in range(512)))


async def test_choosing_among_two_hundred_costs_less_than_fifteen_milliseconds(tmp_path: Path) -> None:
    """Beside the vector of the message, which its intent needs as well."""
    ranking = Ranking(ABOUT, RandomEmbedder(), tmp_path)
    await ranking.warm()
    began = time.process_time()
    for number in range(20):
        assert (await ranking.of(f"Where is parcel number {number}, and when will it be here at last?")).names
    assert (time.process_time() - began) / 20 < 0.015
