"""Files on their way into a conversation: their bytes go first, unseen, and then the one call that shows them."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from bot.core.address import Address
from bot.core.errors import (
    ChannelError,
    ChannelUnreachable,
    ChatClosed,
    FileUnreadable,
    RateLimited,
    StoreError,
    TooLong,
    Unauthorised,
)
from bot.core.ports import CallKind, ChannelKit
from bot.core.view import OutFile, Ref
from bot.outbox.errands import Errands
from channels.slack.permits import COMPLETE
from channels.slack.refusals import FileGone, Hushed, Unfit
from channels.slack.tiers import Tier
from channels.slack.wire import Wire

log = logging.getLogger(__name__)

NOTE: Final = "uploads"
KEPT: Final = 200
MOST_BYTES: Final = 100 * 1024 * 1024
"""Slack takes a gigabyte; what is sent is held in memory on its way."""

Standing = Literal["shown", "known", "unknown"]
"""Of a file: it stands in the conversation; Slack has it, and may be at work on showing it; Slack has no such file."""


@dataclass(slots=True)
class _Upload:
    """``doubted``: it was perhaps completed."""

    id: str
    doubted: bool


@dataclass(slots=True)
class _Ready:
    """A file whose bytes Slack has. ``before``: it was doubted before it was completed now."""

    file: OutFile
    nonce: str
    upload: _Upload
    standing: Standing
    before: bool

    @property
    def has_arrived(self) -> bool:
        """Where Slack knows no such upload any more."""
        return self.before and self.standing == "known"


class Uploads:
    """Slack completes an upload once: as long as a file goes under the same id, it is never shown twice. So the id is
    noted before that, and a later process goes on with it. The files of one answer are completed in one call, which makes
    one message of them: it takes all or none."""

    def __init__(self, kit: ChannelKit, wire: Wire, errands: Errands) -> None:
        self._kit, self._wire, self._errands = kit, wire, errands
        self._tickets, self._completions = Tier(kit.clock, 85, 15), Tier(kit.clock, 85, 15)
        self._uploads: OrderedDict[str, _Upload] | None = None
        self._repeated: set[str] = set()

    async def send(self, to: Address, files: Sequence[tuple[OutFile, str]]) -> Sequence[Ref | ChannelError]:
        """A message that is these files alone, each with its nonce, up to the first that cannot be sent. The references are
        the files' ids: Slack does not say which message that makes. Raises ``ChannelError``."""
        ready: list[_Ready] = []
        refused: list[ChannelError] = []
        try:
            for file, nonce in files:
                try:
                    ready.append(await self._ready(to, file, nonce))
                except (RateLimited, Hushed, Unauthorised):
                    raise
                except ChannelUnreachable as error:
                    raise ChannelUnreachable(str(error), maybe_done=False) from None  # nothing is shown by that
                except ChannelError as error:
                    refused.append(_unfit(error))
                    break
            if left := [one for one in ready if one.standing != "shown"]:
                await self._shown(to, left)
        except Hushed as hushed:  # not for the governor: it is nothing that this conversation did
            raise RateLimited(str(hushed), hushed.retry_after) from None
        except ChatClosed as closed:
            raise _unfit(closed) from None
        self._repeated -= {one.nonce for one in ready}
        return [*(Ref(one.upload.id) for one in ready), *refused]

    async def _ready(self, to: Address, file: OutFile, nonce: str) -> _Ready:
        upload = (await self._loaded()).get(nonce) or await self._uploaded(file, nonce)
        standing = await self._standing(to, upload) if upload.doubted else "unknown"
        return _Ready(file, nonce, upload, standing, upload.doubted)

    async def _uploaded(self, file: OutFile, nonce: str) -> _Upload:
        content = await asyncio.to_thread(_content, file)
        await self._tickets.turn()
        told = await self._wire.call("files.getUploadURLExternal", filename=file.name, length=len(content))
        url, id = told.get("upload_url"), told.get("file_id")
        if not isinstance(url, str) or not isinstance(id, str):
            raise ChannelUnreachable("Slack did not say where the file should go.", maybe_done=False)
        await self._wire.upload(url, content)
        upload = _Upload(id, doubted=False)
        await self._keep(nonce, upload)
        return upload

    async def _standing(self, to: Address, upload: _Upload) -> Standing:
        """Where Slack does not let the app look, its word that an upload was completed has to do."""
        try:
            told = (await self._wire.call("files.info", file=upload.id)).get("file")
        except FileGone:
            return "unknown"
        except Unfit as error:
            log.warning("whether a file was sent cannot be looked up: %s", error)
            return "known"
        shares = told.get("shares") if isinstance(told, dict) else None
        places = [one for one in shares.values() if isinstance(one, dict)] if isinstance(shares, dict) else []
        return "shown" if any(to.chat in place for place in places) else "known"

    async def _shown(self, to: Address, ready: Sequence[_Ready]) -> None:
        thread = {"thread_ts": to.thread} if to.thread else {}
        entries = [{"id": one.upload.id, "title": one.file.name} for one in ready]
        await self._completions.turn()
        async with self._kit.governor.call(to, CallKind.FINAL):
            self._errands.seen(to)
            for one in ready:
                one.upload.doubted = True
            try:
                await self._wire.call(COMPLETE, files=entries, channel_id=to.chat, **thread)
            except FileGone:
                if not all(one.has_arrived for one in ready):
                    await self._lost(ready)
                log.info("files to %s had arrived", to)
            except ChannelError as error:
                for one in ready:
                    one.upload.doubted = one.before or (isinstance(error, ChannelUnreachable) and error.maybe_done)
                raise

    async def _lost(self, ready: Sequence[_Ready]) -> None:
        """Slack has forgotten an upload that nobody has seen: it goes once more, from its beginning. Of several, Slack does
        not say which."""
        if len(ready) > 1:
            raise Unfit("Slack does not take the files together.")
        [nonce] = [one.nonce for one in ready]
        if nonce in self._repeated:
            raise Unfit("Slack loses the file.")
        self._repeated.add(nonce)
        await self._keep(nonce, None)
        raise ChannelUnreachable("The upload was lost.", maybe_done=False)

    async def _loaded(self) -> OrderedDict[str, _Upload]:
        """Of what an earlier process left, nobody knows how far it came."""
        if self._uploads is None:
            told = _read(await self._kit.notes.read(NOTE))
            if self._uploads is None:  # two may have looked at once
                self._uploads = OrderedDict((nonce, _Upload(id, doubted=True)) for nonce, id in told)
        return self._uploads

    async def _keep(self, nonce: str, upload: _Upload | None) -> None:
        uploads = await self._loaded()
        if upload is None:
            uploads.pop(nonce, None)
        else:
            uploads[nonce] = upload
            if len(uploads) > KEPT:
                uploads.popitem(last=False)
        try:
            await self._kit.notes.write(NOTE, json.dumps([[key, one.id] for key, one in uploads.items()]))
        except StoreError as error:
            log.warning("a restart would send a file again: %s", error)


def _unfit(error: ChannelError) -> ChannelError:
    """Files are refused where words are not: those decide whether the conversation is closed."""
    return Unfit(str(error)) if isinstance(error, ChatClosed) else error


def _content(file: OutFile) -> bytes:
    """Raises ``ChannelError`` for a file that is gone, empty or too large."""
    try:
        if os.path.getsize(file.path) > MOST_BYTES:
            raise TooLong("The file is too large.")
        content = Path(file.path).read_bytes()
    except OSError:
        raise FileUnreadable("The file is gone.") from None
    if not content:
        raise FileUnreadable("The file is empty.")
    return content


def _read(told: str | None) -> list[tuple[str, str]]:
    try:
        return [(str(nonce), str(id)) for nonce, id in json.loads(told or "[]")]
    except (ValueError, TypeError):
        return []
