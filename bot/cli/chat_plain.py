"""One message through a pipe: standard input is the message, standard output the answer and nothing else."""

from __future__ import annotations

import asyncio
import sys
from typing import Final

from bot.cli.chat_line import ChatLine
from bot.cli.conversation import Conversation, Done, Frame, Past, Told, Turn
from bot.cli.harmless import harmless
from bot.cli.words import word
from bot.core.ports import Clock
from bot.core.stop import StopReason

STOP_SECONDS: Final = 1.0

_ALSO_FAILED: Final = frozenset(
    {StopReason.STOPPED, StopReason.INTERRUPTED, StopReason.APPROVAL_DENIED, StopReason.APPROVAL_EXPIRED}
)


class PlainChat:
    """Says one message, waits for its answer and prints it. What is not the answer goes to standard error."""

    def __init__(self, line: ChatLine, clock: Clock, language: str) -> None:
        self._line = line
        self._conversation = Conversation(clock.monotonic, language)
        self._message = ""
        self._turn = ""
        self._status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
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
        for thing in printed:
            match thing:
                case Done(turn=turn) if turn.id == self._turn:
                    self._finish(turn)
                case Past(turn=turn_id, text=text, notice=notice) if turn_id == self._turn:
                    self._end(text, [notice], failed=False)
                case Told(text=text):
                    _aside(text)
                case _:
                    pass
        for card in self._conversation.desk.open:
            if card.id not in self._asked:
                self._asked.add(card.id)
                _aside(word("terminal_elsewhere", self._conversation.language, tool=card.tool))

    def _stored(self, frame: Frame) -> None:
        self._turn = frame.get("turn", "")
        if not self._turn:
            self._leave(1 if frame["type"] == "error" or frame["refused"] else 0)

    def _finish(self, turn: Turn) -> None:
        stop = StopReason(turn.last["stop"]) if turn.last["stop"] else StopReason.ANSWERED
        self._end(turn.text, turn.last["notices"], failed=stop.is_failure or stop in _ALSO_FAILED)

    def _end(self, text: str, notices: list[str], *, failed: bool) -> None:
        if text:
            print(harmless(text), flush=True)
        for notice in notices:
            if notice:
                _aside(notice)
        self._leave(1 if failed else 0)

    def _leave(self, status: int) -> None:
        if not self._status.done():
            self._status.set_result(status)


def _aside(text: str) -> None:
    print(harmless(text), file=sys.stderr, flush=True)
