"""The channel as the house builds it: its configuration, its port, its sentences."""

from __future__ import annotations

import asyncio
import logging
import re

import pytest
from pydantic import SecretStr, ValidationError

from bot.core.view import Rendered
from channels.web.assets import FOLDER
from channels.web.channel import Config
from channels.web.words import WORDS, phrase, preferred
from tests.channels.web.house import House


def test_the_configuration_has_its_documented_defaults() -> None:
    config = Config()
    assert (config.host, config.port, config.token.get_secret_value()) == ("127.0.0.1", 8717, "")
    assert (config.on_disconnect, config.loopback) == ("finish", "open")
    assert config.access.owners == ()


@pytest.mark.parametrize(
    "wrong",
    [{"hots": "x"}, {"port": 70_000}, {"port": -1}, {"host": ""}, {"on_disconnect": "pause"}, {"loopback": "closed"}],
)
def test_a_wrong_configuration_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Config.model_validate(wrong)


def test_listening_to_the_world_without_a_token_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        House(Config(host="127.0.0.1"))
        House(Config(host="0.0.0.0", token=SecretStr("x")))
        assert caplog.records == []
        House(Config(host="0.0.0.0"))
    assert [record.getMessage() for record in caplog.records] == [
        "web listens on 0.0.0.0 without a token: only visits from this machine get in"
    ]


async def test_the_channel_is_connected_while_it_runs_and_closes_at_once() -> None:
    house = House()
    seen = [house.channel.connected]
    async with asyncio.TaskGroup() as group:
        running = group.create_task(house.channel.run(house.receive))
        await asyncio.sleep(0)
        seen.append(house.channel.connected)
        running.cancel()
    assert [*seen, house.channel.connected] == [False, True, False]


def test_rendering_for_paging_is_total() -> None:
    house = House()
    for text in ("", "**", "\ud83d", "x" * 100_000):
        assert house.channel.render(text) == Rendered(text, len(text))


def test_every_sentence_is_there_in_both_languages() -> None:
    for key, entry in WORDS.items():
        assert set(entry) == {"en", "zh"}, key
        holes = [sorted(re.findall(r"\{(\w+)\}", text)) for text in entry.values()]
        assert holes[0] == holes[1], key
        assert re.search(r"[\u4e00-\u9fff]", entry["zh"]), key
    assert phrase("not_allowed", "zh-CN", method="PUT") == "该地址不支持 PUT。"


def test_every_sentence_of_the_page_is_there_in_both_languages() -> None:
    source = (FOLDER / "words.js").read_text(encoding="utf-8")
    entries = re.findall(r'^  (\w+): \[\s*"([^"]+)",\s*"([^"]+)",?\s*\],', source, re.MULTILINE)
    assert len(entries) > 80
    for key, english, chinese in entries:
        assert re.search(r"[\u4e00-\u9fff]", chinese), key
        assert sorted(re.findall(r"\{\w+\}", english)) == sorted(re.findall(r"\{\w+\}", chinese)), key


@pytest.mark.parametrize(
    ("header", "wanted", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "auto", "zh"),
        ("de-DE,de;q=0.9,en;q=0.8", "auto", "en"),
        ("", "auto", ""),
        ("fr", "auto", ""),
        ("zh", "en", "en"),
        ("," * 10_000, "auto", ""),
    ],
)
def test_the_visitors_language_is_the_one_the_browser_asks_for(header: str, wanted: str, language: str) -> None:
    assert preferred(header, wanted) == language
