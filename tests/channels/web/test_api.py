"""The JSON endpoints over real HTTP: what they accept, what they refuse and how they say so."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import aiohttp
import pytest

from bot.core.address import Address, Sender
from bot.core.errors import ChannelError
from bot.core.inbound import ButtonPress, FileRef, StopPressed, UserMessage
from bot.core.model import TextBlock
from bot.core.ports import owner_of
from bot.core.stop import StopReason
from bot.core.transcript import BreakRow, EndRow, GivenRow, ReplyRow, StepRow, UserRow
from bot.core.view import Phase, Ref
from channels.web.desk import TEXT_CHARS
from tests.channels.web.house import House, Turn, card
from tests.channels.web.reader import Page, Shown


async def post(http: aiohttp.ClientSession, url: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with http.post(url, json=body, headers=named) as answer:
        return answer.status, await answer.json()


async def silent(turn: Turn) -> None:
    await asyncio.Event().wait()


async def test_a_message_is_taken_once_however_often_it_is_sent() -> None:
    house = House(script=silent)
    async with house.open(), aiohttp.ClientSession() as http:
        body = {"chat": "work", "text": "  Hello  ", "id": "client-1"}
        assert await post(http, house.url + "/v1/messages", body, accept_language="zh-CN,en;q=0.5") == (
            202,
            {"turn": "turn1"},
        )
        assert await post(http, house.url + "/v1/messages", body) == (202, {"turn": "turn1"})
        assert await post(http, house.url + "/v1/messages", {**body, "chat": "home"}) == (202, {"turn": "turn2"})
        first = house.inbound[0]
        assert isinstance(first, UserMessage)
        assert first.address == Address("web", "main", "work", "")
        assert first.sender == Sender("web", owner_of("web").id, "Owner", language="zh")
        assert (first.id, first.text, first.direct, first.addressed) == ("client-1", "Hello", True, True)
        assert len(house.inbound) == 2


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ([], 400),
        ("text", 400),
        (True, 400),
        ({}, 400),
        ({"text": "x", "id": "1"}, 400),
        ({"chat": "", "text": "x"}, 400),
        ({"chat": "a b", "text": "x"}, 400),
        ({"chat": "a/../b", "text": "x"}, 400),
        ({"chat": "x" * 65, "text": "x"}, 400),
        ({"chat": "api-1234", "text": "x"}, 400),
        ({"chat": 7, "text": "x"}, 400),
        ({"chat": "a"}, 400),
        ({"chat": "a", "text": 5}, 400),
        ({"chat": "a", "text": " \n "}, 400),
        ({"chat": "a", "text": "\u0000"}, 400),
        ({"chat": "a", "text": "x", "id": ""}, 400),
        ({"chat": "a", "text": "x", "id": 7}, 400),
        ({"chat": "a", "text": "x", "id": "a b"}, 400),
        ({"chat": "a", "text": "x", "id": "y" * 129}, 400),
        ({"chat": "a", "text": "x" * (TEXT_CHARS + 1), "id": "1"}, 413),
    ],
    ids=range(20),
)
async def test_what_is_no_message_is_refused_with_a_sentence(body: Any, status: int) -> None:
    house = House(language="en")
    async with house.open(), aiohttp.ClientSession() as http:
        code, answer = await post(http, house.url + "/v1/messages", body)
        assert code == status
        assert answer["error"].endswith(".")
        assert house.inbound == []


async def test_a_body_is_bounded_with_and_without_a_length() -> None:
    house = House()

    async def endless() -> Any:
        for _ in range(1600):
            yield b"x" * 1024

    async with house.open(), aiohttp.ClientSession() as http:
        headers = {"Content-Type": "application/json"}
        for data in (endless(), io.BytesIO(b"x" * 1_600_000)):
            async with http.post(house.url + "/v1/messages", data=data, headers=headers) as answer:
                assert answer.status == 413


async def test_half_a_surrogate_does_not_get_further_than_the_door() -> None:
    house = House(script=silent)
    async with house.open(), aiohttp.ClientSession() as http:
        raw = b'{"chat":"a","id":"1","text":"x\\ud83dy"}'
        async with http.post(
            house.url + "/v1/messages", data=raw, headers={"Content-Type": "application/json"}
        ) as answer:
            assert answer.status == 202
        message = house.inbound[0]
        assert isinstance(message, UserMessage)
        assert message.text == "x?y"


async def test_what_is_not_stored_is_not_acknowledged() -> None:
    house = House(language="zh")
    house.full = True
    async with house.open(), aiohttp.ClientSession() as http:
        status, answer = await post(http, house.url + "/v1/messages", {"chat": "a", "text": "x", "id": "1"})
        assert status == 503
        assert answer["error"] == "消息没有被接收：我所在机器的磁盘已满。请释放一些空间。"
        house.full = False
        assert (await post(http, house.url + "/v1/messages", {"chat": "a", "text": "x", "id": "1"}))[0] == 202


async def test_a_refusal_of_the_house_reaches_the_visitor() -> None:
    house = House()
    house.refusal = "I only talk to people my owner has let in."
    async with house.open(), aiohttp.ClientSession() as http:
        answer = await post(http, house.url + "/v1/messages", {"chat": "a", "text": "x", "id": "1"})
        assert answer == (403, {"error": house.refusal})


async def test_before_the_channel_runs_nothing_is_accepted() -> None:
    house = House(language="en")
    async with house.open(), aiohttp.ClientSession() as http:
        house.channel._desk.receive = None
        assert not house.channel.connected
        status, answer = await post(http, house.url + "/v1/messages", {"chat": "a", "text": "x", "id": "1"})
        assert (status, answer["error"]) == (503, "I am still starting. Please try again in a moment.")
        async with http.get(house.url + "/readyz") as ready:
            assert ready.status == 503


async def test_unknown_paths_and_methods_get_a_sentence() -> None:
    house = House(language="en")
    async with house.open(), aiohttp.ClientSession() as http:
        async with http.get(house.url + "/v1/nothing") as answer:
            assert (answer.status, await answer.json()) == (404, {"error": "Nothing answers at this address."})
        async with http.get(house.url + "/v1/messages") as answer:
            assert (answer.status, await answer.json()) == (405, {"error": "This address does not answer to GET."})


async def test_stop_reaches_the_house() -> None:
    house = House(script=silent)
    async with house.open(), aiohttp.ClientSession() as http:
        assert (await post(http, house.url + "/v1/stop", {"chat": "a"}))[0] == 202
        assert (await post(http, house.url + "/v1/stop", {"chat": "a"}))[0] == 202
        stops = [one for one in house.inbound if isinstance(one, StopPressed)]
        assert [one.address.chat for one in stops] == ["a", "a"]
        assert stops[0].id != stops[1].id


async def test_a_press_is_bound_to_the_chat_that_shows_the_card() -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        turn = house.start("kitchen")
        async with asyncio.TaskGroup() as group:
            verdict = group.create_task(turn.ask(card("k7")))
            await asyncio.sleep(0.02)
            answer = await post(http, house.url + "/v1/approvals/k7", {"decision": "always"})
            assert answer == (200, {"notice": "Noted: always."})
        assert verdict.result() == "always"
        press = house.inbound[-1]
        assert isinstance(press, ButtonPress)
        assert press.address.chat == "kitchen"
        assert press.payload == "b:k7:always"
        assert len(press.payload) <= 64


async def test_a_press_for_a_card_that_is_not_shown_goes_to_the_chat_it_names() -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(
                post(http, house.url + "/v1/approvals/zz", {"decision": "deny", "chat": "cellar"})
            )
            while not house.inbound:
                await asyncio.sleep(0.01)
            press = house.inbound[-1]
            assert isinstance(press, ButtonPress)
            assert (press.address.chat, press.payload) == ("cellar", "b:zz:deny")
            await house.channel.answer(press, "This button no longer does anything.")
            await house.channel.answer(press, "again")
        assert waiting.result() == (200, {"notice": "This button no longer does anything."})
        await house.channel.answer(press, "far too late")


@pytest.mark.parametrize(
    ("id_", "body", "status"),
    [
        ("k", {}, 400),
        ("k", {"decision": "yes"}, 400),
        ("k", {"decision": ["once"]}, 400),
        ("a%20b", {"decision": "once"}, 404),
        ("k" * 49, {"decision": "once"}, 404),
        ("k", {"decision": "once", "chat": "!"}, 400),
    ],
)
async def test_a_press_that_makes_no_sense_is_refused(id_: str, body: dict[str, Any], status: int) -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        assert (await post(http, f"{house.url}/v1/approvals/{id_}", body))[0] == status
        assert house.inbound == []


async def test_the_list_of_chats_leaves_api_clients_out() -> None:
    house = House(script=silent)
    async with house.open(), aiohttp.ClientSession() as http:
        await post(http, house.url + "/v1/messages", {"chat": "one", "text": "First chat", "id": "1"})
        house.archive.append(house.address("api-9"), "t9", 5.0, UserRow("hidden", owner_of("web"), "1"))
        turn = house.start("two", "Second chat")
        await turn.write("…")
        async with http.get(house.url + "/v1/chats") as answer:
            chats = (await answer.json())["chats"]
        assert {chat["id"]: (chat["title"], chat["live"]) for chat in chats} == {
            "two": ("Second chat", True),
            "one": ("First chat", False),
        }


async def history(http: aiohttp.ClientSession, house: House, chat: str, **query: Any) -> tuple[Page, dict[str, Any]]:
    async with http.get(house.url + "/v1/history", params={"chat": chat, **query}) as answer:
        assert answer.status == 200
        body = await answer.json()
    page = Page()
    for frame in body["frames"]:
        page.take(frame)
    return page, body


async def test_the_past_is_told_turn_by_turn() -> None:
    house = House()
    owner, place = owner_of("web"), house.address("a")
    rows = house.archive.append
    rows(place, "t1", 10.0, UserRow("Q1", owner, "m1"), StepRow(1, (TextBlock("A **one**"),), "f/f", "end"))
    rows(place, "t1", 11.0, UserRow("and this", owner, "m1b", steered=True))
    rows(place, "t1", 12.0, StepRow(2, (TextBlock("more"),), "f/f", "end"), EndRow(StopReason.ANSWERED))
    rows(
        place,
        "t2",
        20.0,
        UserRow("/new", owner, "m2"),
        ReplyRow("Fresh start."),
        BreakRow(),
        EndRow(StopReason.COMMAND),
    )
    rows(place, "t3", 30.0, UserRow("Q3", owner, "m3"), GivenRow(()), EndRow(StopReason.NO_MODEL, "No model."))
    rows(place, "t4", 40.0, UserRow("Q4", owner, "m4"), StepRow(1, (TextBlock("Half"),), "f/f", ""))
    async with house.open(), aiohttp.ClientSession() as http:
        page, body = await history(http, house, "a")
        assert list(page.turns) == ["t1", "t2", "t3", "t4"]
        assert page.turns["t1"].text == "A **one**\n\nmore"
        assert page.turns["t1"].html == ["<p>A <strong>one</strong></p>", "<p>more</p>"]
        assert page.turns["t1"].said == {"m1": "Q1", "m1b": "and this"}
        steered = body["frames"][0]["said"][1]
        assert (steered["id"], steered["block"]) == ("m1b", 1)
        assert (page.turns["t2"].text, page.turns["t2"].done) == ("Fresh start.", "command")
        assert body["frames"][2]["fresh"] is True
        assert (page.turns["t3"].notices, page.turns["t3"].error) == (["No model."], "No model.")
        assert (page.turns["t4"].text, page.turns["t4"].done) == ("Half", "")
        assert body["more"] is False
        assert body["about"]["model"]["state"] == "ready"
        assert "pid" not in body["about"]


async def test_a_new_conversation_is_marked_also_while_its_turn_is_still_on_the_pages() -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        turn = house.start("a", "/new")
        house.archive.append(turn.message.address, turn.id, 1.0, ReplyRow("A new conversation."), BreakRow())
        await turn.write("A new conversation.")
        await turn.end(StopReason.COMMAND)
        _, body = await history(http, house, "a")
        assert body["frames"][0]["fresh"] is True


async def test_a_message_that_joins_a_running_turn_moves_there_on_every_page() -> None:
    house = House(script=silent)
    async with house.open(), aiohttp.ClientSession() as http:
        line = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        turn = house.start("a", "Look it up")
        await turn.write("First part.")
        await post(http, house.url + "/v1/messages", {"chat": "a", "text": "in Vienna", "id": "late"})
        steered = UserRow("in Vienna", owner_of("web"), "late", steered=True)
        house.archive.append(turn.message.address, turn.id, 1.0, steered)
        await turn.think()
        page = Page()
        async with asyncio.timeout(3):
            while "late" not in page.turns.get(turn.id, Shown()).said:
                message = await line.receive_json()
                if message.get("event") == "agent:stream":
                    page.take(message["data"])
        assert list(page.turns) == [turn.id]
        assert message["data"]["block"] == 1
        await turn.write(" Second part.")
        await turn.end()
        told, _ = await history(http, house, "a")
        assert told.turns[turn.id].said == {turn.message.id: "Look it up", "late": "in Vienna"}
        await line.close()


async def test_a_page_that_came_before_the_question_was_written_down_is_told_it_later() -> None:
    """After a restart a turn may be shown while its files are still being looked at."""
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        turn = house.start("a", "What is on it?")
        rows, house.archive.all = house.archive.all, []
        await turn.think()
        line = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        page, _ = await history(http, house, "a")
        assert page.turns[turn.id].said == {}
        house.archive.all = rows
        await turn.write("A bird")
        await turn.write(", blue.")
        async with asyncio.timeout(3):
            while not page.turns[turn.id].said or page.turns[turn.id].text != "A bird, blue.":
                message = await line.receive_json()
                if message.get("event") == "agent:stream":
                    page.take(message["data"])
        assert page.turns[turn.id].said == {turn.message.id: "What is on it?"}
        await line.close()


async def test_a_long_past_is_cut_at_a_turn_and_says_that_there_is_more() -> None:
    house = House()
    for n in range(40):
        at = (UserRow(f"Q{n}", owner_of("web"), f"m{n}"), StepRow(1, (TextBlock(f"A{n}"),), "f/f", "end"))
        house.archive.append(house.address("a"), f"t{n}", float(n), *at, EndRow(StopReason.ANSWERED))
    async with house.open(), aiohttp.ClientSession() as http:
        page, body = await history(http, house, "a", rows=20)
        assert list(page.turns) == [f"t{n}" for n in range(34, 40)]
        assert body["more"] is True
        page, body = await history(http, house, "a", rows="nonsense")
        assert len(page.turns) == 40
        assert body["more"] is False


async def test_a_turn_that_runs_is_told_as_it_is_on_the_pages() -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        turn = house.start("a", "Slow question")
        await turn.tool("c1", "web_search", "birds")
        await turn.write("So far")
        await turn.show(cards=(card(),), phase=Phase.WAITING)
        page, body = await history(http, house, "a")
        shown = page.turns[turn.id]
        assert shown.text == "So far"
        assert shown.tools == {"c1": ("web_search", "birds", None, False)}
        assert shown.cards == {"card1": ""}
        assert shown.said == {turn.message.id: "Slow question"}
        assert body["seq"] > 0


async def test_a_broken_store_is_a_sentence_in_the_history() -> None:
    house = House()
    house.archive.broken = True
    async with house.open(), aiohttp.ClientSession() as http:
        for path in ("/v1/history?chat=a", "/v1/chats"):
            async with http.get(house.url + path) as answer:
                assert answer.status == 503


async def test_the_pages_files_are_cached_by_their_tag() -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        for name, kind in (("app.js", "text/javascript"), ("style.css", "text/css"), ("logo.svg", "image/svg+xml")):
            async with http.get(f"{house.url}/page/{name}") as answer:
                assert answer.status == 200
                assert answer.headers["content-type"].startswith(kind)
                tag = answer.headers["etag"]
            async with http.get(f"{house.url}/page/{name}", headers={"If-None-Match": tag}) as answer:
                assert answer.status == 304
        for name in ("..%2Fchannel.py", "index.html", "sign-in.html", "none.js"):
            async with http.get(f"{house.url}/page/{name}") as answer:
                assert answer.status == 404
        async with http.get(f"{house.url}/favicon.ico") as answer:
            assert answer.content_type == "image/svg+xml"


async def test_a_removed_turn_leaves_the_pages() -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        turn = house.start("a")
        line = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        await turn.write("Oops")
        ref = Ref(f"{turn.id}.0")
        await house.channel.remove(turn.message.address, ref)
        async with asyncio.timeout(3):
            while (message := await line.receive_json()).get("data", {}).get("type") != "removed":
                pass
        assert message["data"]["turn"] == turn.id
        await line.close()


async def test_the_channel_fetches_nothing_it_was_not_given() -> None:
    house = House()
    for id_ in ("api-1/0", "x", "../etc/passwd", "api-1/-1"):
        with pytest.raises(ChannelError):
            await house.channel.fetch(FileRef("web", id_, "x", "image/png"))
    assert list(await house.channel.history(house.address("a"), 10)) == []


async def test_every_show_asks_the_governor() -> None:
    house = House()
    async with house.open():
        turn = house.start("a")
        await turn.write("One")
        await turn.end()
        assert [kind.name for _, kind in house.governor.calls] == ["PREVIEW", "FINAL"]
