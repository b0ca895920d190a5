"""One message through a pipe: standard input is the message, standard output the answer and nothing else."""

from __future__ import annotations

import asyncio
import sys
from typing import Final

from bot.cli.chat_line import ChatLine
from bot.cli.conversation import Conversation, Done, Frame, Told, Turn
from bot.cli.enclosed import told
from bot.cli.harmless import harmless
from bot.core.ports import Clock
from bot.core.stop import StopReason
from bot.core.texts import say

STOP_SECONDS: Final = 1.0

_ALSO_FAILED: Final = frozenset(
    {StopReason.STOPPED, StopReason.TOOL_INTERRUPTED, StopReason.APPROVAL_DENIED, StopReason.APPROVAL_EXPIRED}
)


class PlainChat:
    """Says one message, waits for its answer and prints it. What is not the answer goes to standard error."""

    def __init__(self, line: ChatLine, clock: Clock, language: str) -> None:
        self._line = line
        self._conversation = Conversation(clock.monotonic, language)
        self._message = ""
        self._turn = ""
        self._status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._done: dict[str, Turn] = {}
        self._asked: set[str] = set()

    async def run(self, text: str) -> int:
        """The exit status: 0 when there is an answer. Raises what the connection raises.

        Cancelled (Ctrl+C), it stops the answer before it leaves.
        """
        self._message = self._line.say(text)
        self._conversation.wrote(self._message)
        async with asyncio.TaskGroup() as group:
            connection = group.create_task(self._line.run(self.heard))
            try:
                return await self._status
            except asyncio.CancelledError:
                await self._stop()
                raise
            finally:
                connection.cancel()

    async def _stop(self) -> None:
        self._line.stop()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await self._line.emptied()
        except TimeoutError:
            pass

    def heard(self, frame: Frame) -> None:
        printed = self._conversation.take(frame)
        if frame["type"] in ("receipt", "error") and frame["id"] == self._message:
            self._stored(frame)
        if frame["type"] == "history":
            self._look_up(frame["entries"])
        for thing in printed:
            if isinstance(thing, Told):
                _aside(thing.text)
            elif isinstance(thing, Done):
                self._done[thing.turn.id] = thing.turn
        growing = self._conversation.growing
        if self._turn in self._done:
            turn = self._done[self._turn]
            self._end(turn.text, turn.last["notices"], turn.last["stop"], turn.last["files"])
        elif self._turn in growing:
            self._mention(growing[self._turn].last["cards"])
        elif self._turn and any(isinstance(thing, Done) for thing in printed):
            self._line.look()

    def _stored(self, frame: Frame) -> None:
        self._turn = frame.get("turn", "")
        if not self._turn:
            self._leave(1 if frame["type"] == "error" or frame["refused"] else 0)

    def _look_up(self, entries: list[Frame]) -> None:
        """Where the message went: it may have joined a turn that was already running, or its answer may have ended
        while the connection was gone."""
        for entry in entries:
            if entry["message_id"] == self._message:
                self._turn = entry["turn"]
            elif entry["who"] == "bot" and entry["turn"] == self._turn and entry["stop"]:
                self._end(entry["text"], [entry["notice"]], entry["stop"], entry.get("files", []))

    def _mention(self, cards: list[Frame]) -> None:
        """Nobody can answer a question here; once is enough to say so."""
        for card in cards:
            if not card["decision"] and card["id"] not in self._asked:
                self._asked.add(card["id"])
                _aside(say("terminal_elsewhere", self._conversation.language, tool=card["tool"]))

    def _end(self, text: str, notices: list[str], stop: str, files: list[Frame]) -> None:
        if self._status.done():
            return
        if text:
            print(harmless(text), flush=True)
        for notice in filter(None, notices):
            _aside(notice)
        for file in files:
            _aside(told(file, self._conversation.language))
        reason = StopReason(stop)
        self._leave(1 if reason.is_failure or reason in _ALSO_FAILED else 0)

    def _leave(self, status: int) -> None:
        if not self._status.done():
            self._status.set_result(status)


def _aside(text: str) -> None:
    print(harmless(text), file=sys.stderr, flush=True)
