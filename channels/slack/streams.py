"""Native streaming: messages that grow by appends, for as long as they only grow, and are edited like others after that."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from bot.core.address import Address
from bot.core.errors import ChannelError, ChannelUnreachable, ChatClosed, FormatRefused, MessageGone, TooLong
from bot.core.inbound import UserMessage
from bot.core.ports import CallKind, ChannelKit
from bot.core.text import clipped
from bot.core.view import Limits, Part, Rendered, ToolLine
from channels.slack.growth import grown
from channels.slack.messages import actions, decides
from channels.slack.refusals import StreamOver, Unfit
from channels.slack.sessions import Sessions
from channels.slack.tiers import Tier, Window
from channels.slack.traces import mark
from channels.slack.wire import Me, Wire

log = logging.getLogger(__name__)

TURN_OVER_SECONDS: Final = 230.0
"""Slack ends a stream five minutes after it began and shows it as broken: from here on the message is edited."""
LONGEST_SECONDS: Final = 265.0
"""Nobody had anything to show meanwhile: the stream is ended all the same."""
LOOK_SECONDS: Final = 10.0
PER_MINUTE: Final = 20
"""``startStream`` and ``stopStream`` are Tier 2."""
HINT_SECONDS: Final = 2.0
"""An answer that takes no longer needs no stopping."""
THINKING: Final = "thinking"
RUNNING: Final = "in_progress"
REFUSALS_BORNE: Final = 3
CLOSED_KEPT: Final = 5000
TITLE_CHARS: Final = 200

Task = tuple[str, str]
Chunk = dict[str, Any]


@dataclass(slots=True)
class Stream:
    """``sent`` is the Markdown that Slack accepted, made of ``raw``; ``thinking`` the last status line. Not ``certain``: the
    fate of a call is unknown."""

    to: Address
    ts: str
    began: float
    nonce: str = ""
    raw: str = ""
    sent: str = ""
    tasks: dict[str, Task] = field(default_factory=dict)
    began_tools: dict[str, float] = field(default_factory=dict)
    thinking: str = ""
    language: str = "en"
    hinted: bool = False
    certain: bool = True
    over: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Streams:
    """``streamable`` makes Markdown safe; a longer text's extends a shorter one's."""

    def __init__(
        self,
        kit: ChannelKit,
        wire: Wire,
        sessions: Sessions,
        limits: Limits,
        render: Callable[[str], Rendered],
        streamable: Callable[[str], str],
        *,
        on: bool,
    ) -> None:
        self._kit, self._wire, self._sessions, self._limits = kit, wire, sessions, limits
        self._render, self._streamable, self._on = render, streamable, on
        self._appends = Tier(kit.clock, 90, 10)
        self._starts, self._stops = Window(kit.clock, PER_MINUTE), Window(kit.clock, PER_MINUTE)
        self._open: dict[tuple[str, str], Stream] = {}
        self._closed: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._refusals = 0

    def find(self, to: Address, ts: str) -> Stream | None:
        """The stream that is open at this message, as far as this process knows."""
        return self._open.get((to.chat, ts))

    def is_over(self, to: Address, ts: str) -> bool:
        """Whether nothing is streamed at this message: one that an earlier process began may still be open."""
        return not self._on or not to.thread or (to.chat, ts) in self._closed

    def none_at(self, to: Address, ts: str) -> None:
        """The message is no stream, or no longer one."""
        self._closed[to.chat, ts] = None
        if len(self._closed) > CLOSED_KEPT:
            self._closed.popitem(last=False)

    def fits(self, to: Address, part: Part, question: UserMessage | None) -> bool:
        """Whether a new message can begin as a stream: in a thread, for somebody, with room for its end as well."""
        if not self._on or not to.thread or part.final or not part.last or decides(part):
            return False
        if not to.chat.startswith("D") and (question is None or question.sender.is_bot):
            return False
        return self._starts.left > 0 and self._stops.left > len(self._open)

    async def start(self, to: Address, part: Part, question: UserMessage | None, me: Me | None) -> str:
        """The ts of the new message; "" where Slack begins no stream there. After a few such refusals none is tried any
        more."""
        stream = Stream(to, "", self._kit.clock.monotonic(), part.nonce, grown(part, self._limits, self._render))
        stream.language = self._sessions.language(question)
        tasks = self._tasks(stream, part)
        shown = {id: task for id, task in tasks.items() if part.index and task[1] != RUNNING}  # in earlier messages
        stream.sent = self._streamable(stream.raw)
        params: dict[str, Any] = {"channel": to.chat, "thread_ts": to.thread, "task_display_mode": "timeline"}
        if not to.chat.startswith("D") and question is not None:
            team = question.places[0] if question.places else me.team if me else ""
            params |= {"recipient_user_id": question.sender.id, "recipient_team_id": team}
        if chunks := _chunks(stream.sent, shown, tasks):
            params["chunks"] = chunks
        self._starts.take()
        try:
            told = await self._wire.call("chat.startStream", **params)
        except (Unfit, FormatRefused, ChatClosed) as error:
            self._refusals += 1
            self._on = self._refusals < REFUSALS_BORNE
            log.warning("an answer is shown by edits%s: %s", "" if self._on else ", as all will be", error)
            return ""
        self._refusals = 0
        stream.ts, stream.tasks = str(told.get("ts") or ""), tasks
        if not stream.ts:
            raise ChannelUnreachable("Slack did not say which message it began.", maybe_done=True)
        self._open[to.chat, stream.ts] = stream
        self._sessions.begin(to)
        return stream.ts

    async def pace(self) -> None:
        """``appendStream`` is Tier 4, over the whole workspace."""
        await self._appends.turn()

    async def go_on(self, stream: Stream, part: Part) -> bool:
        """Make the stream equal the part. False: it is over, and the message has to be edited to be so."""
        async with stream.lock:
            if stream.over:
                return False
            age = self._kit.clock.monotonic() - stream.began
            if part.final or decides(part) or age >= TURN_OVER_SECONDS or not stream.certain:
                return await self._close(stream, part)
            raw = grown(part, self._limits, self._render)
            if not raw.startswith(stream.raw) and not stream.raw.startswith(raw):
                return await self._close(stream, part)
            return await self._append(stream, part, raw)

    async def _append(self, stream: Stream, part: Part, raw: str) -> bool:
        """Half a marker may look different than the whole: it waits for its other half."""
        sent, tasks = self._streamable(raw), self._tasks(stream, part)
        if not raw.startswith(stream.raw) or not sent.startswith(stream.sent):
            raw, sent = stream.raw, stream.sent
        chunks = _chunks(sent[len(stream.sent) :], stream.tasks, tasks)
        if not chunks:
            return True
        try:
            await self._wire.call("chat.appendStream", channel=stream.to.chat, ts=stream.ts, chunks=chunks)
        except StreamOver:
            self._ended(stream)
            return False
        except (Unfit, FormatRefused, TooLong):
            await self._stop(stream)
            return False
        except MessageGone:
            self._ended(stream)
            raise
        except ChannelUnreachable as error:
            stream.certain = stream.certain and not error.maybe_done
            raise
        except asyncio.CancelledError:
            stream.certain = False
            raise
        stream.raw, stream.sent, stream.tasks = raw, sent, tasks
        if not stream.hinted and self._kit.clock.monotonic() - stream.began >= HINT_SECONDS:
            stream.hinted = self._sessions.growing(stream.to, stream.language)
        return True

    async def _close(self, stream: Stream, part: Part) -> bool:
        """End the stream, with what is missing where it only has to go on."""
        whole = self._streamable(part.markdown)
        if not stream.certain or not whole.startswith(stream.sent):
            await self._stop(stream)
            return False
        params: dict[str, Any] = {}
        if chunks := _chunks(whole[len(stream.sent) :], stream.tasks, self._last_tasks(stream, part)):
            params["chunks"] = chunks
        if blocks := actions(part.buttons):
            params["blocks"] = blocks
        if is_live := part.view.final and self._sessions.lives(stream.to):
            params["session_status"] = "active"
        try:
            done = await self._stop(stream, **params)
            if done and is_live:
                self._sessions.end(stream.to, told=True)
            return done
        except (Unfit, FormatRefused, TooLong):
            await self._stop(stream)
            return False

    async def _stop(self, stream: Stream, **params: Any) -> bool:
        """False: it had been over before, and took nothing more."""
        self._stops.take()
        params |= {"metadata": mark(stream.nonce)} if stream.nonce else {}
        try:
            await self._wire.call("chat.stopStream", channel=stream.to.chat, ts=stream.ts, **params)
        except StreamOver:
            self._ended(stream)
            return False
        except MessageGone:
            self._ended(stream)
            raise
        except ChannelUnreachable as error:
            stream.certain = stream.certain and not error.maybe_done
            raise
        self._ended(stream)
        return True

    def _ended(self, stream: Stream) -> None:
        stream.over = True
        if stream.hinted:
            self._sessions.grown(stream.to)
        self._open.pop((stream.to.chat, stream.ts), None)
        self.none_at(stream.to, stream.ts)

    async def quit(self, to: Address, ts: str) -> None:
        """End a stream that an earlier process may have left open, or that is to be removed."""
        stream = self.find(to, ts) or Stream(to, ts, self._kit.clock.monotonic())
        async with stream.lock:
            if not stream.over:
                await self._stop(stream)

    async def run(self) -> None:
        """Until cancelled: no stream dies for want of something to show."""
        while True:
            await self._kit.clock.sleep(LOOK_SECONDS)
            now = self._kit.clock.monotonic()
            for stream in [one for one in self._open.values() if now - one.began >= LONGEST_SECONDS]:
                try:
                    async with self._kit.governor.call(stream.to, CallKind.FINAL):
                        await self.quit(stream.to, stream.ts)
                except ChannelError as error:  # Slack ends it a little later, and the next edit mends what that shows
                    log.info("a stream could not be ended: %s", error)
                    self._ended(stream)

    def _tasks(self, stream: Stream, part: Part) -> dict[str, Task]:
        """The tools as cards; a running one says for how long. Where there is nothing else to show yet, what the status
        line says is one as well."""
        now = self._kit.clock.monotonic()
        tasks = {id: (stream.thinking, "complete") for id in stream.tasks if id == THINKING}
        if not part.view.text and not part.view.tools and not part.final:
            stream.thinking = clipped(part.markdown.strip("*"), TITLE_CHARS) or "…"
            tasks[THINKING] = (stream.thinking + self._sessions.hint(stream.to, stream.language), RUNNING)
        for line in part.view.tools:
            since = stream.began_tools.setdefault(line.call_id, now)
            seconds = int(now - since if line.seconds is None else line.seconds)
            title = clipped(f"{line.name}: {line.summary}" if line.summary else line.name, TITLE_CHARS) or "…"
            tasks[line.call_id] = (f"{title} · {seconds} s" if seconds else title, _status(line))
        return tasks

    def _last_tasks(self, stream: Stream, part: Part) -> dict[str, Task]:
        """No card may go on for ever in a message that is complete: a tool that still runs is shown in the next one, and
        one that was stopped came to nothing."""
        now = self._tasks(stream, part)
        running = {id: title for id, (title, status) in (stream.tasks | now).items() if status == RUNNING}
        over = {id: (title, "error" if id in now else "complete") for id, title in running.items()}
        return now | over if part.final else now


def _status(line: ToolLine) -> str:
    return RUNNING if line.seconds is None else "error" if line.error else "complete"


def _chunks(text: str, before: dict[str, Task], tasks: dict[str, Task]) -> list[Chunk]:
    chunks: list[Chunk] = [{"type": "markdown_text", "text": text}] if text else []
    for id, (title, status) in tasks.items():
        if before.get(id) != (title, status):
            chunks.append({"type": "task_update", "id": id, "title": title, "status": status})
    return chunks
