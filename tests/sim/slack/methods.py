"""The methods of the Web API that the simulator knows, with the scope each needs; any other is unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.sim.slack import agents, chat, conversations, streams, uploads
from tests.sim.slack.bodies import Params
from tests.sim.slack.nouns import Channel, Json, Kind
from tests.sim.slack.world import World

_SCOPES = (
    "app_mentions:read assistant:write channels:history channels:read chat:write commands files:read files:write"
    " groups:history groups:read im:history im:read im:write mpim:history mpim:read mpim:write reactions:read"
    " reactions:write users:read"
)
SCOPES = frozenset(_SCOPES.split())
FAMILIES: dict[Kind, str] = {"im": "im", "mpim": "mpim", "channel": "channels", "group": "groups"}


@dataclass(frozen=True, slots=True)
class Method:
    """``scope`` may hold ``{family}``: im, mpim, channels or groups, by the channel's kind. ``place`` is the parameter
    that names the channel."""

    run: Callable[[World, Params], Json]
    scope: str = ""
    place: str = "channel"

    def needs(self, channel: Channel | None, params: Params) -> str:
        family = FAMILIES[channel.kind] if channel else "mpim" if "," in params.text("users") else "im"
        return self.scope.format(family=family)


METHODS: dict[str, Method] = {
    "auth.test": Method(conversations.auth_test),
    "chat.postMessage": Method(chat.post_message, "chat:write"),
    "chat.update": Method(chat.update, "chat:write"),
    "chat.delete": Method(chat.delete, "chat:write"),
    "chat.postEphemeral": Method(chat.post_ephemeral, "chat:write"),
    "chat.startStream": Method(streams.start_stream, "chat:write"),
    "chat.appendStream": Method(streams.append_stream, "chat:write"),
    "chat.stopStream": Method(streams.stop_stream, "chat:write"),
    "assistant.threads.setStatus": Method(agents.set_status, "chat:write", "channel_id"),
    "assistant.threads.setTitle": Method(agents.set_title, "assistant:write", "channel_id"),
    "assistant.threads.setSuggestedPrompts": Method(agents.set_prompts, "assistant:write", "channel_id"),
    "agents.sessions.setStatus": Method(agents.set_session_status, "chat:write", "channel_id"),
    "agents.sessions.rename": Method(agents.rename_session, "chat:write", "channel_id"),
    "conversations.info": Method(conversations.info, "{family}:read"),
    "conversations.open": Method(conversations.open_dm, "{family}:write"),
    "conversations.history": Method(conversations.history, "{family}:history"),
    "conversations.replies": Method(conversations.replies, "{family}:history"),
    "conversations.members": Method(conversations.members, "{family}:read"),
    "users.info": Method(conversations.user_info, "users:read"),
    "reactions.add": Method(conversations.add_reaction, "reactions:write"),
    "reactions.remove": Method(conversations.remove_reaction, "reactions:write"),
    "reactions.get": Method(conversations.get_reactions, "reactions:read"),
    "files.getUploadURLExternal": Method(uploads.get_upload_url, "files:write"),
    "files.completeUploadExternal": Method(uploads.complete_upload, "files:write", "channel_id"),
    "files.info": Method(uploads.file_info, "files:read"),
    "views.publish": Method(conversations.publish_view, place="channel_id"),
}
CONNECT = "apps.connections.open"
APP_SCOPE = "connections:write"
