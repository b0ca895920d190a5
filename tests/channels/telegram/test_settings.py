"""What people set in a chat lives in the store; the configuration file is its owner's and is never written."""

from __future__ import annotations

from pathlib import Path

from tests.channels.telegram.conftest import CONFIG, StartBot
from tests.sim.telegram import TelegramSim


async def test_b234_what_is_set_in_chat_leaves_the_configuration_as_it_was_written(
    bot: StartBot, telegram: TelegramSim, tmp_path: Path
) -> None:
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    config = CONFIG.replace('"123456:SIM"', '"${{NO_SUCH_NAME:-123456:SIM}}"  # mine')
    async with bot(config):
        written = (tmp_path / "config.yaml").read_bytes()
        assert b"${NO_SUCH_NAME:-123456:SIM}" in written
        await telegram.say(chat, ann, "/settings timezone Europe/Rome")
        await telegram.until(lambda sim: any("Europe/Rome" in shown for shown in sim.bot_texts(chat)))
        await telegram.say(chat, ann, "/settings language zh")
        await telegram.until(lambda sim: any("现在是" in shown for shown in sim.bot_texts(chat)))
    assert (tmp_path / "config.yaml").read_bytes() == written
