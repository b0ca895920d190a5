"""``bowerbird doctor``: what is right, what is not, and what to do about it."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from bot.cli.session import Session, config_option
from bot.core.errors import (
    BowerbirdError,
    ConfigError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
)

if TYPE_CHECKING:
    from bot.config.doctor import Finding
    from bot.config.loaded import Config

_OWNED_BY_WHO_IS_THERE: Final = ("web", "terminal")

DETAILS = """\
Without --online nothing is asked of any platform or vendor. Exit status 1 when something is wrong, 78 when it is the
configuration.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    config_option(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--online", action="store_true", help="also try the tokens and keys against their services")


def run(args: argparse.Namespace, session: Session) -> int:
    session.log_to_stderr("error")
    from bot.config.doctor import failed, refused

    try:
        config = session.config()
    except ConfigError as error:
        _print(refused(error), args.json)
        return error.exit_status
    findings = asyncio.run(_findings(config, args.online))
    _print(findings, args.json)
    return 1 if failed(findings) else 0


def _print(findings: Iterable[Finding], as_one_object: bool) -> None:
    from bot.config.doctor import as_json

    print(as_json(findings) if as_one_object else "\n".join(map(str, findings)))


async def _findings(config: Config, online: bool) -> list[Finding]:
    from bot.config.answering import money, routes, skills
    from bot.config.doctor import check

    findings = [
        *await check(config, (skills, routes, money)),
        await _daemon(config),
        *_losses(config),
        await _store(config),
    ]
    findings += await _people(config)
    if online:
        from bot.config.reach import reach, windows
        from bot.net.http import Transport

        transport = Transport()
        try:
            findings += [*await reach(config, transport), *await windows(config, transport)]
        finally:
            await transport.aclose()
    return findings


async def _daemon(config: Config) -> Finding:
    from bot.app.control_client import ControlClient, NoDaemon
    from bot.config.doctor import Finding

    try:
        async with ControlClient(config.data_dir) as client:
            status = await client.status()
    except NoDaemon:
        return Finding("ok", "daemon", "is not running")
    except BowerbirdError as error:
        return Finding("fail", "daemon", str(error), "restart it")
    if status.get("trouble"):
        rests = (f"{one['model']} of {one['provider']} rests until {one['until']}" for one in status.get("resting", ()))
        return Finding("fail", "daemon", "; ".join((str(status["trouble"]), *rests)), "see its log")
    model = status.get("model") or {}
    if model.get("state") == "failed":
        why = str(model.get("reason") or "the log says why").rstrip(".")
        advice = (
            "it is tried again; if it stays so, see local-engine.log in the data folder, or give a provider its key"
        )
        return Finding("warn", "daemon", f"the local model does not work: {why}", advice)
    return Finding("ok", "daemon", f"runs as process {status.get('pid')}")


async def _store(config: Config) -> Finding:
    """Reading changes nothing, with or without a daemon."""
    from bot.config.doctor import Finding
    from bot.store.reading import examined, open_archive
    from bot.store.store import FILE_NAME

    file = config.data_dir / FILE_NAME
    try:
        if wrong := await examined(config.data_dir):
            return Finding("fail", "store", f"{file} is damaged: {wrong}", store_advice(StoreDamaged()))
        if not file.exists():
            return Finding("ok", "store", "is made at the first start")
        async with open_archive(config.data_dir) as archive:
            await archive.chats("terminal", "main", 1)
    except StoreError as error:
        return Finding("fail", "store", str(error), store_advice(error))
    return Finding("ok", "store", f"no damage was found in {file}")


def store_advice(error: StoreError) -> str:
    """What helps against this one: a backup mends nothing that a right or a few megabytes would."""
    match error:
        case StoreFull():
            return "free some space on that disk"
        case StoreBusy():
            return "close the other program, then look again"
        case StoreReadOnly():
            return "give the user that runs Bowerbird the folder (chown, chmod u+rwX), or set data_dir to one that it may write"
        case StoreDamaged():
            return "start Bowerbird (again, if it runs): it saves what it can and keeps the old file; restore a backup if too much is gone"
    return "see the sentence above, and the log"


def _losses(config: Config) -> list[Finding]:
    """Damaged stores that were replaced: told for as long as the old file is kept."""
    from bot.config.doctor import Finding
    from bot.store.repair import kept_aside

    advice = "look whether something is missing, restore a backup if so; then delete the folder, and this line goes"
    return [
        Finding("warn", "store", f"the store was damaged and has been replaced; the old one is in {folder}", advice)
        for folder in kept_aside(config.data_dir)
    ]


async def _people(config: Config) -> list[Finding]:
    """Channels without an owner: nobody there can approve a tool or let others in."""
    from bot.app.pairing import listing
    from bot.config.doctor import Finding
    from bot.inbox.access import Access

    try:
        known = await listing(config)
    except BowerbirdError:
        return []  # the lines about daemon and store say why
    owned = {person.channel for person in known.people if person.standing == "owner"} | {*_OWNED_BY_WHO_IS_THERE}
    findings = []
    for name, entry in config.channels.items():
        access = getattr(entry.config, "access", None)
        if not entry.on or name in owned or not isinstance(access, Access):
            continue
        if access.pairing:
            advice = "write to the bot there; it answers with a code for `bowerbird pair approve CODE`"
            findings.append(Finding("ok", "people", f"{name} has no owner yet", advice))
        else:
            advice = f"add an id to channels.{name}.access.owners, or set pairing: true"
            findings.append(Finding("warn", "people", f"{name} has no owner, and pairing is off", advice))
    return findings
