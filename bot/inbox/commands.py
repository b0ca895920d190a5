"""Commands in chat: what a text that begins with a slash means, and what is answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from bot.brain.prompt import WINDOW_TOKENS
from bot.brain.purse import Purse
from bot.brain.turn import Turn
from bot.core.address import Address
from bot.core.text import clipped
from bot.core.texts import say
from bot.core.transcript import Body, BreakRow, ReplyRow
from bot.inbox.links import Links
from bot.inbox.model_commands import ModelCommands
from bot.inbox.pairing import Pairing, in_chat, is_code, told
from bot.inbox.settings import AUTO, CHOICES, KEYS, TIMEZONE, Settings, table, valid
from bot.inbox.skill_commands import SkillCommands
from bot.store.usage import UsageRows

AT_ONCE: Final = frozenset(
    {"start", "help", "stop", "status", "usage", "model", "why", "skills", "pair", "settings", "link"}
)
"""Answered beside a running turn; ``new``, ``retry`` and ``skill`` take their place in the order of
messages."""
KNOWN: Final = AT_ONCE | {"new", "retry", "skill"}
MENU: Final = ("new", "stop", "retry", "status", "usage", "model", "why", "skills", "settings", "help")
"""What a platform's own menu of commands offers, in this order; ``start`` is known to every client."""


Stopped = Literal["stopped", "nothing", "stop_not_yours"]


@dataclass(frozen=True, slots=True)
class Command:
    """``name`` without slash, lower case; ``known`` False for a word that no command has."""

    name: str
    rest: str
    known: bool


def command_of(text: str) -> Command | None:
    """``/name`` or ``/name@bot rest``. A path such as ``/etc/hosts`` or a lone slash is not a command, and what is asked of a
    skill (``/skill NAME question``) is a message."""
    words = text.split(maxsplit=1)
    if not words or not words[0].startswith("/"):
        return None
    name = words[0][1:].partition("@")[0].lower()
    if not name.isascii() or not name.replace("_", "").isalnum():
        return None
    rest = words[1] if len(words) > 1 else ""
    if name == "skill" and len(rest.split(maxsplit=1)) > 1:
        return None
    return Command(name, rest, name in KNOWN)


def spoken(words: str) -> str:
    """``stop`` as ``/stop``: what is said to the bot where a slash cannot be typed, if it is a command as it stands. The
    word alone is one, and with what that command takes behind it: "stop the music" is a message, and so is "model trains
    are fun"."""
    name, *rest = words.rstrip(" .!").split() or [""]
    name = name.lower()
    if name not in KNOWN or (rest and not _takes(name, rest)):
        return words
    return f"/{' '.join((name, *rest))}"


def _takes(name: str, rest: Sequence[str]) -> bool:
    match name:
        case "pair":
            verb = rest[0].lower()
            code = rest[1:] if verb == "approve" else rest
            return (
                rest == ["list"] or (verb == "revoke" and len(rest) == 2 and ":" in rest[1]) or is_code(" ".join(code))
            )
        case "link":
            return rest == ["off"] or is_code(" ".join(rest))
        case "settings":
            return rest[0].lower() in KEYS and len(rest) <= 2
        case "model" | "skill" | "skills":
            return len(rest) == 1
    return False


class Commands:
    """Answers commands. ``about`` is what the daemon says of itself, ``stop`` ends what runs at an address, ``zone`` is
    the time zone in which a day begins."""

    def __init__(
        self,
        usage: UsageRows,
        about: Callable[[], Mapping[str, Any]],
        stop: Callable[[Turn], Awaitable[Stopped]],
        zone: str,
        pairing: Pairing,
        settings: Settings,
        links: Links,
        purse: Purse,
        models: ModelCommands,
        skills: SkillCommands,
        trouble: Callable[[Address, str], str] = lambda address, language: "",
    ) -> None:
        """``trouble`` says in a language what is wrong with one chat alone."""
        self._trouble = trouble
        self._purse, self._models, self._skills = purse, models, skills
        self._usage, self._about, self._stop, self._zone = usage, about, stop, zone
        self._pairing, self._settings, self._links = pairing, settings, links

    async def answer(self, turn: Turn, command: Command, now: float) -> tuple[Body, ...]:
        """The rows of the answer: a reply, and for ``new`` the break."""
        match command.name:
            case "start":
                return (ReplyRow(say("command_start", turn.language, name=self._about()["name"])),)
            case "help":
                more = say("command_help_owner", turn.language) if self._pairing.is_owner(turn.sender) else ""
                return (ReplyRow(say("command_help", turn.language) + more),)
            case "new":
                return (ReplyRow(say("command_new", turn.language)), BreakRow())
            case "retry":  # with a question to answer once more it is no command any more
                return (ReplyRow(say("retry_nothing", turn.language)),)
            case "stop":
                return (ReplyRow(say(f"press_{await self._stop(turn)}", turn.language)),)
            case "status":
                here = self._trouble(turn.address, turn.language)
                return (ReplyRow("\n\n⚠ ".join(filter(None, (self._status(turn.language), here)))),)
            case "model":
                return (ReplyRow(await self._models.model(turn, command.rest)),)
            case "skills":
                owner = self._pairing.is_owner(turn.sender)
                return (ReplyRow(await self._skills.list(turn, command.rest, owner=owner)),)
            case "skill" if command.rest:
                return await self._skills.pick(turn, command.rest)
            case "skill":
                return (ReplyRow(await self._skills.list(turn, "", owner=False)),)
            case "why":
                return (ReplyRow(await self._models.why(turn)),)
            case "usage":
                return (ReplyRow(await self._day(turn, now)),)
            case "settings":
                return (ReplyRow(await self._set(turn, command.rest)),)
            case "link":
                return (ReplyRow(await self._links.answer(turn, command.rest)),)
            case "pair":
                return (ReplyRow(await self._pair(turn, command.rest, now)),)
        return (ReplyRow(say("command_unknown", turn.language, name=command.name)),)

    def _status(self, language: str) -> str:
        about = self._about()
        channels = ", ".join(f"{name}: {state}" for name, state in about["channels"].items())
        minutes = int(about["uptime_seconds"] // 60)
        told = say(
            "command_status",
            language,
            version=about["version"],
            minutes=minutes,
            channels=channels,
            model=_chain(about),
        )
        trouble = about["troubles"]["zh" if language.startswith("zh") else "en"]
        return f"{told}\n\n⚠ {trouble}" if trouble else told

    async def _set(self, turn: Turn, rest: str) -> str:
        """``KEY VALUE``, or nothing for what holds. In a group only an owner changes anything."""
        language, words = turn.language, rest.split(maxsplit=1)
        if len(words) < 2:
            return table(self._settings.of(turn.address), language, self._zone)
        key, wish = words[0].lower(), words[1].strip()
        if key not in KEYS:
            return say("setting_unknown", language, name=clipped(key, 40).replace("`", ""), keys=", ".join(KEYS))
        if not turn.message.direct and not self._pairing.is_owner(turn.sender):
            return say("command_owners_only", language)
        if key == "trigger" and turn.message.direct:
            return say("setting_groups_only", language)
        value = "" if wish.lower() == AUTO else valid(key, wish)
        if not value and wish.lower() != AUTO:
            choices = say("setting_zones", language, zone=self._zone) if key == TIMEZONE else ", ".join(CHOICES[key])
            return say("setting_invalid", language, name=key, choices=choices)
        await self._settings.set(turn.address, key, value)
        changed = value if key == "language" and value else language
        return say("setting_changed", changed, name=key, value=value or say("setting_default", changed))

    async def _pair(self, turn: Turn, rest: str, now: float) -> str:
        """``CODE`` or ``approve CODE``, ``revoke CHANNEL:ID``, or nothing (``list``) for who waits and who may talk."""
        language, by = turn.language, turn.sender.identity
        if not self._pairing.is_owner(turn.sender):
            return say("command_owners_only", language)
        if not turn.message.direct:
            return say("pair_direct_only", language)
        match rest.split():
            case [] | ["list"]:
                return in_chat(await self._pairing.listing(), now, language)
            case ["revoke", identity]:
                return told(await self._pairing.revoke(identity, by), language, mark="`")
            case ["revoke", *_] | ["approve"]:
                return say("pair_usage", language)
            case ["approve", *code] | [*code]:
                return told(await self._pairing.approve("".join(code), by), language, mark="`")
        raise AssertionError("a list of words always matches")

    async def _day(self, turn: Turn, now: float) -> str:
        today = datetime.fromtimestamp(now, UTC).astimezone(ZoneInfo(turn.zone or self._zone))
        midnight = today.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
        totals = await self._usage.since(midnight, turn.sender.identity)
        if not totals:
            return say("command_usage_none", turn.language)
        lines = [
            say(
                "command_usage_line",
                turn.language,
                model=total.model,
                calls=total.calls,
                read=total.input_tokens,
                written=total.output_tokens,
                usd=say("command_usage_unpriced", turn.language) if total.unpriced else f"${total.usd:.4f}",
            )
            for total in totals
        ]
        mine, spent = await self._purse.today(turn.sender.identity)
        limits = self._purse.limits
        budget = say(
            "command_usage_budget",
            turn.language,
            mine=f"{mine:.2f}",
            mine_limit=f"{limits.person_day:.2f}",
            all=f"{spent:.2f}",
            all_limit=f"{limits.day:.2f}",
        )
        return "\n".join((say("command_usage", turn.language), "", *lines, budget))


def models_told(about: Mapping[str, Any], language: str) -> str:
    """The chain, and that a demo answers where it does."""
    demo = say("command_model_demo", language, how=say("get_model", language)) if about["model"].get("demo") else ""
    return say("command_model", language, models=_sized_chain(about, language), demo=demo).strip()


def _sized_chain(about: Mapping[str, Any], language: str) -> str:
    """With how much each of them reads; of those about which nobody has said anything, what is assumed."""
    windows = about.get("windows", {})

    def told(name: str) -> str:
        if name not in windows:
            return name
        key = "model_reads" if windows[name] else "model_reads_unknown"
        return f"{name} ({say(key, language, tokens=f'{windows[name] or WINDOW_TOKENS:,}')})"

    return " → ".join(map(told, about["chain"])) or "–"


def _chain(about: Mapping[str, Any]) -> str:
    return " → ".join(about["chain"]) or "–"
