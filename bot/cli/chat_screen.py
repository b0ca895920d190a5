"""The chat as an interactive terminal program: the input line stays usable while answers grow above it.

prompt_toolkit does the line editing (history, pasting of several lines, wide characters) and redraws the growing part.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from typing import Final, TextIO

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from bot.cli.cards import Decision, Unclear
from bot.cli.chat_line import ChatLine
from bot.cli.chat_view import ChatView
from bot.cli.conversation import Conversation, Done, Frame, Said, Told
from bot.cli.language import language_of
from bot.cli.paint import Color
from bot.core.errors import TooLong
from bot.core.ports import Clock

PROMPT: Final = "› "
INPUT_LINES: Final = 8
TICK: Final = 0.25
AWAY: Final = 1.5
"""Seconds without a connection before the person is told."""
LEAVE: Final = ("/exit", "/quit")


def color_of(environ: Mapping[str, str]) -> Color | None:
    """What the terminal says it can show; None where NO_COLOR is set (https://no-color.org)."""
    if environ.get("NO_COLOR"):
        return None
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "truecolor"
    return "256" if "256color" in environ.get("TERM", "") else "standard"


def _size() -> Size:
    columns, rows = shutil.get_terminal_size()
    return Size(rows=rows, columns=columns)


_DEPTHS: Final = {
    None: ColorDepth.DEPTH_1_BIT,
    "standard": ColorDepth.DEPTH_4_BIT,
    "256": ColorDepth.DEPTH_8_BIT,
    "truecolor": ColorDepth.DEPTH_24_BIT,
}


class ChatScreen:
    """``stdout`` is the terminal. ``run`` returns when the person leaves."""

    def __init__(self, line: ChatLine, clock: Clock, stdout: TextIO, environ: Mapping[str, str]) -> None:
        self._line, self._clock = line, clock
        color = color_of(environ)
        self._conversation = Conversation(clock.monotonic, language_of(environ))
        self._view = ChatView(self._conversation, color)
        self._cards_printed: set[str] = set()
        self._expecting: float | None = None
        self._stopping = False
        self._connected_at = clock.monotonic()
        self._buffer = Buffer(
            multiline=True, history=InMemoryHistory(), accept_handler=self._entered, on_text_changed=self._typed
        )
        self._empty = True
        output = Vt100_Output(stdout, _size, enable_cpr=False)
        self._app: Application[None] = Application(
            layout=self._layout(),
            key_bindings=self._keys(),
            erase_when_done=True,
            output=output,
            input=create_input(),
            color_depth=_DEPTHS[color],
        )

    async def run(self) -> None:
        """Raises what the connection raises."""
        async with asyncio.TaskGroup() as group:
            helpers = [
                group.create_task(self._line.run(self.heard)),
                group.create_task(self._ticker()),
            ]
            try:
                await self._app.run_async(pre_run=self._welcome)
            finally:
                for helper in helpers:
                    helper.cancel()

    def heard(self, frame: Frame) -> None:
        """A frame of the terminal channel."""
        if frame["type"] in ("part", "error") or frame.get("refused"):
            self._expecting = None
        lines: list[str] = []
        for thing in self._conversation.take(frame):
            lines += self._view.printed(thing)
            if isinstance(thing, Done):
                self._stopping = False
        for card in self._conversation.desk.open:
            if card.id not in self._cards_printed:
                self._cards_printed.add(card.id)
                lines += self._view.card(card)
        for turn in self._conversation.growing.values():
            lines += self._view.settle(turn, self._room())
        self._print(lines)

    @property
    def _idle(self) -> bool:
        return not self._conversation.growing and self._expecting is None

    def _welcome(self) -> None:
        self._print(self._view.styled(self._view.say("terminal_welcome"), "dim"))

    def _entered(self, buffer: Buffer) -> bool:
        """A line was finished. False: the input is emptied, which the buffer does not report as a change."""
        text, self._empty = buffer.text, True
        if not text.strip():
            return False
        if text.strip() in LEAVE:
            self._app.exit()
            return False
        match self._conversation.desk.read(text):
            case Decision(payload=payload):
                self._line.press(payload)
            case Unclear(word=key, values=values):
                self._print(self._view.printed(Told(self._view.say(key, **values))))
            case None:
                buffer.append_to_history()
                self._say(text)
        return False

    def _say(self, text: str) -> None:
        try:
            self._conversation.wrote(self._line.say(text))
        except TooLong as error:
            self._print(self._view.printed(Told(str(error))))
            return
        self._expecting, self._stopping = self._clock.monotonic(), False
        self._print(self._view.printed(Said(text)))

    def _typed(self, buffer: Buffer) -> None:
        if self._empty and buffer.text:
            self._conversation.desk.typing_began()
        self._empty = not buffer.text

    def _interrupted(self) -> None:
        """Ctrl+C: stop the answer; when it is being stopped already, or there is none, leave."""
        if not self._idle and not self._stopping:
            self._stopping = True
            self._line.stop()
        elif self._idle and self._buffer.text:
            self._buffer.text = ""
        else:
            self._app.exit()

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("c-c", eager=True)
        @keys.add("<sigint>")
        def interrupt(event: KeyPressEvent) -> None:
            self._interrupted()

        @keys.add("c-d", eager=True)
        def end(event: KeyPressEvent) -> None:
            if self._buffer.text:
                self._buffer.delete()
            else:
                event.app.exit()

        @keys.add("enter", eager=True)
        def send(event: KeyPressEvent) -> None:
            self._buffer.validate_and_handle()

        @keys.add("escape", "enter", eager=True)
        def new_line(event: KeyPressEvent) -> None:
            self._buffer.insert_text("\n")

        @keys.add("c-z")
        def suspend(event: KeyPressEvent) -> None:
            event.app.suspend_to_background()

        return keys

    def _layout(self) -> Layout:
        control = BufferControl(self._buffer, input_processors=[BeforeInput(PROMPT)])
        typed = Window(control, wrap_lines=True, height=self._input_lines, dont_extend_height=True)
        grown = Window(FormattedTextControl(self._growing, show_cursor=False), dont_extend_height=True)
        return Layout(HSplit([grown, Window(height=1), typed]), focused_element=typed)

    def _input_lines(self) -> int:
        return min(INPUT_LINES, self._buffer.document.line_count)

    def _room(self) -> int:
        """Screen lines for each growing answer, beside the input."""
        rows = self._app.output.get_size().rows - self._input_lines() - 3
        return max(4, rows // max(1, len(self._conversation.growing)))

    def _growing(self) -> ANSI:
        self._view.resize(self._app.output.get_size().columns)
        now, room = self._clock.monotonic(), self._room()
        lines = [line for turn in self._conversation.growing.values() for line in self._view.growing(turn, now, room)]
        if now - self._connected_at > AWAY:
            lines += ["", *self._view.styled(self._view.say("terminal_away"), "yellow")]
        elif self._stopping:
            lines += self._view.styled(self._view.say("terminal_stopping"), "dim")
        elif self._expecting is not None:
            doing = "terminal_sending" if self._line.waiting else "terminal_thinking"
            lines += ["", self._view.busy(doing, now - self._expecting)]
        return ANSI("\n".join(lines))

    def _print(self, lines: list[str]) -> None:
        """Put lines above the growing part for good, and draw that anew.

        The terminal stays in raw mode meanwhile: leaving it for a moment, as ``run_in_terminal`` does, would let the
        kernel echo or swallow keys that are pressed just then.
        """
        if lines:
            self._app.renderer.erase()
            self._app.output.write_raw("".join(f"{line}\r\n" for line in lines))
            self._app.output.flush()
        self._app.invalidate()

    async def _ticker(self) -> None:
        while True:
            await self._clock.sleep(TICK)
            if self._line.connected:
                self._connected_at = self._clock.monotonic()
            if not self._idle or not self._line.connected:
                self._app.invalidate()
