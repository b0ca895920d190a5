"""The calls that answer an interaction: the first answer, follow-ups, and changes of either with the interaction's token."""

from __future__ import annotations

from tests.sim.discord.asked import Asked, Done
from tests.sim.discord.interactions import AUTOCOMPLETE, COMMAND, COMPONENT, FORM, Interaction
from tests.sim.discord.messages import change, make, seen
from tests.sim.discord.nouns import CHAT_INPUT_COMMAND, EPHEMERAL, LOADING, Message
from tests.sim.discord.payloads import texts_of
from tests.sim.discord.refusals import FormErrors, Json, invalid

MESSAGE, DEFERRED, DEFERRED_UPDATE, UPDATE, CHOICES, MODAL = 4, 5, 6, 7, 8, 9
POSSIBLE = {
    COMMAND: {MESSAGE, DEFERRED, MODAL},
    COMPONENT: {MESSAGE, DEFERRED, DEFERRED_UPDATE, UPDATE, MODAL},
    AUTOCOMPLETE: {CHOICES},
    FORM: {MESSAGE, DEFERRED, DEFERRED_UPDATE, UPDATE},
}


def post_callback(asked: Asked) -> Done:
    world = asked.world
    one = world.interactions.first(asked.id("interaction"), asked.words["token"])
    kind, data = asked.body.get("type"), asked.body.get("data") or {}
    no_message = kind in (DEFERRED_UPDATE, UPDATE) and one.message is None
    if kind not in POSSIBLE[one.kind] or no_message:
        raise invalid("type", "BASE_TYPE_CHOICES", f"Value {kind} is not possible here.")
    ephemeral = bool(int(data.get("flags") or 0) & EPHEMERAL)
    if kind == MODAL:
        _check_form(data)
        one.form = data
    elif kind == DEFERRED_UPDATE:
        one.original = one.message
    elif kind == UPDATE:
        assert one.message is not None
        change(asked, one.message, asked.draft(data, one.message, interaction=True))
        one.original = one.message
    elif kind == DEFERRED:
        one.original = world.new_message(one.channel, world.bot, flags=LOADING | (EPHEMERAL if ephemeral else 0))
        _show(asked, one, one.original)
    else:
        one.original = _new(asked, one, data)
        _show(asked, one, one.original)
    world.interactions.answered(one, kind, data, ephemeral=ephemeral)
    if asked.query.get("with_response", "").lower() not in ("1", "true"):
        return 204, None
    return 200, _callback_json(asked, one, kind)


def _callback_json(asked: Asked, one: Interaction, kind: int) -> Json:
    body: Json = {"id": str(one.id), "type": one.kind}
    if kind == MODAL or one.original is None:
        return {"interaction": body}
    body["response_message_id"] = str(one.original.id)
    body["response_message_loading"] = bool(one.original.flags & LOADING)
    body["response_message_ephemeral"] = bool(one.original.flags & EPHEMERAL)
    resource: Json = {"type": kind}
    if kind in (MESSAGE, UPDATE):
        resource["message"] = seen(asked, one.original)
    return {"interaction": body, "resource": resource}


def post_follow_up(asked: Asked) -> Done:
    """A further message. Right after a deferral it fills the message that is being waited for."""
    one = _interaction(asked)
    if one.answer == DEFERRED and one.original is not None and one.original.flags & LOADING:
        change(asked, one.original, asked.draft(asked.body, one.original, interaction=True))
        return 200, seen(asked, one.original)
    message = _new(asked, one, asked.body)
    one.follow_ups.append(message)
    _show(asked, one, message)
    return 200, seen(asked, message)


def get_original(asked: Asked) -> Done:
    return 200, seen(asked, asked.world.interactions.original_of(_interaction(asked)))


def patch_original(asked: Asked) -> Done:
    message = asked.world.interactions.original_of(_interaction(asked))
    change(asked, message, asked.draft(asked.body, message, interaction=True))
    return 200, seen(asked, message)


def delete_original(asked: Asked) -> Done:
    asked.world.remove_message(asked.world.interactions.original_of(_interaction(asked)))
    return 204, None


def _named(asked: Asked) -> Message:
    return asked.world.interactions.message_of(_interaction(asked), asked.id("message"))


def get_follow_up(asked: Asked) -> Done:
    return 200, seen(asked, _named(asked))


def patch_follow_up(asked: Asked) -> Done:
    message = _named(asked)
    change(asked, message, asked.draft(asked.body, message, interaction=True))
    return 200, seen(asked, message)


def delete_follow_up(asked: Asked) -> Done:
    asked.world.remove_message(_named(asked))
    return 204, None


def _interaction(asked: Asked) -> Interaction:
    return asked.world.interactions.later(asked.id("application"), asked.words["token"])


def _new(asked: Asked, one: Interaction, data: Json) -> Message:
    return make(asked, one.channel, asked.draft(data, interaction=True))


def _show(asked: Asked, one: Interaction, message: Message) -> None:
    """Put an answer where its readers are: the channel, or only that person's screen."""
    world = asked.world
    owners = {"0": str(one.channel.guild.id) if one.channel.guild else "0"}
    about: Json = {"id": str(one.id), "type": one.kind, "user": one.person.to_json()}
    about["authorizing_integration_owners"] = owners
    if one.kind == COMPONENT and one.message is not None:
        about["interacted_message_id"] = str(one.message.id)
    if one.original is not None and one.original is not message and one.original is not one.message:
        about["original_response_message_id"] = str(one.original.id)
    message.type = CHAT_INPUT_COMMAND if one.kind == COMMAND and message is one.original else message.type
    app = str(world.bot.id)
    message.extra |= {"application_id": app, "webhook_id": app, "interaction_metadata": about}
    if one.kind == COMMAND:
        message.extra["interaction"] = {"id": str(one.id), "type": 2, "name": one.name, "user": one.person.to_json()}
    if message.flags & EPHEMERAL:
        message.only_for = one.person.id
        world.interactions.hidden[message.id] = message
        world.changed()
    else:
        world.publish(message)
    if not message.flags & LOADING:
        world.report.shown(one.channel.id, texts_of(message), edit=False)


def _check_form(data: Json) -> None:
    errors = FormErrors()
    errors.too_long("data.custom_id", data.get("custom_id") or "", 100, least=1)
    errors.too_long("data.title", data.get("title") or "", 45, least=1)
    rows = data.get("components") or []
    errors.too_long("data.components", rows, 5, least=1)
    for index, row in enumerate(rows):
        for one in [row["component"]] if row.get("type") == 18 else row.get("components") or []:
            errors.too_long(f"data.components.{index}.custom_id", one.get("custom_id") or "", 100, least=1)
            if row.get("type") == 1:
                errors.too_long(f"data.components.{index}.label", one.get("label") or "", 45, least=1)
            errors.too_long(f"data.components.{index}.value", one.get("value") or "", 4000)
    errors.raise_any()
