"""Telegram as the suite's platform: the simulator in this process."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence, Set
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from channels.telegram.entities import Renderer
from tests.crash.deeds import deed
from tests.crash.platform import Look, Seen
from tests.sim.telegram import Fault, Shown, TelegramSim

GROUP: Final = -1001
SHOWING: Final = ("sendMessage", "editMessageText")
METHODS: Final = {"send": "sendMessage", "edit": "editMessageText", "answer": "answerCallbackQuery"}


def named(update: Mapping[str, Any]) -> tuple[str, str]:
    """The kind and the id of a message or a press in the inbox."""
    press = update.get("callback_query")
    return ("press", press["id"]) if press else ("message", str(update["message"]["message_id"]))


def seen(shown: Shown) -> Seen:
    wide = shown.text.encode("utf-16-le")
    bold = (
        wide[2 * entity["offset"] : 2 * (entity["offset"] + entity["length"])].decode("utf-16-le")
        for entity in shown.entities
        if entity["type"] == "bold"
    )
    return Seen(str(shown.message_id), shown.text, shown.buttons, tuple(bold))


class TelegramPlatform:
    """Implements ``tests.crash.platform.Simulated``: a private chat or, ``in_group``, one in which the bot is meant by
    name."""

    name = "telegram"
    idempotent = False

    def __init__(self, sim: TelegramSim, id: int = 7, name: str = "Ann", *, in_group: bool = False) -> None:
        self.sim = sim
        self.ann, self.ann_id = sim.person(id, name, language="en"), str(id)
        self.chat = sim.group(GROUP, "Team", members=[self.ann]) if in_group else sim.private(self.ann)
        self.says = ""

    @property
    def section(self) -> str:
        access = f'{{owners: [7], users: ["*"], groups: [{GROUP}]}}'
        return f'{{token: "{self.sim.token}", api_base: "{self.sim.url}", access: {access}}}'

    @property
    def standing(self) -> Sequence[Seen]:
        return [seen(shown) for shown in self.sim.visible(self.chat) if shown.from_bot]

    @property
    def looks(self) -> Sequence[Look]:
        return [
            Look(str(call.params.get("message_id", "")), str(call.params["text"]), "reply_markup" in call.params)
            for call in self.sim.calls
            if call.method in SHOWING and call.chat_id == self.chat.id and call.status in (0, 200)
        ]

    @property
    def notices(self) -> Sequence[str]:
        return [text for _, text, _ in self.sim.callback_answers]

    @property
    def violations(self) -> Sequence[str]:
        return self.sim.violations

    @property
    def heard(self) -> Set[tuple[str, str]]:
        return {named(update) for update in self.sim.updates.confirmed.values()}

    @property
    def unheard(self) -> int:
        return len(self.sim.pending)

    @staticmethod
    def rendered(markdown: str) -> str:
        return Renderer().render(markdown).text

    def under_way(self, deed_: str) -> bool:
        return any(
            not call.status and not call.answer and deed("POST", call.method, json.dumps(call.params)) == deed_
            for call in self.sim.calls
        )

    async def say(self, text: str) -> None:
        name = f"@{self.sim.world.bot.username} " if self.chat.is_group else ""
        said = await self.sim.say(self.chat, self.ann, name + text)
        self.says = str(said["message_id"])

    async def press(self, verb: str) -> bool:
        newest = [message for message in self.standing if message.label(verb)][-1]
        await self.sim.press(self.chat, self.ann, int(newest.id), newest.label(verb))
        return True

    async def again(self) -> None:
        for update in list(self.sim.updates.confirmed):
            self.sim.redeliver(update)

    async def until(self, holds: Callable[[], Any], timeout: float = 15.0) -> None:
        await self.sim.until(lambda _: holds(), timeout)

    async def befriend(self, data: Path) -> None:
        """Telegram itself knows what the bot has not heard."""

    def beside(self, id: int, name: str) -> TelegramPlatform:
        return TelegramPlatform(self.sim, id, name)

    def delay(self, deed: str, seconds: float) -> None:
        self.sim.latencies[METHODS.get(deed, deed)] = seconds

    def fail(self, deed: str, **fault: Any) -> Fault:
        return self.sim.fail(METHODS.get(deed, deed), **fault)

    def deafen(self) -> None:
        self.sim.fail("getUpdates", every=True, action="hang")  # the poll that is open now brings the press

    async def cut(self) -> None:
        self.sim.fail("*", every=True, action="reset")

    def heal(self) -> None:
        self.sim.heal()
        self.sim.latencies.clear()


@asynccontextmanager
async def open_telegram(*, strict_rates: bool, in_group: bool = False) -> AsyncIterator[TelegramPlatform]:
    async with TelegramSim(strict_rates=strict_rates) as sim:
        yield TelegramPlatform(sim, in_group=in_group)
