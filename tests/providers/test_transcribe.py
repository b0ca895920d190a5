"""Speech to text with the real library, against a server that checks the form it gets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from bot.core.errors import (
    KeyRefused,
    ModelMissing,
    ModelResting,
    ProviderError,
    ProviderFailed,
    ProviderUnreachable,
    RequestRefused,
)
from bot.core.model import Audio, ModelRef, Transcript, Usage
from bot.net.http import Transport
from bot.providers.discovery import entry
from bot.providers.models import Models
from tests.fakes.clock import FakeClock
from tests.sim.speech import SpeechSim

VOICE = Audio("voice.ogg", "audio/ogg", b"OggS" + bytes(range(256)) * 400)


class HastyClock(FakeClock):
    """Whoever sleeps is awake at once, and it is later."""

    async def sleep(self, seconds: float) -> None:
        self._now += seconds


@pytest.fixture
async def speech() -> AsyncIterator[SpeechSim]:
    async with SpeechSim() as running:
        yield running


@pytest.fixture
async def models(speech: SpeechSim) -> AsyncIterator[Models]:
    http = Transport()
    sections = {
        "ears": {"kind": "openai", "base_url": speech.url, "api_key": speech.key},
        "stranger": {"kind": "openai", "base_url": speech.url, "api_key": "sk-wrong-0123456789"},
        "nowhere": {"kind": "openai", "base_url": "http://127.0.0.1:9/v1", "api_key": "x"},
        "anthropic": {"api_key": "sk-ant-0123456789"},
    }
    entries = [entry(name, section) for name, section in sections.items()]
    made = Models(entries, HastyClock(), Random(7), Path("unused"), http)
    yield made
    await made.aclose()
    await http.aclose()


def ref(provider: str = "ears") -> ModelRef:
    return ModelRef(provider, "whisper-1")


async def test_what_was_said_comes_back_with_what_it_used(models: Models, speech: SpeechSim) -> None:
    speech.say("Buy milk. 买牛奶。")
    assert await models.transcribe(ref(), VOICE) == Transcript("Buy milk. 买牛奶。", Usage(14, 5))
    [sound] = speech.heard
    assert (sound.name, sound.media_type, sound.content) == ("voice.ogg", "audio/ogg", VOICE.data)
    assert sound.fields == {"model": "whisper-1", "response_format": "json"}
    assert speech.violations == []


async def test_silence_is_an_empty_transcript(models: Models, speech: SpeechSim) -> None:
    speech.say("")
    assert (await models.transcribe(ref(), VOICE)).text == ""


async def test_a_passing_failure_is_tried_once_more(models: Models, speech: SpeechSim) -> None:
    speech.say(503, "At last.")
    assert (await models.transcribe(ref(), VOICE)).text == "At last." and len(speech.heard) == 2


@pytest.mark.parametrize(
    ("provider", "answers", "error", "asked"),
    [
        ("ears", (500, 500), ProviderFailed, 2),
        ("ears", (400,), RequestRefused, 1),
        ("stranger", (), KeyRefused, 0),
        ("nowhere", (), ProviderUnreachable, 0),
        ("anthropic", (), ModelMissing, 0),
        ("nobody", (), ModelMissing, 0),
    ],
)
async def test_what_fails_is_an_error_of_the_house(
    models: Models, speech: SpeechSim, provider: str, answers: tuple[int, ...], error: type[ProviderError], asked: int
) -> None:
    speech.say(*answers)
    with pytest.raises(error) as caught:
        await models.transcribe(ref(provider), VOICE)
    assert len(speech.heard) == asked and "sk-" not in f"{caught.value} {caught.value.detail}"


async def test_a_key_that_was_refused_is_not_tried_with_the_next_voice_note(models: Models) -> None:
    with pytest.raises(KeyRefused):
        await models.transcribe(ref("stranger"), VOICE)
    assert [(one.provider, one.kind) for one in models.parked()] == [("stranger", "KeyRefused")]
    with pytest.raises(ModelResting):
        await models.transcribe(ref("stranger"), VOICE)
    await models.reset()
    with pytest.raises(KeyRefused):
        await models.transcribe(ref("stranger"), VOICE)
