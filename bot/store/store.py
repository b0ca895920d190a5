"""The store of one data folder: the database and a class per noun."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.core.errors import StoreReadOnly
from bot.store.approvals import ApprovalRows
from bot.store.calls import CallRows
from bot.store.database import Database
from bot.store.files import Files
from bot.store.groups import GroupRows
from bot.store.inbox import InboxRows
from bot.store.links import LinkRows
from bot.store.notes import NoteRows
from bot.store.overheard import OverheardRows
from bot.store.parts import PartRows
from bot.store.people import PeopleRows
from bot.store.prompts import PromptRows
from bot.store.repair import Loss, mark_born, repair
from bot.store.routes import RouteRows
from bot.store.settings import SettingRows
from bot.store.transcript import TranscriptRows
from bot.store.usage import UsageRows

FILE_NAME = "bowerbird.db"


def _prepare(path: Path) -> Loss | None:
    path.parent.mkdir(parents=True, exist_ok=True)
    loss = repair(path)
    mark_born(path)
    path.touch(mode=0o600)  # the folder may be older than Bowerbird and open to others
    return loss


@dataclass(frozen=True, slots=True)
class Store:
    """``loss`` names what a damaged file cost, None for a sound one."""

    database: Database
    inbox: InboxRows
    transcript: TranscriptRows
    parts: PartRows
    calls: CallRows
    approvals: ApprovalRows
    usage: UsageRows
    prompts: PromptRows
    people: PeopleRows
    overheard: OverheardRows
    settings: SettingRows
    links: LinkRows
    groups: GroupRows
    routes: RouteRows
    files: Files
    loss: Loss | None

    def notes(self, owner: str) -> NoteRows:
        return NoteRows(self.database, owner)

    @classmethod
    @asynccontextmanager
    async def open(cls, data_dir: Path) -> AsyncIterator[Store]:
        """The caller holds the folder's lock. Raises ``StoreError`` with a sentence that says what to do."""
        path = data_dir / FILE_NAME
        try:
            loss = await asyncio.to_thread(_prepare, path)
        except OSError as error:
            raise StoreReadOnly(
                f"{data_dir} cannot be written ({error.strerror}): give the user that runs Bowerbird write access, or set data_dir."
            ) from error
        async with Database.open(path) as database:
            yield cls.over(database, loss)

    @classmethod
    def over(cls, database: Database, loss: Loss | None = None) -> Store:
        """The nouns over a database that is already open."""
        return cls(
            database,
            InboxRows(database),
            TranscriptRows(database),
            PartRows(database),
            CallRows(database),
            ApprovalRows(database),
            UsageRows(database),
            PromptRows(database),
            PeopleRows(database),
            OverheardRows(database),
            SettingRows(database),
            LinkRows(database),
            GroupRows(database),
            RouteRows(database),
            Files(database.path.parent),
            loss,
        )
