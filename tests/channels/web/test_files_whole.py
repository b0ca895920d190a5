"""Files through the whole daemon: from an upload to what the model reads, across a death, and back onto the page."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest
from PIL import Image

from tests.attachments import made
from tests.channels.web.attaching import photo
from tests.crash.program import a_free_port, running
from tests.sim.llm import LlmSim, answer, call, text
from tests.sim.speech import SpeechSim

CONFIG = """
data_dir: data
channels:
  web: {{host: 127.0.0.1, port: {port}}}
providers:
  openai: {{api_key: sk-test-0123456789, base_url: "{sim}/v1"}}
  ears: {{kind: openai, api_key: sk-speech-0123456789, base_url: "{ears}"}}
  local: off
brain:
  llm:
    default: {{provider: openai, model: gpt-test, max_tokens: 500, vision: {vision}}}
    fallback: []
    transcribe: {{provider: ears, model: whisper-1}}
tools:
  files: {{root: workspace}}
"""


class Visitor:
    """A script that speaks the page's API of a daemon, which may die and come back meanwhile."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self.http, self.url = http, url

    async def upload(self, content: bytes, name: str, kind: str) -> str:
        headers = {"Content-Type": kind}
        async with self.http.post(f"{self.url}/v1/files", params={"name": name}, data=content, headers=headers) as told:
            assert told.status == 201, await told.text()
            return str((await told.json())["file"])

    async def say(self, words: str, *files: str, id_: str = "m1") -> str:
        body = {"chat": "c", "text": words, "id": id_, "files": list(files)}
        async with self.http.post(f"{self.url}/v1/messages", json=body) as told:
            assert told.status == 202, await told.text()
            return str((await told.json())["turn"])

    async def over(self, turn: str) -> list[dict[str, Any]]:
        """The frames with which a page begins once the turn has ended."""
        async with self.http.get(f"{self.url}/v1/events?chat=c", headers={"Last-Event-ID": "0"}) as stream:
            async for raw in stream.content:
                if raw.startswith(b"data: ") and json.loads(raw[6:]).items() >= {"type": "done", "turn": turn}.items():
                    break
        async with self.http.get(f"{self.url}/v1/history?chat=c") as told:
            frames: list[dict[str, Any]] = (await told.json())["frames"]
            return frames


@pytest.fixture
async def sim() -> AsyncIterator[LlmSim]:
    async with LlmSim() as started:
        yield started
        assert started.violations == []


def config(folder: Path, sim: LlmSim, *, vision: bool = True, ears: str = "http://127.0.0.1:9") -> tuple[Path, int]:
    port = a_free_port()
    file = folder / "config.yaml"
    file.write_text(CONFIG.format(port=port, sim=sim.url, ears=ears, vision=str(vision).lower()))
    return file, port


def said(sim: LlmSim, at: int = -1) -> tuple[str, list[bytes]]:
    """The words and the pictures of the last message of a request."""
    content = sim.chats[at].body["messages"][-1]["content"]
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    words = "\n".join(part["text"] for part in parts if part["type"] == "text")
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return words, [base64.b64decode(url.partition(",")[2]) for url in urls]


async def test_photos_documents_and_speech_reach_the_model_as_on_the_platforms(sim: LlmSim, tmp_path: Path) -> None:
    sim.script(answer(text("I see.")))
    async with SpeechSim() as ears, aiohttp.ClientSession() as http:
        ears.say("water the plants")
        file, port = config(tmp_path, sim, ears=ears.url)
        async with running(file, port) as program:
            await program.ready()
            visitor = Visitor(http, program.url)
            files = [
                await visitor.upload(photo(3000, 1500), "bird.png", "image/png"),
                await visitor.upload(made.docx("Rent: 900", heading="Lease"), "lease.docx", "application/octet-stream"),
                await visitor.upload(b"OggS" + bytes(60), "memo.ogg", "audio/ogg"),
                await visitor.upload(b"MZ\x00\x00", "tool.exe", "application/octet-stream"),
            ]
            turn = await visitor.say("Look at these", *files)
            told, *_ = await visitor.over(turn)
            words, pictures = said(sim)
            assert words.startswith("Look at these")
            assert "# Lease\n\nRent: 900" in words and "water the plants" in words
            assert [Image.open(io.BytesIO(one)).size for one in pictures] == [(1568, 784)]
            assert (told["text"], told["notices"]) == ("I see.", ["I cannot open files like “tool.exe”."])
            listed = told["said"][0]["files"]
            assert [one["name"] for one in listed] == ["bird.png", "lease.docx", "memo.ogg", "tool.exe"]
            assert [bool(one["picture"]) for one in listed] == [True, False, False, False]
            assert [one["size"] for one in listed] == [len(photo(3000, 1500)), listed[1]["size"], 64, 4]
            async with http.get(f"{program.url}/{listed[0]['picture']}") as seen:
                assert await seen.read() == pictures[0]
            async with http.get(f"{program.url}/v1/chats") as chats:
                assert (await chats.json())["chats"][0]["title"] == "Look at these"
            assert program.clean


async def test_a_model_that_does_not_see_is_not_shown_pictures_and_the_person_is_told(
    sim: LlmSim, tmp_path: Path
) -> None:
    sim.script(answer(text("A list.")))
    file, port = config(tmp_path, sim, vision=False)
    async with aiohttp.ClientSession() as http, running(file, port) as program:
        await program.ready()
        visitor = Visitor(http, program.url)
        bird = await visitor.upload(photo(), "bird.png", "image/png")
        told, *_ = await visitor.over(await visitor.say("", bird))
        assert sim.chats == []
        assert "cannot see pictures (“bird.png”)" in str(told["notices"])
        told = (await visitor.over(await visitor.say("And this?", bird, id_="m2")))[-2]
        assert said(sim)[1] == [] and told["text"] == "A list."
        assert "cannot see pictures" in str(told["notices"])
        async with http.get(f"{program.url}/v1/chats") as chats:
            assert (await chats.json())["chats"][0]["title"] == "bird.png"


@pytest.mark.parametrize("dies", ["before the message", "after the message"])
async def test_a_death_between_upload_and_answer_loses_nothing(sim: LlmSim, tmp_path: Path, dies: str) -> None:
    sim.script(answer(text("Milk.")))
    file, port = config(tmp_path, sim)
    async with aiohttp.ClientSession() as http:
        async with running(file, port) as program:
            await program.ready()
            visitor = Visitor(http, program.url)
            id_ = await visitor.upload(b"milk and eggs", "list.txt", "text/plain")
            if dies == "after the message":
                turn = await visitor.say("Read it", id_)
            program.process.kill()
            program.process.wait()
        async with running(file, port) as program:
            await program.ready()
            again = await visitor.say("Read it", id_)
            assert dies == "before the message" or again == turn
            told, *_ = await visitor.over(again)
            assert told["text"] == "Milk."
            assert "milk and eggs" in said(sim)[0]
            assert [one["name"] for one in told["said"][0]["files"]] == ["list.txt"]
            assert len([frame for frame in await visitor.over(again) if frame["type"] == "done"]) == 1


async def test_an_openai_client_shows_a_picture_and_goes_on_talking_about_it(sim: LlmSim, tmp_path: Path) -> None:
    tool: Any = {"type": "function", "function": {"name": "zoom", "parameters": {"type": "object", "properties": {}}}}
    sim.script(answer(text("A bird.")), answer(call("c1", "zoom", ["{}"])), answer(text("A blue one.")))
    file, port = config(tmp_path, sim)
    async with running(file, port) as program, openai.AsyncOpenAI(base_url=f"{program.url}/v1", api_key="x") as ai:
        await program.ready()
        url = f"data:image/png;base64,{base64.b64encode(photo()).decode()}"
        content: Any = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": url}}]
        document = base64.b64encode(made.pdf(["Satin bowerbird"])).decode()
        content += [{"type": "file", "file": {"filename": "birds.pdf", "file_data": document}}]
        messages: list[Any] = [{"role": "user", "content": content}]
        first = await ai.chat.completions.create(model="bowerbird", messages=messages)
        assert first.choices[0].message.content == "A bird."
        words, pictures = said(sim)
        assert "What is it?" in words and "Satin bowerbird" in words and len(pictures) == 1
        messages += [{"role": "assistant", "content": "A bird."}, {"role": "user", "content": "Which colour?"}]
        second = await ai.chat.completions.create(model="bowerbird", messages=messages, tools=[tool])
        assert second.choices[0].message.tool_calls
        words, pictures = said(sim)
        assert words.startswith("Which colour?") and "picture-1" in words and "Satin bowerbird" in words
        assert len(pictures) == 1
        earlier = sim.chats[-1].body["messages"][-3]["content"]
        assert "[picture-1]" in str(earlier) and "[birds.pdf]" in str(earlier) and "base64" not in str(earlier)
        asked: Any = second.choices[0].message
        messages += [asked, {"role": "tool", "tool_call_id": asked.tool_calls[0].id, "content": "It is blue."}]
        third = await ai.chat.completions.create(model="bowerbird", messages=messages, tools=[tool], stream=True)
        pieces = [piece.choices[0].delta.content or "" async for piece in third if piece.choices]
        assert "".join(pieces) == "A blue one."
        assert len(said(sim)[1]) == 1
        assert program.clean


async def test_an_openai_client_whose_model_does_not_see_is_told_so(sim: LlmSim, tmp_path: Path) -> None:
    file, port = config(tmp_path, sim, vision=False)
    async with running(file, port) as program, openai.AsyncOpenAI(base_url=f"{program.url}/v1", api_key="x") as ai:
        await program.ready()
        url = f"data:image/png;base64,{base64.b64encode(photo()).decode()}"
        content: Any = [{"type": "image_url", "image_url": {"url": url}}]
        with pytest.raises(openai.BadRequestError, match="cannot see pictures"):
            await ai.chat.completions.create(model="bowerbird", messages=[{"role": "user", "content": content}])
        assert sim.chats == []
