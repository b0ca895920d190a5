"""Who asks for one sentence gets one."""

from __future__ import annotations

import pytest

from bot.core.model import ModelEvent, ModelStop, ModelStopReason, ModelText
from bot.providers.local.sentence import OneSentence, wants_one_sentence


class Answer:
    """Each fed payload is a piece of text; the end is a stop."""

    complete = closed = False

    def feed(self, payload: str) -> list[ModelEvent]:
        return [ModelText(payload)]

    def end(self) -> list[ModelEvent]:
        return [ModelStop(ModelStopReason.MAX_TOKENS)]


def heard(text: str, size: int) -> str:
    stream = OneSentence(Answer())
    events: list[ModelEvent] = []
    for start in range(0, len(text), size):
        events += stream.feed(text[start : start + size])
        if stream.closed:
            break
    if not stream.closed:
        events += stream.end()
    assert isinstance(events[-1], ModelStop)
    assert events[-1].reason is (ModelStopReason.END if stream.closed else ModelStopReason.MAX_TOKENS)
    return "".join(event.text for event in events if isinstance(event, ModelText))


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("It opened in 1931. Today it lends books.", "It opened in 1931."),
        ("It cost 1.5 million dollars in the town. It is new.", "It cost 1.5 million dollars in the town."),
        ("镇上的图书馆重建了。如今它借出四万本书。", "镇上的图书馆重建了。"),
        ("A library was rebuilt\n\nIt lends books", "A library was rebuilt"),
        ("A library was rebuilt by J. Smith and others", "A library was rebuilt by J. Smith and others"),
        ("Sure! The library was rebuilt. It lends books.", "Sure! The library was rebuilt."),
    ],
)
def test_the_answer_ends_with_its_first_sentence(text: str, first: str, size: int) -> None:
    assert heard(text, size).rstrip() == first


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("Summarise this paragraph in one sentence: It rained.", True),
        ("Explain it in a single short sentence", True),
        ("请用一句话概括下面这段话：下雨了。", True),
        ("一句话总结：下雨了", True),
        ("Summarise this paragraph: It rained.", False),
        ("Translate this sentence into Chinese: It rained.", False),
        ("请把这句话翻译成英文：下雨了。", False),
        ("What is a sentence?", False),
    ],
)
def test_only_where_one_is_asked_for(words: str, wanted: bool) -> None:
    assert wants_one_sentence(words) is wanted
