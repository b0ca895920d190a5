from __future__ import annotations

from array import array

import pytest

from bot.core.ports import Vector
from bot.memory.likeness import ENOUGH, Likeness
from tests.fakes.embedder import FakeEmbedder

EMBEDDER = FakeEmbedder("cat", "dog", "bird")


async def vectors(*texts: str) -> list[Vector]:
    return list(await EMBEDDER.embed(texts))


async def scores(likeness: Likeness, text: str) -> tuple[list[float], float]:
    return likeness.scores((await vectors(text))[0])


async def test_the_kind_of_the_likest_examples_is_ahead_by_about_one() -> None:
    likeness = Likeness.learnt(
        await vectors(*["cat"] * ENOUGH, *["dog"] * ENOUGH), [0] * ENOUGH + [1] * ENOUGH, 2, [False] * 2 * ENOUGH
    )
    found, _ = await scores(likeness, "cat")
    assert found[0] - found[1] == pytest.approx(1.0, abs=0.05)
    found, _ = await scores(likeness, "cat cat cat dog")
    assert 0.2 < found[0] - found[1] < 1.0
    found, _ = await scores(likeness, "nothing of the kind")
    assert found[0] == pytest.approx(found[1], abs=0.01)


async def test_how_marked_it_is_is_learnt_beside_whatever_the_kind() -> None:
    texts = await vectors(*["cat"] * 5, *["dog"] * 5)
    likeness = Likeness.learnt(texts, [0, 1] * 5, 2, [True] * 5 + [False] * 5)
    assert (await scores(likeness, "cat"))[1] > 0.9
    assert (await scores(likeness, "dog"))[1] < 0.1


async def test_a_kind_of_few_examples_holds_its_own_beside_one_of_many() -> None:
    many = ["cat cat dog", "cat", "cat bird"] * ENOUGH
    likeness = Likeness.learnt(await vectors(*many, "dog"), [0] * len(many) + [1], 2, [False] * (len(many) + 1))
    found, _ = await scores(likeness, "dog dog cat")
    assert found[1] > found[0], "nearer to the one example than to the many"
    found, _ = await scores(likeness, "cat and a bird")
    assert found[0] > found[1]


async def test_kinds_without_examples_have_a_score_too() -> None:
    found, _ = await scores(Likeness.learnt(await vectors("cat"), [1], 3, [False]), "cat")
    assert len(found) == 3 and found.index(max(found)) == 1
    assert Likeness.learnt(await vectors("cat"), [0], 1, [False]).scores(array("f", [0, 0, 0, 1]))


async def test_it_is_the_same_when_it_was_written_and_read() -> None:
    learnt = Likeness.learnt(await vectors("cat", "dog"), [0, 1], 2, [True, False])
    content = learnt.written()
    read = Likeness.read(content, [0, 1], 2)
    assert read is not None and await scores(read, "a cat") == await scores(learnt, "a cat")
    for wrong in (b"", content[:-1], content[:-4], content[: 6 * 4]):
        assert Likeness.read(wrong, [0, 1], 2) is None
