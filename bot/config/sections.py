"""Every section of ``config.yaml`` that does not belong to one channel or one provider, with its defaults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, field_validator, model_validator

from bot.config.model_entry import (
    DEFAULT_FALLBACK,
    DEFAULT_MODEL,
    DEFAULT_SMALL_MODEL,
    DEFAULT_TRANSCRIBER,
    Alternative,
    ModelEntry,
    Rule,
)
from bot.config.section import Command, Section, Text, Url, is_off
from bot.config.when import Cron, QuietHours, Zone, quiet_minutes
from bot.core.address import Address
from bot.net.target import Allowed

Decision = Literal["allow", "ask", "deny"]
Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(gt=0)]
Dollars = Annotated[float, Field(ge=0)]


class Intent(Section):
    """A kind of message for routes to ask about. Under the name of a built-in one (``bot/brain/routing/intents.json``)
    examples and keywords are added to its own; ``threshold`` 0 leaves it."""

    description: str = ""
    examples: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.0


class Routing(Section):
    """How a model is chosen for a turn; the first rule that matches wins."""

    enabled: bool = True
    classify_model: ModelEntry | None = DEFAULT_SMALL_MODEL
    rules: tuple[Rule, ...] = ()
    local_only: tuple[str, ...] = ()
    local_preferred: tuple[str, ...] = ()
    cloud_only: tuple[str, ...] = ()
    alternative: Annotated[Alternative | None, BeforeValidator(lambda value: None if is_off(value) else value)] = None
    intents: Mapping[str, Intent] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _no_intent_is_both(self) -> Routing:
        both = sorted(set(self.cloud_only) & {*self.local_only, *self.local_preferred})
        if both:
            raise ValueError(f'the intent "{both[0]}" stands in cloud_only and in a local list')
        return self


class Llm(Section):
    """``transcribe`` writes voice notes down, None for nobody."""

    default: ModelEntry = DEFAULT_MODEL
    routing: Routing = Routing()
    fallback: tuple[ModelEntry, ...] = DEFAULT_FALLBACK
    transcribe: Annotated[ModelEntry | None, BeforeValidator(lambda value: None if is_off(value) else value)] = (
        DEFAULT_TRANSCRIBER
    )


class Limits(Section):
    """Per turn. Waiting for a person does not count as time."""

    tool_calls: Count = 25
    turn_tokens: Count = 200_000
    turn_seconds: Count = 900


class Money(Section):
    day_usd: Dollars = 5.0
    person_day_usd: Dollars = 2.0


class Brain(Section):
    llm: Llm = Llm()
    when_busy: Literal["steer", "queue", "collect", "interrupt"] = "steer"
    limits: Limits = Limits()
    money: Money = Money()
    constraints: tuple[str, ...] = ()


class Embedder(Section):
    """``provider`` is ``local``, ``none``, or the name of a provider; a name alone may stand for the section."""

    provider: Text = "local"
    model: str = ""

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        if is_off(value):
            return {"provider": "none"}
        return {"provider": value} if isinstance(value, str) else value

    def brief(self) -> Any:
        """As it would be written in short; None when only the section says it all."""
        return None if self.model else self.provider


class Reranker(Section):
    """``local`` or ``none`` may stand for the section; ``cross_encoder`` is a model's folder."""

    kind: Literal["local", "none", "cross_encoder"] = "local"
    cross_encoder: Path | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        if is_off(value):
            return {"kind": "none"}
        if isinstance(value, str):
            if value != "local":
                raise ValueError("must be one of: local, none; or a section with cross_encoder")
            return {"kind": value}
        if isinstance(value, dict) and value.get("cross_encoder"):
            return {"kind": "cross_encoder", **value}
        return value

    def brief(self) -> Any:
        """As it would be written in short; None when only the section says it all."""
        return None if self.cross_encoder else self.kind


class Distill(Section):
    """``nightly`` is a cron expression, None for never. ``model`` None: the conversation's own models."""

    after_turn: bool = True
    nightly: Cron | None = "0 3 * * *"
    model: ModelEntry | None = DEFAULT_SMALL_MODEL

    @model_validator(mode="before")
    @classmethod
    def _off(cls, value: Any) -> Any:
        return {"after_turn": False, "nightly": None} if is_off(value) else value


class Memory(Section):
    embedder: Embedder = Embedder()
    reranker: Reranker = Reranker()
    distill: Distill = Distill()
    knowledge: tuple[Path, ...] = ()


class TrustedSource(Section):
    """Text from ``source`` (a pattern) does not make the tools in ``for`` ask."""

    source: Text
    for_: Annotated[tuple[str, ...], Field(alias="for", min_length=1)]


class Files(Section):
    root: Path = Path("workspace")


class Shell(Section):
    sandbox: Literal["bubblewrap", "none"] = "bubblewrap"
    network: bool = False
    timeout: Seconds = 60


class WebAccess(Section):
    """``allow_hosts`` are the hosts of the own network that may be read all the same, with a port where it is not one of
    the web's (``nas.lan:5000``), or whole networks; ``allow_ports`` are open on every public host."""

    search: Literal["ddgs", "searxng"] = "ddgs"
    searxng: Url = ""
    allow_hosts: tuple[Text, ...] = ()
    allow_ports: tuple[Annotated[int, Field(gt=0, lt=65_536)], ...] = ()

    @model_validator(mode="after")
    def _is_sound(self) -> WebAccess:
        Allowed.of(self.allow_hosts)
        if self.search == "searxng" and not self.searxng:
            raise ValueError("search: searxng needs the address of the server under searxng")
        return self


class McpServer(Section):
    """A tool server: a program that is started (``command``, ``env``) or an address (``url``, ``headers``)."""

    command: Command | None = None
    url: Url = ""
    env: Mapping[str, SecretStr] = Field(default_factory=dict)
    headers: Mapping[str, SecretStr] = Field(default_factory=dict)
    timeout: Seconds = 60

    @model_validator(mode="after")
    def _one_way(self) -> McpServer:
        if bool(self.command) == bool(self.url):
            raise ValueError("needs either command or url")
        return self


DEFAULT_APPROVE: Mapping[str, Decision] = {"web_*": "allow", "memory_*": "allow", "*": "ask"}


class Tools(Section):
    """``approve``: tool name or pattern to decision; the first that matches."""

    approve: Mapping[str, Decision] = DEFAULT_APPROVE
    approval_minutes: Count = 30
    trusted_sources: tuple[TrustedSource, ...] = ()
    files: Files = Files()
    shell: Shell = Shell()
    web: WebAccess = WebAccess()
    secrets: Mapping[str, SecretStr] = Field(default_factory=dict)
    mcp: Mapping[str, McpServer] = Field(default_factory=dict)


class Hook(Section):
    """A program of the owner's that is told of an event; it runs only when ``trusted``."""

    event: Literal[
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart", "SubagentStop", "Stop"
    ]
    command: Command
    trusted: bool = False
    timeout: Seconds = 10


class Role(Section):
    prompt: str = ""
    tools: tuple[str, ...] = ()
    models: tuple[ModelEntry, ...] = ()


class Team(Section):
    max_parallel: Count = 3
    mode: Literal["auto", "radical"] = "auto"
    roles: Mapping[str, Role] = Field(default_factory=dict)


def _address(value: str) -> str:
    Address.parse(value)
    return value


class Job(Section):
    """A prompt that is asked by the clock. ``to`` is ``channel:account:chat:thread``."""

    name: Text
    when: Cron
    to: Annotated[str, AfterValidator(_address)]
    prompt: Text
    model: Annotated[ModelEntry | None, BeforeValidator(lambda value: value or None)] = None
    approve: Mapping[str, Decision] = Field(default_factory=dict)

    def address(self) -> Address:
        return Address.parse(self.to)


class Schedule(Section):
    quiet_hours: QuietHours | None = "22:00-07:00"
    jobs: tuple[Job, ...] = ()

    @field_validator("quiet_hours", mode="before")
    @classmethod
    def _empty_is_none(cls, value: Any) -> Any:
        return None if value == "" else value

    def quiet(self) -> tuple[int, int] | None:
        """Minutes after midnight at which quiet hours begin and end; None when there are none."""
        return quiet_minutes(self.quiet_hours) if self.quiet_hours else None


class Settings(Section):
    """The whole file but ``channels`` and ``providers``, whose sections belong to the modules they name."""

    name: Annotated[str, Field(min_length=1, max_length=64)] = "Bowerbird"
    data_dir: Path = Path("data")
    soul: Path = Path("SOUL.md")
    skills: tuple[Path, ...] = (Path("skills"),)
    language: Literal["auto", "en", "zh"] = "auto"
    timezone: Zone = "auto"
    brain: Brain = Brain()
    memory: Memory = Memory()
    tools: Tools = Tools()
    hooks: tuple[Hook, ...] = ()
    team: Team = Team()
    schedule: Schedule = Schedule()

    @model_validator(mode="before")
    @classmethod
    def _one_choice_settles_the_models(cls, value: Any) -> Any:
        """Who names a default model has not agreed to the vendors of the other built-in entries: those go."""
        brain = value.get("brain") if isinstance(value, dict) else None
        if not isinstance(brain, dict) or not isinstance(brain.get("llm"), dict) or "default" not in brain["llm"]:
            return value
        llm = brain["llm"]
        routing = llm.get("routing", {})
        if isinstance(routing, dict):
            routing = {"classify_model": None, **routing}
        memory = value.get("memory", {})
        distill = memory.get("distill", {}) if isinstance(memory, dict) else None
        if isinstance(distill, dict):
            memory = {**memory, "distill": {"model": None, **distill}}
        if _provider_of(llm["default"]) != DEFAULT_TRANSCRIBER.provider:
            llm = {"transcribe": None, **llm}
        return {**value, "brain": {**brain, "llm": {"fallback": (), **llm, "routing": routing}}, "memory": memory}


def _provider_of(entry: Any) -> str:
    """Of a model entry as it is written."""
    return str(entry.get("provider", "") if isinstance(entry, dict) else entry).partition("/")[0]
