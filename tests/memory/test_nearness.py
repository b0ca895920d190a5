from __future__ import annotations

import asyncio
import math

import pytest

from bot.core.errors import ProviderUnreachable
from bot.memory.embedding import KEPT, MOST_CHARS, EmbeddedEmbedder, is_installed
from bot.memory.nearness import WordIndex, cosine, mixed, similarities, spread, words

pytestmark = pytest.mark.skipif(not is_installed(), reason="the embedded embedder is not installed")

TEXTS = ["What will the weather be tomorrow?", "明天天气怎么样？", "Please write a function that sorts a list"]


@pytest.fixture(scope="module")
def embedder() -> EmbeddedEmbedder:
    return EmbeddedEmbedder()


async def test_the_same_question_in_two_languages_is_nearer_than_another_question(embedder: EmbeddedEmbedder) -> None:
    english, chinese, code = await embedder.embed(TEXTS)
    assert cosine(english, chinese) > cosine(english, code) + 0.2
    assert similarities(english, [english, chinese, code]) == pytest.approx(
        [1.0, cosine(english, chinese), cosine(english, code)], abs=1e-5
    )
    assert math.isclose(sum(x * x for x in english), 1.0, abs_tol=1e-4)


async def test_odd_texts_have_vectors_and_long_ones_cost_no_more_than_their_beginning(
    embedder: EmbeddedEmbedder,
) -> None:
    long = "word " * 10_000
    vectors = await embedder.embed(["", "\x00", long, long[:MOST_CHARS]])
    assert {len(vector) for vector in vectors} == {512}
    assert vectors[2] == vectors[3]


async def test_a_text_is_embedded_once_and_the_loop_goes_on_meanwhile(embedder: EmbeddedEmbedder) -> None:
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(beat())
        first = await embedder.embed([f"number {n}" for n in range(40)])
        task.cancel()
    assert beats > 10
    assert (await embedder.embed(["number 7"]))[0] is first[7]
    assert len(embedder._kept) <= KEPT


async def test_once_it_is_closed_it_says_so_and_what_was_asked_before_ends() -> None:
    fresh = EmbeddedEmbedder()
    task = asyncio.ensure_future(fresh.embed([f"number {n}" for n in range(200)]))
    await asyncio.sleep(0)
    await fresh.aclose()
    async with asyncio.timeout(20):
        (ended,) = await asyncio.gather(task, return_exceptions=True)
    assert isinstance(ended, ProviderUnreachable | asyncio.CancelledError)
    with pytest.raises(ProviderUnreachable):
        await fresh.embed(["anything"])


async def test_it_is_loaded_beside_when_it_is_first_asked_whether_it_is_ready() -> None:
    fresh = EmbeddedEmbedder()
    assert not fresh.ready()
    async with asyncio.timeout(20):
        while not fresh.ready():
            await asyncio.sleep(0.05)
    await fresh.aclose()


def test_words_of_both_scripts() -> None:
    assert words("Red-fox-42 sees 天气 today") == ["red-fox-42", "sees", "天", "气", "天气", "today"]
    assert words("天 气") == ["天", "气"]
    assert words("…!?") == []


def test_the_text_with_the_rare_word_comes_first() -> None:
    index = WordIndex(["the cat sat", "the dog sat", "the red-fox-42 sat"])
    scores = index.scores("the red-fox-42")
    assert scores.index(max(scores)) == 2
    assert index.scores("nothing in common") == [0, 0, 0]
    assert WordIndex([]).scores("x") == []


def test_scores_are_mixed_after_they_are_spread() -> None:
    assert spread([2.0, 4.0, 3.0]) == [0.0, 1.0, 0.5]
    assert spread([1.0, 1.0]) == [0.0, 0.0]
    assert mixed([0.1, 0.2], [5.0, 0.0]) == pytest.approx([0.3, 0.7])
