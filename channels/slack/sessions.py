"""Signs of life, and Slack's own Stop: the status of a thread, and of the agent's session in it."""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import Final

from bot.core.address import Address
from bot.core.errors import ChannelError
from bot.core.inbound import UserMessage
from bot.core.ports import CallKind, Clock
from bot.core.texts import language_of, say
from bot.outbox.errands import Errands
from channels.slack.refusals import Unfit
from channels.slack.tiers import Tier
from channels.slack.wire import Wire

log = logging.getLogger(__name__)

ASKED_KEPT: Final = 2000
NO_STOP: Final = "missing_agent_session_stopped_event_subscription"
AGENT: Final = (
    "declare the app as an agent (“Agents & AI Apps” at api.slack.com/apps), subscribe to the bot event"
    " agent_session_stopped and install it again"
)


class Sessions:
    """An app that is declared an agent gets a Stop button while its session is "processing"; whether this one is, the
    first attempt tells. ``streams``: answers in threads have no button of their own; ``beside``: a status has to do for
    what is answered beside a thread as well, under the question."""

    def __init__(
        self, wire: Wire, errands: Errands, clock: Clock, language: str, *, streams: bool, beside: bool
    ) -> None:
        self._streams, self._beside_threads = streams, beside
        self._wire, self._errands, self._language = wire, errands, language
        self.name = ""
        """The bot's, once it is known."""
        self._statuses, self._changes = Tier(clock, 85, 15), Tier(clock, 40, 8)
        self._asked: OrderedDict[Address, UserMessage] = OrderedDict()
        self._beside: dict[Address, str] = {}
        self._live: set[Address] = set()
        self._processing: set[Address] = set()
        self._agent = True
        self._offers_stop = self._told = False

    def asked(self, message: UserMessage) -> None:
        """The latest question of a conversation, which its status stands under."""
        self._asked[message.address] = message
        if len(self._asked) > ASKED_KEPT:
            self._asked.popitem(last=False)

    async def sign(self, to: Address) -> None:
        """Show that somebody is at work, for two minutes or until the answer; no wait for a turn, which would be late."""
        question = self._asked.get(to)
        thread = to.thread or (question.id if question else "")
        if not thread or not (to.thread or self._beside_threads) or not self._statuses.take():
            return
        language = self.language(question)
        if not to.thread:
            self._beside[to] = thread
        await self._status(to, thread, say("slack_status", language) + self.hint(to, language))

    def language(self, question: UserMessage | None) -> str:
        """That in which the bot speaks of it."""
        return language_of(question.text, self._language, question.sender.language) if question else "en"

    def hint(self, to: Address, language: str) -> str:
        """How an answer that is streamed there is stopped, where Slack shows no button; "" where one is."""
        hinted = self._streams and to.thread and not self._offers_stop and self.name
        return say("slack_stop", language, name=self.name) if hinted else ""

    def growing(self, to: Address, language: str) -> bool:
        """An answer is being streamed that takes a while: whoever wants to stop it reads how. False: there is a button."""
        if not (hint := self.hint(to, language)) or not self._statuses.take():
            return False
        told = say("slack_writing", language) + hint
        self._errands.surely(to, CallKind.ANSWER, lambda: self._status(to, to.thread, told), repeatable=True)
        return True

    def grown(self, to: Address) -> None:
        """That answer is at its end."""
        self._errands.surely(to, CallKind.ANSWER, lambda: self._status(to, to.thread, ""), repeatable=True)

    def seen(self, to: Address) -> None:
        """Something of the answer is on the screen. In a thread that ends the status; beside one nothing does."""
        self._asked.pop(to, None)
        if thread := self._beside.pop(to, ""):
            self._errands.surely(to, CallKind.ANSWER, lambda: self._status(to, thread, ""), repeatable=True)

    async def _status(self, to: Address, thread: str, status: str) -> None:
        """A flood wait for these is nobody else's: it must not silence the conversation."""
        try:
            await self._wire.call("assistant.threads.setStatus", channel_id=to.chat, thread_ts=thread, status=status)
        except ChannelError as error:
            log.info("no sign of life in %s: %s", to, error)

    def begin(self, to: Address) -> None:
        """An answer is being streamed: Slack may offer Stop."""
        if self._agent and to not in self._live and self._changes.take():
            self._live.add(to)
            self._errands.surely(to, CallKind.ANSWER, lambda: self._begun(to), repeatable=True)

    def lives(self, to: Address) -> bool:
        """Whether the session is "processing"."""
        return to in self._processing

    def end(self, to: Address, *, told: bool) -> None:
        """The answer is complete. ``told``: Slack knows it already."""
        self._live.discard(to)
        if to in self._processing and not told:
            self._errands.surely(to, CallKind.ANSWER, lambda: self._session(to, "active"), repeatable=True)
        self._processing.discard(to)

    async def _begun(self, to: Address) -> None:
        """The answer may have come to its end meanwhile."""
        if not await self._session(to, "processing"):
            self._live.discard(to)
        elif to in self._live:
            self._processing.add(to)
        else:
            await self._session(to, "active")

    async def _session(self, to: Address, status: str) -> bool:
        try:
            told = await self._wire.call(
                "agents.sessions.setStatus", channel_id=to.chat, thread_ts=to.thread, status=status
            )
        except Unfit:
            self._agent = self._offers_stop = False
            log.warning("Slack shows no Stop button at answers that grow: %s", AGENT)
            return False
        except ChannelError as error:
            log.info("the session in %s keeps its status: %s", to, error)
            return False
        self._warned(str(told.get("warning") or ""))
        return True

    def _warned(self, warning: str) -> None:
        offers = NO_STOP not in warning
        if not offers and (self._offers_stop or not self._told):
            log.warning("Slack shows no Stop button at answers that grow: %s", AGENT)
        self._offers_stop, self._told = offers, True
