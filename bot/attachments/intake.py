"""From what came with a message to what a model can read: fetched side by side, kept, opened, each for itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from bot.attachments.kinds import HEAD_BYTES, SOUND_ENDINGS, Kind, kind_of
from bot.attachments.names import NAME_CHARS, shown_name
from bot.attachments.opening import Opener
from bot.attachments.plain import decoded
from bot.core.errors import ChannelError, ProviderError, StoreError
from bot.core.inbound import FileRef, UserMessage
from bot.core.model import Audio, ModelRef, Transcript
from bot.core.ports import Clock
from bot.core.tasks import first_failure
from bot.core.text import clipped, shortened, storable
from bot.core.transcript import KeptFile, Trouble
from bot.store.files import Files
from bot.store.usage import UsageRows

log = logging.getLogger(__name__)

MOST_FILES: Final = 10
"""Of one message: what an album holds at most on Telegram, and a message on Discord."""
MOST_BYTES: Final = 20 * 1024 * 1024
"""Of one file: what Telegram gives out to bots."""
AT_ONCE: Final = 6
"""Files on their way, and others in which somebody speaks, whoever sent them: what is held in memory."""
FETCH_SECONDS: Final = 60.0
SPEECH_SECONDS: Final = 120.0
FILE_SECONDS: Final = 240.0
"""For all of it, waiting for others' files included."""
FILE_CHARS: Final = 60_000
MESSAGE_CHARS: Final = 120_000

Fetch = Callable[[FileRef], Awaitable[bytes]]
Transcribe = Callable[[ModelRef, Audio], Awaitable[Transcript]]


class Intake:
    """``fetch`` gets a file from its channel. ``speech`` is the model that writes speech down, None where there is none,
    ``transcribe`` asks it."""

    def __init__(
        self,
        *,
        fetch: Fetch,
        files: Files,
        opener: Opener,
        speech: ModelRef | None,
        transcribe: Transcribe,
        usage: UsageRows,
        clock: Clock,
    ) -> None:
        self._fetch, self._files, self._opener = fetch, files, opener
        self._speech, self._transcribe, self._usage, self._clock = speech, transcribe, usage, clock
        self._fetching, self._listening = asyncio.Semaphore(AT_ONCE), asyncio.Semaphore(AT_ONCE)

    async def take(self, turn: str, message: UserMessage) -> tuple[KeptFile, ...]:
        """What came with the message, in its order, and then with what it quotes. A file that cannot be had costs itself
        and nothing else; raises ``StoreError`` alone."""
        wanted = message.all_files[:MOST_FILES]
        chars = min(FILE_CHARS, MESSAGE_CHARS // max(1, len(wanted)))
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._one(turn, message, ref, chars)) for ref in wanted]
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None
        left_out = (replace(_named(ref, message), trouble="many") for ref in message.all_files[MOST_FILES:])
        return (*(task.result() for task in tasks), *left_out)

    async def _one(self, turn: str, message: UserMessage, ref: FileRef, chars: int) -> KeptFile:
        kept = _named(ref, message)
        if ref.size_bytes is not None and ref.size_bytes > MOST_BYTES:
            return replace(kept, trouble="large")
        try:
            async with asyncio.timeout(FILE_SECONDS):
                async with self._fetching:
                    kept, kind = await self._taken(ref, kept, chars)
                match kind:
                    case None:
                        return kept
                    case Kind.SOUND:
                        async with self._listening:
                            return await self._heard(turn, message, kept)
                return await self._opened(kept, kind, chars)
        except TimeoutError:
            return replace(kept, trouble="slow")
        except StoreError:
            raise
        except Exception:
            log.exception("turn %s: a file broke something and is left", turn)
            return replace(kept, trouble="broken")

    async def _taken(self, ref: FileRef, kept: KeptFile, chars: int) -> tuple[KeptFile, Kind | None]:
        """The file as it is kept, and what it is; None where nothing is left to be done."""
        content = await self._fetched(ref)
        if isinstance(content, str):
            return replace(kept, trouble=content), None
        kept = replace(kept, path=await self._files.keep(content))
        kind = kind_of(content[:HEAD_BYTES], kept.name, kept.media_type)
        if kind is not Kind.TEXT:
            return (replace(kept, trouble="kind"), None) if kind is Kind.OTHER else (kept, kind)
        text = await asyncio.to_thread(decoded, content)
        return (replace(kept, trouble="kind") if text is None else _with_text(kept, text, chars)), None

    async def _fetched(self, ref: FileRef) -> bytes | Trouble:
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                content = await self._fetch(ref)
        except TimeoutError:
            return "slow"
        except ChannelError as error:
            log.info("a file could not be fetched: %s", error)
            return "gone"
        if not content:
            return "blank"
        return content if len(content) <= MOST_BYTES else "large"

    async def _opened(self, kept: KeptFile, kind: Kind, chars: int) -> KeptFile:
        place = self._files.place(kept.path)
        assert place is not None, "it was just kept"
        opened = await self._opener.open(place, kind, chars)
        if not opened.body:
            return replace(kept, trouble=opened.trouble or "broken")
        if kind is Kind.PICTURE:
            return replace(kept, picture=await self._files.keep(opened.body), trouble=opened.trouble)
        return replace(kept, text=storable(opened.body.decode("utf-8", "replace")), trouble=opened.trouble)

    async def _heard(self, turn: str, message: UserMessage, kept: KeptFile) -> KeptFile:
        if self._speech is None:
            return replace(kept, trouble="deaf")
        content = await self._files.read(kept.path)
        if content is None:
            return replace(kept, trouble="gone")
        try:
            async with asyncio.timeout(SPEECH_SECONDS):
                said = await self._transcribe(self._speech, _audio(kept, content))
        except (ProviderError, TimeoutError) as error:
            detail = error.detail if isinstance(error, ProviderError) else ""
            log.warning("turn %s: speech was not written down: %s (%s)", turn, type(error).__name__, detail)
            return replace(kept, trouble="unheard")
        await self._bill(turn, message, self._speech, said)
        return _with_text(kept, said.text, MESSAGE_CHARS) if said.text.strip() else replace(kept, trouble="silent")

    async def _bill(self, turn: str, message: UserMessage, model: ModelRef, said: Transcript) -> None:
        used = said.usage
        usd = None if model.price is None else model.price.cost(used)
        now, who = self._clock.now(), message.sender.identity
        await self._usage.add(now, turn, message.address, who, str(model), used, usd)


def unopened(message: UserMessage) -> tuple[KeptFile, ...]:
    """What came with a message that is answered without looking at it."""
    return tuple(replace(_named(ref, message), trouble="unopened") for ref in message.all_files)


def _named(ref: FileRef, message: UserMessage) -> KeptFile:
    """Whoever passes on a voice, or replies to one, has not said it now."""
    forwarded = message.quote is not None and message.quote.forwarded
    quoted = ref not in message.files
    media_type = clipped(storable(ref.media_type), NAME_CHARS)
    spoken = ref.spoken and not forwarded and not quoted
    return KeptFile(shown_name(ref.name), media_type, spoken=spoken, quoted=quoted and not forwarded)


def _with_text(kept: KeptFile, text: str, chars: int) -> KeptFile:
    text = storable(text).strip()
    if not text:
        return replace(kept, trouble="blank")
    return replace(kept, text=shortened(text, chars), trouble="cut" if len(text) > chars else "")


def _audio(kept: KeptFile, content: bytes) -> Audio:
    media_type = kept.media_type.lower().partition(";")[0].strip()
    ending = SOUND_ENDINGS.get(media_type, "")
    name = kept.name if not ending or kept.name.lower().endswith(ending) else f"{kept.name}{ending}"
    return Audio(name, media_type, content)
