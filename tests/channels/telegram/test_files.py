"""Files between Telegram and the whole daemon: what people send reaches the model, what the bot has reaches people."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from bot.core.address import Address
from bot.core.errors import ChannelError, TooLong
from bot.core.events import Enclosed
from bot.core.view import OutFile, Ref
from tests.attachments import made
from tests.channels.telegram.conftest import CONFIG, StartBot
from tests.channels.telegram.stage import Stage, stage
from tests.sim.llm import LlmSim, answer, text
from tests.sim.speech import SpeechSim
from tests.sim.telegram import TelegramSim
from tests.sim.telegram.nouns import Chat, Person

VOICE = b"OggS" + bytes(range(200))


@pytest.fixture
async def speech() -> AsyncIterator[SpeechSim]:
    async with SpeechSim() as running:
        yield running
        assert running.violations == []


@pytest.fixture
def ann(telegram: TelegramSim) -> Person:
    return telegram.person(7, "Ann")


@pytest.fixture
def chat(telegram: TelegramSim, ann: Person) -> Chat:
    return telegram.private(ann)


SEEING = CONFIG.replace("model: gpt-test,", "model: gpt-test, vision: true,")


def hearing(speech: SpeechSim) -> str:
    ears = f'ears: {{{{kind: openai, api_key: {speech.key}, base_url: "{speech.url}"}}}}'
    config = CONFIG.replace("  local: off", f"  local: off\n  {ears}")
    return config.replace("fallback: []", "fallback: [], transcribe: {{provider: ears, model: whisper-1}}")


def asked(llm: LlmSim, number: int = -1) -> tuple[str, list[bytes]]:
    """The text and the pictures of the last message of a request."""
    content: Any = llm.chats[number].body["messages"][-1]["content"]
    if isinstance(content, str):
        return content, []
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    pictures = [base64.b64decode(url.removeprefix("data:image/jpeg;base64,")) for url in urls]
    return "\n".join(part["text"] for part in content if part["type"] == "text"), pictures


async def told(telegram: TelegramSim, chat: Chat, *texts: str) -> None:
    await telegram.until(lambda sim: sim.bot_texts(chat) == list(texts))


async def test_a_photo_is_seen_with_its_caption(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, chat: Chat, ann: Person
) -> None:
    llm.script(answer(text("A dot.")))
    async with bot(SEEING):
        await telegram.say(chat, ann, "what is it?", caption_photo=True)
        await told(telegram, chat, "A dot.")
    said, [picture] = asked(llm)
    assert said.startswith("what is it?\n\n<file>\nphoto.jpg (image/jpeg): this picture")
    assert Image.open(io.BytesIO(picture)).format == "JPEG"


async def test_a_document_is_read_with_its_caption(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, chat: Chat, ann: Person
) -> None:
    llm.script(answer(text("900.")))
    document = ("租约.docx", "application/msword", made.docx("Rent: 900", heading="Lease"))
    async with bot():
        await telegram.say(chat, ann, "the rent?", document=document)
        await told(telegram, chat, "900.")
    said, _ = asked(llm)
    assert said.startswith("the rent?\n\n<file>\n租约.docx (application/msword)\n\n# Lease\n\nRent: 900\n</file>")


async def test_b103_a_document_over_the_limit_is_not_fetched_and_its_caption_is_answered(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, chat: Chat, ann: Person
) -> None:
    llm.script(answer(text("It is too large.")))
    document: Any = ("film.pdf", "application/pdf", b"%PDF-", 60 * 1024 * 1024)
    sentence = "“film.pdf” is too large for me: I take files of up to 20 MB."
    async with bot():
        await telegram.say(chat, ann, "summarise this", document=document)
        await told(telegram, chat, f"It is too large.\n\n{sentence}")
    assert asked(llm)[0].startswith("summarise this\n\n<file>\nfilm.pdf") and telegram.called("getFile") == []


async def test_a_file_that_telegram_no_longer_has_is_said_to_be_gone(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, chat: Chat, ann: Person
) -> None:
    llm.script(answer(text("I do not have it.")))
    async with bot():
        document = telegram.files.document("list.txt", "text/plain", b"milk")
        telegram.files.gone.add(telegram.files.by_id[document["file_id"]].path)
        await telegram.say(chat, ann, "what is on it?", extra={"document": document})
        await telegram.until(lambda sim: len(sim.bot_texts(chat)) == 1)
    assert "I could not fetch “list.txt”" in telegram.bot_texts(chat)[0]


def voice(telegram: TelegramSim) -> dict[str, Any]:
    stored = telegram.files.keep(VOICE, "voice", ".oga")
    return {"voice": {**stored.to_json(), "duration": 2, "mime_type": "audio/ogg"}}


async def test_a_voice_note_is_answered(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, speech: SpeechSim, chat: Chat, ann: Person
) -> None:
    llm.script(answer(text("It is noon.")))
    speech.say("What time is it?")
    async with bot(hearing(speech)):
        await telegram.say(chat, ann, "", extra=voice(telegram))
        await told(telegram, chat, "It is noon.")
    assert asked(llm)[0].startswith("<voice>\nWhat time is it?\n</voice>")
    [sound] = speech.heard
    assert (sound.name, sound.content) == ("voice.ogg", VOICE)


async def test_b107_a_voice_note_without_words_is_told_and_not_answered(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, speech: SpeechSim, chat: Chat, ann: Person
) -> None:
    speech.say("  ")
    async with bot(hearing(speech)):
        await telegram.say(chat, ann, "", extra=voice(telegram))
        await told(telegram, chat, "I heard nothing in “voice”. Please say it again, or write.")
    assert llm.chats == []


async def test_b110_a_failing_transcription_gives_one_notice_and_the_next_message_is_answered(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, speech: SpeechSim, chat: Chat, ann: Person
) -> None:
    llm.script(answer(text("Hello!")))
    speech.say(400)
    notice = (
        "I could not listen to “voice”: the service that writes speech down failed. Please try again later, or write."
    )
    async with bot(hearing(speech)):
        await telegram.say(chat, ann, "", extra=voice(telegram))
        await told(telegram, chat, notice)
        await telegram.say(chat, ann, "hi")
        await told(telegram, chat, notice, "Hello!")


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"location": {"latitude": 52.52, "longitude": 13.405}}, "Shared location: 52.52, 13.405"),
        (
            {
                "location": {"latitude": 1.0, "longitude": 2.0},
                "venue": {"title": "Café", "address": "Main St", "location": {"latitude": 1.0, "longitude": 2.0}},
            },
            "Shared place: Café, Main St (1.0, 2.0)",
        ),
        ({"contact": {"first_name": "Bo", "last_name": "Li", "phone_number": "+49 1"}}, "Shared contact: Bo Li, +49 1"),
        (
            {"poll": {"question": "Pizza?", "options": [{"text": "yes"}, {"text": "no"}]}},
            "Shared poll: Pizza?\n- yes\n- no",
        ),
        ({"dice": {"emoji": "🎲", "value": 5}}, "Thrown: 🎲 5"),
        (
            {"story": {"id": 1, "chat": {"id": 8, "type": "private", "first_name": "Bob"}}},
            "Shared story of Bob, which Telegram does not show to bots",
        ),
    ],
)
async def test_what_is_shared_is_answered(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, chat: Chat, ann: Person, extra: dict[str, Any], said: str
) -> None:
    llm.script(answer(text("I see.")))
    async with bot():
        await telegram.say(chat, ann, "", extra=extra)
        await told(telegram, chat, "I see.")
    assert f"<forwarded>\n{said}\n</forwarded>" in asked(llm)[0]


async def test_a_question_about_a_photo_in_a_group_reaches_the_model_with_the_photo(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, ann: Person
) -> None:
    """Also one from another chat, which Telegram tells of otherwise."""
    llm.script(answer(text("A cat.")), answer(text("The same cat.")))
    group = telegram.group(-1001, "Team", members=[ann], bot_privacy=False)
    elsewhere = {"origin": {"type": "hidden_user", "sender_user_name": "Zoe", "date": 1}}
    async with bot(SEEING):
        shown = await telegram.say(group, telegram.person(8, "Bob"), "", caption_photo=True)
        await telegram.say(group, ann, "@bowerbird_bot what is this?", reply_to=shown["message_id"])
        await told(telegram, group, "A cat.")
        elsewhere["photo"] = telegram.files.photo_sizes()
        await telegram.say(group, ann, "@bowerbird_bot and this?", extra={"external_reply": elsewhere})
        await told(telegram, group, "A cat.", "The same cat.")
    for number, question in enumerate(("what is this?", "and this?")):
        words, pictures = asked(llm, number)
        assert question in words and "of the quoted message" in words and len(pictures) == 1


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        ("sticker", "I cannot open files like “sticker 😀”."),
        ("video_note", "I cannot open files like “video_note”."),
    ],
)
async def test_what_nothing_reads_gets_a_sentence(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, chat: Chat, ann: Person, extra: Any, sentence: str
) -> None:
    async with bot():
        if isinstance(extra, str):
            content = b"\x1f\x8b animated" if extra == "sticker" else b"\x00\x00\x00 ftypisom"
            stored = telegram.files.keep(content, extra, ".bin").to_json()
            extra = {extra: {**stored, "emoji": "😀"} if extra == "sticker" else stored}
        await telegram.say(chat, ann, "", extra=extra)
        await told(telegram, chat, sentence)
    assert llm.chats == []


# out


@pytest.fixture
async def here() -> AsyncIterator[Stage]:
    async with stage() as made_:
        yield made_
        assert made_.sim.violations == []


async def sent(here: Stage, folder: Path, name: str, content: bytes, *, thread: str = "") -> Ref:
    path = folder / "kept"
    path.write_bytes(content)
    chat = here.private(7)
    to = Address("telegram", "main", str(chat.id), thread)
    task = asyncio.ensure_future(here.channel.send_file(to, OutFile(name, "", str(path)), "t.f0"))
    while not task.done():
        await here.clock.advance(1.0)
    return task.result()


def methods(here: Stage) -> list[tuple[str, int]]:
    return [(call.method, call.status) for call in here.sim.calls if call.method.startswith("send")]


async def test_a_picture_goes_as_a_photo_and_anything_else_as_a_document(here: Stage, tmp_path: Path) -> None:
    await sent(here, tmp_path, "red.png", made.picture(640, 480, "PNG"))
    ref = await sent(here, tmp_path, '多 "quoted"\r\n.csv', b"a,b\n")
    assert methods(here) == [("sendPhoto", 200), ("sendDocument", 200)]
    [photo, table] = here.sim.visible(here.private(7))
    assert ref.message_id == str(table.message_id) and photo.file == "red.png"
    document = here.sim.chat(7).messages[table.message_id].extra["document"]
    assert document["file_name"].startswith("多 ") and "\n" not in document["file_name"]
    assert here.sim.files.by_id[document["file_id"]].content == b"a,b\n"


@pytest.mark.parametrize(
    "content",
    [made.picture(9000, 2000, "PNG"), made.picture(4100, 200, "PNG"), made.picture(kind="GIF")],
    ids=["sides", "ratio", "GIF"],
)
async def test_b109_a_picture_that_is_no_photo_for_telegram_goes_as_a_document(
    here: Stage, tmp_path: Path, content: bytes
) -> None:
    await sent(here, tmp_path, "chart.png", content)
    assert methods(here) == [("sendDocument", 200)]


async def test_a_picture_over_ten_megabytes_goes_as_a_document(here: Stage, tmp_path: Path) -> None:
    await sent(here, tmp_path, "noise.png", made.noise(2000, 1800))
    assert methods(here) == [("sendDocument", 200)]


async def test_a_photo_that_telegram_refuses_goes_as_a_document(here: Stage, tmp_path: Path) -> None:
    here.sim.fail("sendPhoto", status=400, description="Bad Request: IMAGE_PROCESS_FAILED")
    await sent(here, tmp_path, "red.png", made.picture(640, 480, "PNG"))
    assert methods(here) == [("sendPhoto", 400), ("sendDocument", 200)]


async def test_what_is_too_large_or_gone_is_not_tried(here: Stage, tmp_path: Path) -> None:
    with pytest.raises(TooLong):
        await sent(here, tmp_path, "huge.bin", bytes(50 * 1024 * 1024 + 1))
    with pytest.raises(ChannelError):
        await sent(here, tmp_path, "empty.txt", b"")
    with pytest.raises(ChannelError):
        await here.channel.send_file(Address("telegram", "main", "7"), OutFile("x", "", str(tmp_path / "no")), "n")
    assert methods(here) == []


async def test_files_follow_the_answer_and_a_refused_one_is_a_sentence(here: Stage, tmp_path: Path) -> None:
    for name in ("table.csv", "red.png"):
        (tmp_path / name).write_bytes(made.picture() if name == "red.png" else b"a,b\n")
    files = tuple(OutFile(name, "", str(tmp_path / name)) for name in ("table.csv", "red.png"))
    here.sim.fail("sendDocument", status=400, description="Bad Request: DOCUMENT_INVALID")
    turn = here.turn(here.private(7))
    turn.say("Here they are.")
    turn.publisher.emit(Enclosed(files))
    turn.end()
    await turn.delivered(30)
    shown = [message.file or message.text for message in here.sim.visible(turn.chat)]
    sentence = "I could not send you “table.csv” here: this platform does not take it."
    assert shown == ["Here they are.", sentence, "red.png"]


async def test_a_flood_wait_delays_a_file_and_loses_nothing(here: Stage, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"a,b\n")
    here.sim.fail("sendDocument", status=429, retry_after=35)
    turn = here.turn(here.private(7))
    turn.publisher.emit(Enclosed((OutFile("a.csv", "text/csv", str(tmp_path / "a.csv")),)))
    turn.end()
    await turn.delivered(60)
    assert [message.file for message in here.sim.visible(turn.chat)] == ["a.csv"]
