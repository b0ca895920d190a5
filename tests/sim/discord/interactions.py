"""Presses, slash commands and forms: what a person does, its token, its deadlines, and what they see when nobody answers."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.sim.discord.nouns import DM, Channel, Message, Person, walk
from tests.sim.discord.payloads import channel_json, member_json, message_json
from tests.sim.discord.permissions import permissions_of
from tests.sim.discord.refusals import Json, refused

if TYPE_CHECKING:
    from tests.sim.discord.world import World

COMMAND, COMPONENT, AUTOCOMPLETE, FORM = 2, 3, 4, 5
FIRST_SECONDS, TOKEN_SECONDS = 3.0, 15 * 60.0
"""An answer must come within 3 s, the token then lives 15 minutes (discord-api-docs, interactions)."""
PROMPT_SECONDS = 1.0
UPLOAD_BYTES = 10 * 1024 * 1024
UNANSWERED = {COMPONENT: "This interaction failed", FORM: "Something went wrong. Try again."}


@dataclass(eq=False, slots=True)
class Interaction:
    """``heard`` is when the bot got it (None: never), ``answer`` the callback type of its first answer. ``original`` is
    the message that answered, or for a button's silent acknowledgement the message of the button."""

    id: int
    token: str
    kind: int
    name: str
    channel: Channel
    person: Person
    at: float
    message: Message | None = None
    heard: float | None = None
    answer: int | None = None
    answered_at: float | None = None
    original: Message | None = None
    follow_ups: list[Message] = field(default_factory=list)
    form: Json | None = None
    blamed: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """One first answer: the callback ``type``, its ``data``, and how many seconds the person waited."""

    interaction: str
    name: str
    type: int
    data: Json
    ephemeral: bool
    after: float


class Interactions:
    def __init__(self, world: World) -> None:
        self._world = world
        self.by_id: dict[int, Interaction] = {}
        self.by_token: dict[str, Interaction] = {}
        self.answers: list[Answer] = []
        self.hidden: dict[int, Message] = {}

    # what people do

    def press(
        self, channel: Channel, person: Person, message_id: int, key: str, values: list[str] | None, *, stale: bool
    ) -> str:
        """Press the button (or choose ``values`` in the menu) of this custom id or label; the interaction's id."""
        message = channel.messages.get(message_id) or self.hidden.get(message_id)
        if message is None or (message.only_for not in (None, person.id)):
            raise LookupError(f"{person.name} sees no message {message_id}")
        usable = [one for one in walk(message.components) if one.get("custom_id") and not one.get("disabled")]
        found = next((one for one in usable if one["custom_id"] == key), None)
        found = found or next((one for one in usable if one.get("label") == key), None)
        if found is None and not stale:
            raise LookupError(f"no button {key!r} at message {message_id}: {[one.get('label') for one in usable]}")
        found = found or {"custom_id": key, "type": 2, "id": 1}
        data: Json = {"custom_id": found["custom_id"], "component_type": found["type"], "id": found.get("id", 1)}
        if found["type"] != 2:
            data["values"] = values or []
        return self._begin(COMPONENT, data["custom_id"], channel, person, data, message)

    def slash(self, channel: Channel, person: Person, name: str, options: Mapping[str, Any]) -> str:
        """Use a slash command, "name" or "name subcommand". LookupError where the client would not offer it, or not let
        it go: an unknown option, one that is missing, a value of the wrong kind."""
        words = name.split()
        guild = channel.guild.id if channel.guild is not None else None
        command = self._world.commands.offered(guild, words[0])
        if command is None:
            raise LookupError(f"/{words[0]} is not offered here: {self._world.commands.names}")
        data: Json = {"id": command["id"], "name": command["name"], "type": 1}
        level, known = data, command["options"]
        for word in words[1:]:
            chosen = next((one for one in known if one["name"] == word and one["type"] in (1, 2)), None)
            if chosen is None:
                raise LookupError(f"/{words[0]} has no subcommand {word}")
            level["options"] = [{"name": word, "type": chosen["type"]}]
            level, known = level["options"][0], chosen.get("options") or []
        level["options"] = _filled(known, options)
        return self._begin(COMMAND, name, channel, person, data)

    def submit(self, person: Person, interaction_id: int, values: Mapping[str, str]) -> str:
        """Send the form that answered an interaction, with the texts of its inputs by custom id."""
        opener = self.by_id[interaction_id]
        if opener.form is None or opener.person != person:
            raise LookupError("no form is open for this person")
        form, opener.form = opener.form, None
        rows = [_row(one, values) for one in form["components"]]
        data: Json = {"custom_id": form["custom_id"], "components": rows}
        return self._begin(FORM, form["custom_id"], opener.channel, person, data, opener.message)

    def _begin(
        self, kind: int, name: str, channel: Channel, person: Person, data: Json, message: Message | None = None
    ) -> str:
        world = self._world
        one = Interaction(
            world.snowflakes.next(), secrets.token_urlsafe(48), kind, name, channel, person, world.monotonic(), message
        )
        self.by_id[one.id] = self.by_token[one.token] = one
        body: Json = {
            "id": str(one.id),
            "application_id": str(world.bot.id),
            "type": kind,
            "data": data,
            "channel_id": str(channel.id),
            "channel": {**channel_json(channel, world.bot), "permissions": str(permissions_of(channel, person.id))},
            "token": one.token,
            "version": 1,
            "app_permissions": str(permissions_of(channel, world.bot.id)),
            "locale": person.locale,
            "entitlements": [],
            "entitlement_sku_ids": [],
            "attachment_size_limit": UPLOAD_BYTES,
            "context": 1 if channel.type == DM else 0,
            "authorizing_integration_owners": {"0": str(channel.guild.id) if channel.guild else "0"},
        }
        if channel.guild is not None:
            world.join(channel.guild, person)
            body |= {"guild_id": str(channel.guild.id), "guild_locale": "en-US"}
            body["guild"] = {"id": str(channel.guild.id), "locale": "en-US", "features": []}
            permissions = str(permissions_of(channel, person.id))
            body["member"] = {**member_json(channel.guild.members[person.id]), "permissions": permissions}
        else:
            body["user"] = person.to_json()
        if message is not None:
            body["message"] = message_json(message, world.people)
        world.gateway.tell("INTERACTION_CREATE", body)
        world.changed()
        return str(one.id)

    # how it goes on

    def heard(self, id: int) -> None:
        one = self.by_id.get(id)
        if one is not None and one.heard is None:
            one.heard = self._world.monotonic()

    def first(self, id: int, token: str) -> Interaction:
        """The interaction that a first answer is for. Refused: too late (10062) or a second one (40060)."""
        self.sweep()
        one = self.by_id.get(id)
        if one is None or one.token != token:
            raise refused(10062)
        if one.answer is not None:
            raise refused(40060)
        if self._world.monotonic() - one.at > FIRST_SECONDS:
            raise refused(10062)
        return one

    def later(self, app: int, token: str) -> Interaction:
        """The interaction that a follow-up is for. Refused: unknown, unanswered (10015), or after 15 minutes (50027)."""
        self.sweep()
        one = self.by_token.get(token)
        if one is None or one.answer is None or app != self._world.bot.id:
            raise refused(10015)
        if self._world.monotonic() - one.at > TOKEN_SECONDS:
            raise refused(50027)
        return one

    def answered(self, one: Interaction, type: int, data: Json, *, ephemeral: bool) -> None:
        now = self._world.monotonic()
        one.answer, one.answered_at = type, now
        self.answers.append(Answer(str(one.id), one.name, type, data, ephemeral, now - one.at))

    def notice(self, one: Interaction) -> str:
        """What the client tells the person about an interaction that nobody answered."""
        late = one.answer is None and self._world.monotonic() - one.at > FIRST_SECONDS
        return UNANSWERED.get(one.kind, "The application did not respond") if late else ""

    def sweep(self) -> None:
        """Note what the bot heard of in time and left unanswered for 3 s."""
        now = self._world.monotonic()
        for one in self.by_id.values():
            if one.answer is not None or one.blamed or one.heard is None or one.heard - one.at > PROMPT_SECONDS:
                continue
            if now - one.at > FIRST_SECONDS:
                one.blamed = True
                self._world.note(f"an interaction was not answered in 3 s: {one.name} in {one.channel.id}")

    def forget(self, message: Message) -> None:
        """A message is deleted."""
        self.hidden.pop(message.id, None)

    def original_of(self, one: Interaction) -> Message:
        if one.original is None or one.original.gone:
            raise refused(10008)
        return one.original

    def message_of(self, one: Interaction, id: int) -> Message:
        """A message that this interaction's token may change."""
        for message in (one.original, *one.follow_ups):
            if message is not None and message.id == id and not message.gone:
                return message
        raise refused(10008)


KINDS: dict[int, tuple[type, ...]] = {3: (str,), 4: (int,), 5: (bool,), 10: (int, float)}


def _filled(known: list[Json], given: Mapping[str, Any]) -> list[Json]:
    names = {option["name"]: option for option in known}
    for name, value in given.items():
        option = names.get(name)
        if option is None:
            raise LookupError(f"no option {name!r}: {list(names)}")
        kinds = KINDS.get(option["type"], (str, int))
        if not isinstance(value, kinds) or (isinstance(value, bool) and option["type"] != 5):
            raise LookupError(f"{value!r} is no value for option {name}")
        choices = [choice["value"] for choice in option.get("choices") or ()]
        if choices and value not in choices:
            raise LookupError(f"{value!r} is none of {choices}")
    for option in known:
        if option.get("required") and option["name"] not in given:
            raise LookupError(f"option {option['name']} is required")
    return [{"name": name, "type": names[name]["type"], "value": value} for name, value in given.items()]


def _row(component: Json, values: Mapping[str, str]) -> Json:
    """A row, or a label, of a form with the person's text in."""
    if component["type"] == 18:
        return {"type": 18, "id": component.get("id", 1), "component": _input(component["component"], values)}
    return {"type": 1, "components": [_input(one, values) for one in component.get("components", ())]}


def _input(one: Json, values: Mapping[str, str]) -> Json:
    text = values.get(one["custom_id"], one.get("value") or "")
    return {"type": one["type"], "id": one.get("id", 1), "custom_id": one["custom_id"], "value": text}
