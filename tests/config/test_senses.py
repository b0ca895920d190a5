"""Who sees pictures and who writes speech down, as the file says it and as the vendors do."""

from __future__ import annotations

import pytest

from bot.config.model_entry import ModelEntry
from tests.config.conftest import Complain, Load

WHISPER = "openai/whisper-1"


@pytest.mark.parametrize(
    ("llm", "listener"),
    [
        ("{}", "openai/gpt-4o-mini-transcribe"),
        ("{default: openai/gpt-5.4}", "openai/gpt-4o-mini-transcribe"),
        ("{default: {provider: openai, model: gpt-5.4}}", "openai/gpt-4o-mini-transcribe"),
        ("{default: anthropic/claude-sonnet-5-5}", None),
        (f"{{default: anthropic/claude-sonnet-5-5, transcribe: {WHISPER}}}", WHISPER),
        (f"{{transcribe: {WHISPER}}}", WHISPER),
        ("{transcribe: off}", None),
        ("{transcribe: none}", None),
    ],
)
def test_who_writes_speech_down(read: Load, llm: str, listener: str | None) -> None:
    """Whoever names a default model has not agreed to another vendor's ears."""
    entry = read(f"brain: {{llm: {llm}}}").brain.llm.transcribe
    assert (str(entry.ref()) if entry else None) == listener


@pytest.mark.parametrize(
    ("transcribe", "complaint"),
    [
        (
            "anthropic/claude-haiku-5-5",
            "brain.llm.transcribe.provider: writes no speech down; one of the kind openai may",
        ),
        ("nobody/whisper-1", 'brain.llm.transcribe.provider: no provider is called "nobody"'),
        ("whisper-1", "brain.llm.transcribe: must be a section with provider and model"),
    ],
)
def test_a_wrong_listener_is_named(complaints: Complain, transcribe: str, complaint: str) -> None:
    [line] = complaints(f"brain: {{llm: {{transcribe: {transcribe}}}}}")
    assert complaint in line


@pytest.mark.parametrize(
    ("entry", "sees"),
    [
        (ModelEntry(provider="anthropic", model="claude-haiku-5-5"), True),
        (ModelEntry(provider="anthropic", model="claude-haiku-5-5", vision=False), False),
        (ModelEntry(provider="openai", model="gpt-5.4-mini"), True),
        (ModelEntry(provider="openai", model="gpt-4o"), True),
        (ModelEntry(provider="openai", model="gpt-3.5-turbo"), False),
        (ModelEntry(provider="openai", model="gpt-4-0613"), False),
        (ModelEntry(provider="openai", model="o3-mini"), False),
        (ModelEntry(provider="openai", model="qwen3", endpoint="http://lab:8000/v1"), False),
        (ModelEntry(provider="mylab", model="gpt-5.4"), False),
        (ModelEntry(provider="mylab", model="qwen3-vl", vision=True), True),
        (ModelEntry(provider="ollama", model="llava"), False),
        (ModelEntry(provider="ollama", model="llava", vision=True), True),
        (ModelEntry(provider="local", model="auto"), False),
    ],
)
def test_who_sees_pictures(read: Load, entry: ModelEntry, sees: bool) -> None:
    config = read('providers: {mylab: {kind: openai, base_url: "http://lab:8000/v1"}}')
    assert config.ref(entry).vision is sees
