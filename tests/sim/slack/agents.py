"""The calls about an assistant's thread: its status line, its title, its prompts, and the agent's session with Stop.

Slack says that only an app declared as an agent has sessions, not how it refuses the others: ``not_allowed`` here.
"""

from __future__ import annotations

from tests.sim.slack.bodies import Params
from tests.sim.slack.nouns import Channel, Json, Refused, missing
from tests.sim.slack.world import SESSION_SECONDS, STATUS_SECONDS, World

SESSION_STATUSES = ("active", "processing", "suspended", "closed")
NO_STOP = "missing_agent_session_stopped_event_subscription"
MAX_LOADING, MAX_LOADING_TEXT, MAX_PROMPTS, MAX_TITLE = 10, 50, 4, 200


def _thread(world: World, params: Params) -> tuple[Channel, str]:
    channel = world.place(params.needed("channel_id"))
    ts = params.needed("thread_ts")
    if ts not in channel.messages:
        raise Refused("invalid_thread_ts")
    return channel, channel.messages[ts].thread_ts or ts


def set_status(world: World, params: Params) -> Json:
    """assistant.threads.setStatus: shown until the bot writes there, or for two minutes; an empty one clears it."""
    channel, thread = _thread(world, params)
    if "status" not in params:
        raise missing("status")
    loading = params.listed("loading_messages", "invalid_arguments") or []
    if len(loading) > MAX_LOADING:
        raise Refused("invalid_arguments", "[ERROR] no more than 10 items allowed [json-pointer:/loading_messages]")
    if any(not isinstance(one, str) or not 1 <= len(one) <= MAX_LOADING_TEXT for one in loading):
        raise Refused("invalid_arguments", "[ERROR] must be less than 51 characters [json-pointer:/loading_messages]")
    text = params.text("status")
    if text:
        channel.statuses[thread] = (text, world.monotonic() + STATUS_SECONDS)
    else:
        channel.statuses.pop(thread, None)
    return {}


def set_title(world: World, params: Params) -> Json:
    channel, thread = _thread(world, params)
    channel.titles[thread] = params.needed("title")
    return {}


def set_prompts(world: World, params: Params) -> Json:
    """assistant.threads.setSuggestedPrompts; ``thread_ts`` may be left out."""
    channel = world.place(params.needed("channel_id"))
    prompts = params.listed("prompts", "invalid_arguments")
    if not prompts:
        raise missing("prompts")
    if len(prompts) > MAX_PROMPTS:
        raise Refused("invalid_arguments", "[ERROR] no more than 4 items allowed [json-pointer:/prompts]")
    if any(not isinstance(one, dict) or not one.get("title") or not one.get("message") for one in prompts):
        raise Refused("invalid_arguments", "[ERROR] a prompt has a title and a message [json-pointer:/prompts]")
    channel.prompts[params.text("thread_ts")] = prompts
    return {}


def read_status(world: World, status: str) -> str:
    if not world.agent:
        raise Refused("not_allowed", "[ERROR] the app is not declared as an agent")
    if status not in SESSION_STATUSES:
        raise Refused(
            "invalid_arguments", f"[ERROR] must be one of: {', '.join(SESSION_STATUSES)} [json-pointer:/status]"
        )
    return status


def set_session_status(world: World, params: Params) -> Json:
    """agents.sessions.setStatus: creates the session when there is none; ``processing`` lapses after an hour."""
    status = read_status(world, params.needed("status"))
    channel, thread = _thread(world, params)
    title = params.text("title")
    if len(title) > MAX_TITLE:
        raise Refused("invalid_arguments", "[ERROR] must be less than 201 characters [json-pointer:/title]")
    if thread not in channel.sessions and title:
        channel.titles[thread] = title
    set_session(world, channel, thread, status)
    answer: Json = {"status": status, "agent_status": status, "title": channel.titles.get(thread, "")}
    if "agent_session_stopped" not in world.subscriptions:
        answer |= {"warning": NO_STOP, "response_metadata": {"warnings": [NO_STOP]}}
    return answer


def rename_session(world: World, params: Params) -> Json:
    read_status(world, "active")
    channel, thread = _thread(world, params)
    if thread not in channel.sessions:
        raise Refused("not_authorized")
    title = params.needed("title")
    if len(title) > MAX_TITLE:
        raise Refused("invalid_arguments", "[ERROR] must be less than 201 characters [json-pointer:/title]")
    channel.titles[thread] = title
    return {"title": title}


def set_session(world: World, channel: Channel, thread: str, status: str) -> None:
    channel.sessions[thread] = (status, world.monotonic() + SESSION_SECONDS)
