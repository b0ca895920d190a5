"""How a chat looks on a terminal: lines for what is printed for good and lines for what still grows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rich.text import Text

from bot.cli.cards import Card
from bot.cli.conversation import Conversation, Done, Past, Printed, Said, Told, Turn
from bot.cli.enclosed import told
from bot.cli.harmless import harmless, one_line
from bot.cli.paint import Color, Painter, ending, settled
from bot.core.texts import say
from bot.outbox.partial import repaired

PHASES: Final = {"thinking": "terminal_thinking", "writing": "terminal_writing", "waiting": "terminal_waiting"}
PULSE: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
LEAST_TAIL_LINES: Final = 3


class ChatView:
    """Reads the conversation, and notes in its turns what has been printed for good."""

    def __init__(self, conversation: Conversation, color: Color | None) -> None:
        self._conversation = conversation
        self._color = color
        self._painter = Painter(80, color)
        self._width = 80

    def resize(self, width: int) -> None:
        if width != self._width:
            self._width, self._painter = width, Painter(width, self._color)

    def say(self, key: str, **values: object) -> str:
        return say(key, self._conversation.language, **values)

    def printed(self, thing: Printed) -> list[str]:
        """Lines to stay above the growing part, with a blank line before them."""
        match thing:
            case Said(text=text):
                return ["", *self._said(text)]
            case Past(text=text, notice=notice, files=files):
                shown = _inner(self._painter.markdown(text))
                return ["", *shown, *(self.styled(harmless(notice), "yellow") if notice else []), *self._files(files)]
            case Told(text=text):
                return ["", *self.styled(harmless(text), "yellow")]
            case Done(turn=turn):
                return self._done(turn)

    def settle(self, turn: Turn, room: int) -> list[str]:
        """What of a growing answer must go up now because the whole no longer fits into ``room`` lines."""
        lines = self._taken_back(turn)
        tail = turn.text[len(turn.printed) :]
        cut = settled(tail) if self._painter.height(tail) > room else 0
        if cut:
            lines += [*self._tools(turn, ended_only=True), "", *_inner(self._painter.markdown(tail[:cut]))]
            turn.printed += tail[:cut]
        return lines

    def growing(self, turn: Turn, now: float, room: int) -> list[str]:
        """The answer as it stands, its end where it is too long; then what it does, asks and waits for."""
        below = [*self._choices(turn), *self._notices(turn), self._status(turn, now)]
        tools = self._running_tools(turn)
        fits = max(LEAST_TAIL_LINES, room - len(below) - len(tools) - 1)
        tail = _inner(self._painter.markdown(repaired(ending(turn.text[len(turn.printed) :], fits))))
        return ["", *tools, *tail[-fits:], *below]

    def _taken_back(self, turn: Turn) -> list[str]:
        """When text that is already up is no longer part of the answer, it starts anew below a note that says so."""
        if turn.text.startswith(turn.printed):
            return []
        turn.printed = ""
        return ["", *self.styled(self.say("terminal_rewritten"), "dim")]

    def _done(self, turn: Turn) -> list[str]:
        lines = self._taken_back(turn)
        lines += self._tools(turn)
        rest = _inner(self._painter.markdown(turn.text[len(turn.printed) :]))
        if rest:
            lines += ["", *rest]
        lines += [line for card in turn.last["cards"] if card["decision"] for line in self._decided(card)]
        lines += self._notices(turn)
        lines += self._files(turn.last["files"])
        if not lines and not turn.printed:
            lines += ["", *self.styled(self.say("terminal_empty", reason=turn.last["stop"]), "dim")]
        return lines

    def _said(self, text: str) -> list[str]:
        return self.styled(
            "\n".join(f"{'›' if not at else ' '} {line}" for at, line in enumerate(harmless(text).split("\n"))), "bold"
        )

    def _tools(self, turn: Turn, *, ended_only: bool = False) -> list[str]:
        """Tool lines that are not printed yet; printing them is noted."""
        fresh = [
            line
            for line in turn.last["tools"]
            if line["call_id"] not in turn.tools_printed and not (ended_only and line["seconds"] is None)
        ]
        turn.tools_printed.update(line["call_id"] for line in fresh)
        return ["", *self._tool_lines(fresh)] if fresh else []

    def _running_tools(self, turn: Turn) -> list[str]:
        return self._tool_lines([line for line in turn.last["tools"] if line["call_id"] not in turn.tools_printed])

    def _tool_lines(self, tools: Iterable[Mapping[str, Any]]) -> list[str]:
        lines = []
        for tool in tools:
            mark, style = (
                ("✗", "red") if tool["error"] else ("✓", "green") if tool["seconds"] is not None else ("…", "cyan")
            )
            line = Text(mark, style, no_wrap=True, overflow="ellipsis")
            line.append(f" {one_line(tool['name'])}", "bold")
            line.append(f"  {one_line(tool['summary'])}", "dim")
            if tool["seconds"] is not None:
                line.append(f"  {tool['seconds']:.1f} s", "dim")
            lines += self._painter.lines(line)
        return lines

    def card(self, card: Card) -> list[str]:
        """The whole question, to be printed for good when it opens: nobody decides about what they could not read."""
        title = self.say("terminal_may", tool=one_line(card.tool), effect=one_line(card.effect))
        lines = ["", *self.styled(f"{card.number}. {title}", "bold yellow")]
        if card.reason:
            lines += self.styled(harmless(card.reason), "")
        return [*lines, *self.styled(harmless(card.arguments), "cyan")]

    def _choices(self, turn: Turn) -> list[str]:
        """How to answer the open questions of a turn."""
        own = {card["id"] for card in turn.last["cards"]}
        alone = len(self._conversation.desk.open) == 1
        lines = []
        for card in self._conversation.desk.open:
            if card.id in own:
                choices = "  ".join(f"/{verb}" if alone else f"/{verb} {card.number}" for verb in card.verbs)
                text = self.say("terminal_choices", choices=choices, tool=one_line(card.tool))
                lines += self.styled(f"{card.number}. {text}", "bold yellow")
        return lines

    def _decided(self, card: Mapping[str, Any]) -> list[str]:
        sentence = say(f"decision_{card['decision']}", self._conversation.language)
        return self.styled(f"{one_line(card['tool'])}: {sentence}", "dim")

    def _notices(self, turn: Turn) -> list[str]:
        return [line for notice in turn.last["notices"] for line in self.styled(harmless(notice), "yellow")]

    def _files(self, files: Iterable[Mapping[str, Any]]) -> list[str]:
        return [line for file in files for line in self.styled(told(file, self._conversation.language), "dim")]

    def _status(self, turn: Turn, now: float) -> str:
        return self.busy(PHASES.get(turn.last["phase"], "terminal_writing"), now - turn.began)

    def busy(self, key: str, seconds: float) -> str:
        """One line that moves: something is going on, and since when."""
        mark = PULSE[int(seconds * 4) % len(PULSE)]
        return self.styled(f"{mark} {self.say(key)} {max(0.0, seconds):.0f} s", "dim")[0]

    def styled(self, text: str, style: str) -> list[str]:
        """``text`` must be ``harmless`` in what it means; how it prints is made sure of here."""
        return self._painter.lines(Text(text, style))


def _inner(lines: Sequence[str]) -> list[str]:
    """Without blank lines at both ends."""
    kept = list(_from_first(lines))
    return list(_from_first(kept[::-1]))[::-1]


def _from_first(lines: Iterable[str]) -> Iterator[str]:
    begun = False
    for line in lines:
        begun = begun or bool(line.strip())
        if begun:
            yield line
