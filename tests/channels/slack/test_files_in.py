"""Files that people send in Slack reach the model."""

from __future__ import annotations

from typing import Any

import pytest

from tests.attachments import made
from tests.channels.slack.conftest import CONFIG, StartBot
from tests.sim.llm import LlmSim, answer, text
from tests.sim.slack import Channel, Person, SlackSim
from tests.sim.speech import SpeechSim

SEEING = CONFIG.replace("model: gpt-test,", "model: gpt-test, vision: true,")


@pytest.fixture
def ann(slack: SlackSim) -> Person:
    return slack.person("U0ANN", "Ann")


@pytest.fixture
def dm(slack: SlackSim, ann: Person) -> Channel:
    return slack.dm(ann)


def asked(llm: LlmSim) -> str:
    content: Any = llm.chats[-1].body["messages"][-1]["content"]
    return content if isinstance(content, str) else str(content)


async def test_files_of_one_message_are_read_and_seen(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, dm: Channel
) -> None:
    llm.script(answer(text("A list and a dot.")))
    files = [
        ("list.txt", "text/plain", "milk 牛奶".encode()),
        ("p.png", "image/png", made.picture(kind="PNG")),
        ("x.zip", "application/zip", made.zipped({"a": "b"})),
    ]
    async with bot(config=SEEING):
        await slack.say(dm, ann, "what are these?", files=files)
        await slack.until(lambda sim: sim.bot_texts(dm) == ["A list and a dot.\n\nI cannot open files like “x.zip”."])
    said = asked(llm)
    assert "milk 牛奶" in said and "data:image/jpeg;base64," in said and said.index("milk") < said.index("p.png")


@pytest.mark.parametrize(
    "clip", [("audio_message.webm", "audio/webm", b"\x1aE\xdf\xa3"), ("clip.mp4", "video/mp4", b"")]
)
async def test_a_clip_that_was_recorded_in_the_chat_is_heard_as_its_senders_words(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, dm: Channel, clip: tuple[str, str, bytes]
) -> None:
    """Slack may call its container a film."""
    name, kind, head = clip
    content = (head or b"\x00\x00\x00\x18ftypmp42") + bytes(90)
    llm.script(answer(text("Noon.")))
    async with SpeechSim() as speech:
        speech.say("What time is it?")
        ears = f'ears: {{{{kind: openai, api_key: {speech.key}, base_url: "{speech.url}"}}}}'
        config = CONFIG.replace("  local: off", f"  local: off\n  {ears}")
        config = config.replace("fallback: []", "fallback: [], transcribe: {{provider: ears, model: whisper-1}}")
        async with bot(config=config):
            await slack.say(dm, ann, "", files=[(name, kind, content)], spoken=True)
            await slack.until(lambda sim: sim.bot_texts(dm) == ["Noon."])
        assert len(speech.heard) == 1 and speech.violations == []
    assert asked(llm).startswith("<voice>\nWhat time is it?\n</voice>")


async def test_a_film_is_no_clip(bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, dm: Channel) -> None:
    async with bot():
        await slack.say(dm, ann, "", files=[("holiday.mp4", "video/mp4", b"\x00\x00\x00\x18ftypmp42" + bytes(90))])
        await slack.until(lambda sim: sim.bot_texts(dm) == ["I cannot open files like “holiday.mp4”."])
    assert llm.chats == []
