"""The gateway: who may connect, identify and resume, what each session is told, and how connections are broken."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

from tests.sim.discord.intents import CONTENT, GUILDS, KNOWN, MEMBERS, PRESENCES, PRIVILEGED, wanted
from tests.sim.discord.nouns import Channel
from tests.sim.discord.payloads import guild_create_json, member_json, without_content
from tests.sim.discord.permissions import sees
from tests.sim.discord.refusals import Json
from tests.sim.discord.sessions import RESUMABLE, Connections, Event, Identifies, Session
from tests.sim.discord.sockets import Socket

if TYPE_CHECKING:
    from tests.sim.discord.world import World

HEARTBEAT, IDENTIFY, RESUME, RECONNECT, MEMBERS_WANTED, INVALID, HELLO, ACK = 1, 2, 6, 7, 8, 9, 10, 11
KNOWN_OPS = frozenset({1, 2, 3, 4, 6, 8, 31, 43})
MAX_FRAME_BYTES = 4096


class Gateway:
    """``heartbeat`` is the interval in seconds that HELLO tells. ``granted`` are the privileged intents that are switched
    on in the developer portal."""

    def __init__(
        self,
        world: World,
        token: Callable[[], str | None],
        revoke: Callable[[], None],
        handed: Callable[[str, Any], None],
        *,
        strict: bool,
    ) -> None:
        self._world, self._token, self._revoke, self._handed = world, token, revoke, handed
        self._strict = strict
        self.heartbeat = 41.25
        self.granted = PRIVILEGED
        self.deaf_to_come = False
        self.refusing: int | None = None
        self.url = self.resume_url = ""
        self.connections = Connections()
        self.identifies = Identifies(world.monotonic, world.note, strict=strict)
        self._sockets: list[Socket] = []

    @property
    def content_granted(self) -> bool:
        """Whether REST shows message content, whatever the sessions asked for."""
        return bool(self.granted & CONTENT)

    # what the sessions are told

    def tell(self, event: str, body: Json, channel: Channel | None = None) -> None:
        """Number an event for every session that asked for it and, where it is about a channel, can see that."""
        if channel is not None and not sees(channel, self._world.bot.id):
            return
        for session in self.connections.live(self._world.monotonic):
            if not wanted(event, body, session.intents):
                continue
            told = body
            if event in ("MESSAGE_CREATE", "MESSAGE_UPDATE") and not session.intents & CONTENT:
                told = without_content(body, self._world.bot, direct="guild_id" not in body)
            session.put(event, told)

    def feed(self, event: str, body: Any) -> int:
        """Any event for all sessions, also a broken one; how many sessions got it."""
        sessions = self.connections.live(self._world.monotonic)
        for session in sessions:
            session.put(event, body)
        return len(sessions)

    # how connections are broken

    def reconnect(self) -> None:
        """Ask every app to reconnect and resume (op 7)."""
        for socket in self._sockets:
            socket.send(RECONNECT)

    def invalidate(self, *, resumable: bool = False) -> None:
        """Tell every app that its session is invalid (op 9)."""
        for socket in self._sockets:
            if socket.session is not None and not resumable:
                socket.session.over = True
            socket.send(INVALID, resumable)

    def ask_for_heartbeat(self) -> None:
        for socket in self._sockets:
            socket.send(HEARTBEAT)

    def zombie(self, on: bool) -> None:
        """The connections of now say nothing at all; new ones are fine."""
        for socket in self._sockets:
            socket.hush(zombie=on)

    def deaf(self, on: bool, *, to_come: bool = False) -> None:
        """The connections of now (with ``to_come`` also new ones) are fine but tell no events; later they tell all."""
        self.deaf_to_come = on and to_come
        for socket in self._sockets:
            socket.hush(deaf=on)

    async def drop(self, code: int = 1006) -> None:
        """Close every connection with this code; whether its session can be resumed is as Discord's codes say."""
        async with asyncio.TaskGroup() as group:
            for socket in list(self._sockets):
                group.create_task(self._close(socket, code))

    async def close(self) -> None:
        await self.drop(1001)

    # one connection

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if self.refusing is not None:
            return web.Response(status=self.refusing, text="")
        ws = web.WebSocketResponse(timeout=0.3, max_msg_size=0)
        await ws.prepare(request)
        socket = Socket(request, ws, self._sent, self.heartbeat)
        socket.deaf = self.deaf_to_come
        self._sockets.append(socket)
        self.connections.opened += 1
        self.connections.open += 1
        socket.send(HELLO, {"heartbeat_interval": int(self.heartbeat * 1000), "_trace": ["sim"]})
        async with asyncio.TaskGroup() as group:
            work = (socket.write(), socket.watch(lambda: self._missed(socket)))
            tasks = [group.create_task(one) for one in work]
            try:
                await self._talk(request, socket, ws)
            finally:
                for task in tasks:
                    task.cancel()
                self._left(socket, ws.close_code)
        return ws

    async def _talk(self, request: web.Request, socket: Socket, ws: web.WebSocketResponse) -> None:
        if request.query.get("v", "10") not in ("9", "10"):
            await self._close(socket, 4012)
        elif request.query.get("encoding", "json") != "json":
            await self._close(socket, 4002)
        self._world.changed()
        async for message in ws:
            await self._received(socket, message.type, message.data)

    async def _received(self, socket: Socket, kind: WSMsgType, data: Any) -> None:
        now = self._world.monotonic()
        if kind is not WSMsgType.TEXT or len(data.encode()) > MAX_FRAME_BYTES:
            await self._close(socket, 4002)
            return
        if socket.too_many(now) and self._strict:
            self._world.note("more than 120 gateway sends in 60 s")
            await self._close(socket, 4008)
            return
        try:
            frame = json.loads(data)
            op, body = frame["op"], frame.get("d")
        except (ValueError, KeyError, TypeError):
            await self._close(socket, 4002)
            return
        if op not in KNOWN_OPS:
            await self._close(socket, 4001)
        elif op == HEARTBEAT:
            self.connections.heartbeats += 1
            socket.beat()
            socket.send(ACK)
        elif op == IDENTIFY:
            await self._identify(socket, body)
        elif op == RESUME:
            await self._resume(socket, body)
        elif socket.session is None:
            await self._close(socket, 4003)
        elif op == MEMBERS_WANTED:
            self._members(socket.session, body)
        self._world.changed()

    async def _identify(self, socket: Socket, body: Any) -> None:
        code = self._identify_fault(socket, body)
        if code:
            await self._close(socket, code)
            return
        if not self.identifies.take():
            self.connections.refused.append("identify too soon")
            socket.send(INVALID, False)
            return
        self.connections.identifies.append(self._world.monotonic())
        if self.identifies.left() < 0:
            self._world.note("more than 1000 IDENTIFYs in a day: the token is reset")
            self._revoke()
            return
        session = socket.session = Session(body["intents"])
        session.socket = socket
        self.connections.sessions.append(session)
        session.put("READY", self._ready(session, body))
        if session.intents & GUILDS:
            everybody = bool(session.intents & MEMBERS and session.intents & PRESENCES)
            for guild in self._world.guilds.values():
                if guild.bot_in:
                    session.put("GUILD_CREATE", guild_create_json(guild, self._world.bot, everybody=everybody))

    def _identify_fault(self, socket: Socket, body: Any) -> int:
        if socket.session is not None:
            return 4005
        if not isinstance(body, dict) or not isinstance(body.get("properties"), dict):
            return 4002
        if body.get("token") != self._token():
            return 4004
        intents = body.get("intents")
        if not isinstance(intents, int) or intents & ~KNOWN:
            return 4013
        if intents & PRIVILEGED & ~self.granted:
            return 4014
        return 4010 if body.get("shard", [0, 1]) != [0, 1] else 0

    async def _resume(self, socket: Socket, body: Any) -> None:
        if not isinstance(body, dict) or socket.session is not None:
            await self._close(socket, 4005 if socket.session is not None else 4002)
            return
        if body.get("token") != self._token():
            await self._close(socket, 4004)
            return
        live = self.connections.live(self._world.monotonic)
        session = next((one for one in live if one.id == body.get("session_id")), None)
        number: int = body["seq"] if isinstance(body.get("seq"), int) else -1
        missed = session.missed(number) if session is not None else None
        if session is None or missed is None:
            self.connections.refused.append("resume of an unknown session")
            socket.send(INVALID, False)
            return
        if number > session.number:
            session.over = True
            await self._close(socket, 4007)
            return
        if session.socket is not None and session.socket is not socket:
            old, session.socket = session.socket, None
            old.session = None
            await self._close(old, 4000)
        socket.session, session.socket, session.left_at = session, socket, None
        self.connections.resumes.append(self._world.monotonic())
        for event in missed:
            socket.send_event(event)
        session.put("RESUMED", {"_trace": ["sim"]})

    def _ready(self, session: Session, body: Json) -> Json:
        bot = self._world.bot
        guilds = [guild for guild in self._world.guilds.values() if guild.bot_in]
        return {
            "v": 10,
            "user": {**bot.to_json(), "verified": True, "mfa_enabled": True, "email": None, "flags": 0},
            "guilds": [{"id": str(guild.id), "unavailable": True} for guild in guilds],
            "private_channels": [],
            "relationships": [],
            "presences": [],
            "user_settings": {},
            "session_type": "normal",
            "session_id": session.id,
            "resume_gateway_url": self.resume_url,
            "shard": body.get("shard", [0, 1]),
            "application": {"id": str(bot.id), "flags": 0},
            "_trace": ["sim"],
        }

    def _members(self, session: Session, body: Any) -> None:
        """Request Guild Members: all of them only with their intent."""
        guild = self._world.guilds.get(int(body.get("guild_id", 0)))
        if guild is None:
            return
        asked = body.get("user_ids")
        ids = [int(one) for one in (asked if isinstance(asked, list) else [asked])] if asked else None
        query = str(body.get("query") or "").lower()
        if ids is None and not query and not session.intents & MEMBERS:
            self._world.note("all members were requested without the intent GUILD_MEMBERS")
            return
        found = [
            member
            for id_, member in guild.members.items()
            if (ids is None or id_ in ids) and member.person.name.lower().startswith(query)
        ]
        chunk: Json = {"guild_id": str(guild.id), "members": [member_json(one) for one in found]}
        chunk |= {"chunk_index": 0, "chunk_count": 1, "nonce": body.get("nonce")}
        chunk["not_found"] = [str(one) for one in ids or () if one not in guild.members]
        session.put("GUILD_MEMBERS_CHUNK", chunk)

    def _sent(self, event: Event) -> None:
        self._handed(event.name, event.body)
        self._world.changed()

    def _missed(self, socket: Socket) -> None:
        self._world.note("a heartbeat was missed")
        if socket.session is not None:
            socket.session.over = True

    async def _close(self, socket: Socket, code: int) -> None:
        if socket.session is not None and code not in RESUMABLE:
            socket.session.over = True
        with suppress(ConnectionError, RuntimeError):
            await socket.close(code)

    def _left(self, socket: Socket, code: int | None) -> None:
        """A connection is gone. An app that closes with 1000 or 1001 ends its session."""
        self._sockets.remove(socket)
        self.connections.open -= 1
        ours = socket.closed_by_us
        self.connections.closes.append((ours, "server") if ours is not None else (code or 1006, "client"))
        if (session := socket.session) is not None and session.socket is socket:
            session.socket, session.left_at = None, self._world.monotonic()
            session.over = session.over or (ours is None and code in (1000, 1001))
        self._world.changed()
