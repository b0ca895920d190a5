"""Files between Discord and the whole daemon: what people send reaches the model, what the bot has reaches people."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bot.core.address import Address
from bot.core.errors import ChannelError, TooLong
from bot.core.events import Enclosed
from bot.core.view import OutFile, Ref
from tests.attachments import made
from tests.channels.discord.conftest import CONFIG, StartBot
from tests.channels.discord.stage import Stage, stage
from tests.sim.discord import Channel, DiscordSim, Person
from tests.sim.llm import LlmSim, answer, text
from tests.sim.speech import SpeechSim

VOICE_FLAG = 1 << 13
"""IS_VOICE_MESSAGE (discord-api-docs, message flags)."""
SEEING = CONFIG.replace("model: gpt-test,", "model: gpt-test, vision: true,")


def asked(llm: LlmSim) -> str:
    content: Any = llm.chats[-1].body["messages"][-1]["content"]
    return content if isinstance(content, str) else str(content)


async def test_files_of_one_message_are_read_and_seen(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(answer(text("A list and a dot.")))
    files = [
        ("list.txt", "text/plain", "milk 牛奶".encode()),
        ("p.png", "image/png", made.picture(kind="PNG")),
        ("x.zip", "application/zip", made.zipped({"a": "b"})),
    ]
    async with bot(SEEING):
        await discord.say(dm, ann, "what are these?", files=files)
        await discord.until(lambda sim: sim.bot_texts(dm))
        await discord.until(lambda sim: sim.bot_texts(dm) == ["A list and a dot.\n\nI cannot open files like “x.zip”."])
    said = asked(llm)
    assert "milk 牛奶" in said and "data:image/jpeg;base64," in said and said.index("milk") < said.index("p.png")


async def test_a_voice_message_is_answered(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(answer(text("Noon.")))
    async with SpeechSim() as speech:
        speech.say("What time is it?")
        ears = f'ears: {{{{kind: openai, api_key: {speech.key}, base_url: "{speech.url}"}}}}'
        config = CONFIG.replace("  local: off", f"  local: off\n  {ears}")
        config = config.replace("fallback: []", "fallback: [], transcribe: {{provider: ears, model: whisper-1}}")
        async with bot(config):
            voice = ("voice-message.ogg", "audio/ogg", b"OggS" + bytes(90))
            await discord.say(dm, ann, "", files=[voice], flags=VOICE_FLAG)
            await discord.until(lambda sim: sim.bot_texts(dm) == ["Noon."])
        assert speech.heard[0].name == "voice-message.ogg" and speech.violations == []
    assert asked(llm).startswith("<voice>\nWhat time is it?\n</voice>")


# out


async def sent(here: Stage, chat: Channel, path: Path, name: str, nonce: str = "t.f0") -> Ref:
    to = Address("discord", "main", str(chat.id))
    task = asyncio.ensure_future(here.channel.send_file(to, OutFile(name, "text/csv", str(path)), nonce))
    while not task.done():
        await here.clock.advance(1.0)
    return task.result()


async def test_a_file_is_a_message_and_sent_again_it_is_the_same_one(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"a,b\n")
    async with stage() as here:
        dm = here.sim.dm(here.sim.person(7, "Ann"))
        refs = [await sent(here, dm, path, '表 "q".csv') for _ in range(2)]
        [shown] = here.sim.visible(dm)
        assert refs[0] == refs[1] and len(shown.attachments) == 1
        assert (shown.attachments[0]["filename"], shown.attachments[0]["size"]) == ('表 "q".csv', 4)


async def test_what_is_too_large_or_gone_is_not_tried(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_bytes(bytes(10 * 1024 * 1024 + 1))
    async with stage() as here:
        dm = here.sim.dm(here.sim.person(7, "Ann"))
        with pytest.raises(TooLong):
            await sent(here, dm, path, "huge.bin")
        with pytest.raises(ChannelError):
            await sent(here, dm, tmp_path / "no", "gone.txt")
        assert [call for call in here.sim.calls if call.method == "POST"] == []
        path.write_bytes(bytes(10 * 1024 * 1024))
        await sent(here, dm, path, "fits.bin")
        assert len(here.sim.visible(dm)) == 1


async def test_files_follow_the_answer_and_a_refused_one_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"a,b\n")
    files = tuple(OutFile(name, "text/csv", str(tmp_path / name)) for name in ("gone.csv", "a.csv"))
    async with stage() as here:
        dm = here.sim.dm(here.sim.person(7, "Ann"))
        turn = here.turn(dm)
        turn.say("Here they are.")
        turn.publisher.emit(Enclosed(files))
        turn.end()
        await turn.delivered(30)
        shown = [
            message.attachments[0]["filename"] if message.attachments else message.text
            for message in here.sim.visible(dm)
        ]
        sentence = "I could not send you “gone.csv”: the file is gone, or there is nothing in it."
        assert shown == ["Here they are.", sentence, "a.csv"]
