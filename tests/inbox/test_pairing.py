"""Manners at the gate: what strangers are told, who may let them in, and what it means to be sent away."""

from __future__ import annotations

import asyncio
import re

import pytest

from bot.core.address import Address, Sender
from bot.core.errors import StoreError
from bot.core.inbound import ButtonPress, Receipt, UserMessage
from bot.core.model import ModelText
from bot.core.ports import owner_of
from bot.core.tool import ToolCall
from bot.inbox.access import Access
from bot.inbox.pairing import ALPHABET, CODE_CHARS, GUESSES
from bot.time.clock import SystemClock
from tests.fakes.provider import calls, says
from tests.inbox.conftest import HERE, OWNER, House, OpenHouse

BOB = Sender("fake", "20", "Bob")
BOBS = Address("fake", "main", "20")
NOBODY = Access()
CODE = re.compile(rf"[{ALPHABET}]{{{CODE_CHARS}}}")


class LateClock(SystemClock):
    """A clock that runs ahead by as much as a test says."""

    ahead = 0.0

    def now(self) -> float:
        return super().now() + self.ahead


async def knock(house: House, number: int = 100, sender: Sender = BOB, text: str = "hi") -> Receipt:
    return await house.say(text, number, sender, Address("fake", "main", sender.id))


def code_in(text: str) -> str:
    found = CODE.search(text)
    assert found, text
    return found[0]


async def told(house: House, text: str, number: int, sender: Sender = OWNER, address: Address = HERE) -> str:
    """What a command is answered."""
    await house.say(text, number, sender, address)
    await house.idle()
    return [message.text for message in house.channel.messages.values() if message.to == address][-1]


async def test_a_stranger_gets_a_code_and_is_told_how_to_have_it_approved(open_house: OpenHouse) -> None:
    async with open_house() as house:
        receipt = await knock(house)
        code = code_in(receipt.refused)
        assert f"/pair {code}" in receipt.refused and f"bowerbird pair approve {code}" in receipt.refused
        assert not receipt.turn and not receipt.duplicate
        assert house.provider.requests == [] and house.shown == []


@pytest.mark.parametrize("sender", [Sender("fake", "20", language="zh-CN"), BOB])
async def test_a_stranger_is_told_in_their_language(open_house: OpenHouse, sender: Sender) -> None:
    async with open_house(language="auto") as house:
        refused = (await knock(house, sender=sender, text="/start" if sender.language else "你好")).refused
        assert "配对码" in refused and code_in(refused)


async def test_a_stranger_is_told_once_an_hour_and_the_rest_is_recorded_in_silence(open_house: OpenHouse) -> None:
    clock = LateClock()
    async with open_house(clock=clock) as house:
        first = (await knock(house, 1)).refused
        assert [(await knock(house, number)).refused for number in (2, 3)] == ["", ""]
        clock.ahead = 3601
        again = (await knock(house, 4)).refused
        assert code_in(again) != code_in(first)
        assert await house.outcomes() == dict.fromkeys("1234", "stranger")


async def test_a_delivery_that_comes_twice_is_refused_once(open_house: OpenHouse) -> None:
    async with open_house() as house:
        receipts = await asyncio.gather(*(knock(house) for _ in range(5)))
        assert sorted(bool(receipt.refused) for receipt in receipts) == [False] * 4 + [True]
        assert all(receipt.duplicate for receipt in receipts if not receipt.refused)
        empty = [await house.say(" ", 5) for _ in range(2)]
        assert [(receipt.refused != "", receipt.duplicate) for receipt in empty] == [(True, False), (True, True)]


async def test_after_a_restart_the_code_still_counts_and_is_not_told_again(open_house: OpenHouse) -> None:
    async with open_house() as house:
        code = code_in((await knock(house)).refused)
    async with open_house() as house:
        assert (await knock(house, 101)).refused == ""
        assert "may now talk" in await told(house, f"/pair {code}", 1)


async def test_the_fourth_stranger_is_told_that_it_is_crowded(open_house: OpenHouse) -> None:
    async with open_house() as house:
        refused = [(await knock(house, sender=Sender("fake", str(number)))).refused for number in range(20, 24)]
        assert all(map(CODE.search, refused[:3])) and not CODE.search(refused[3])
        assert "too many are waiting" in refused[3]


async def test_without_pairing_a_stranger_gets_a_plain_refusal_once_an_hour(open_house: OpenHouse) -> None:
    async with open_house(access=Access(owners=("7",), pairing=False)) as house:
        assert [(await knock(house, number)).refused for number in (1, 2)] == [
            "I only talk to people my owner has let in.",
            "",
        ]


async def test_groups_and_bots_never_get_a_code(open_house: OpenHouse) -> None:
    async with open_house() as house:
        group = UserMessage("1", Address("fake", "main", "-5"), BOB, "hi", 1.0, direct=False)
        assert not CODE.search((await house.inbox.receive(group)).refused)
        bot = UserMessage("2", BOBS, Sender("fake", "30", is_bot=True), "hi", 1.0)
        assert await house.inbox.receive(bot) == Receipt()
        assert await house.outcomes() == {"1": "group not allowed", "2": "a bot"}
        assert (await house.pairing.listing()).waiting == ()


async def test_what_a_stranger_wrote_is_not_kept(open_house: OpenHouse) -> None:
    async with open_house() as house:
        await knock(house, text="my secret")
        kept = await house.store.database.read(lambda db: db.execute("SELECT body FROM inbox").fetchall())
        assert "my secret" not in str(kept)


async def test_an_owner_lets_somebody_in_who_is_told_and_answered(open_house: OpenHouse) -> None:
    async with open_house(says("Hello Bob")) as house:
        code = code_in((await knock(house)).refused)
        answer = await told(house, f"/pair {code.lower()[:4]} {code.lower()[4:]}", 1)
        greeting = next(message for message in house.channel.messages.values() if message.to == BOBS)
        assert "You have been let in" in greeting.text and "owner here" not in greeting.text
        assert "`Bob` (`fake:20`) may now talk to me." in house.shown and answer
        await knock(house, 101)
        await house.idle()
        assert house.shown[-1] == "Hello Bob"
        assert [message.role for message in house.provider.requests[0].messages] == ["user"]


async def test_on_a_channel_without_an_owner_the_first_one_becomes_it(open_house: OpenHouse) -> None:
    async with open_house(calls(ToolCall("c1", "note_write", {"text": "x"})), says("Noted."), access=NOBODY) as house:
        page = owner_of("web")
        code = code_in((await knock(house)).refused)
        for by in (BOB, OWNER):  # nobody on the channel itself may let in the first one
            assert not house.pairing.is_owner(by)
        assert "is its owner" in await told(house, f"/pair approve {code}", 1, Sender("fake", page.id))
        assert any("are my owner here" in text for text in house.shown)
        other = code_in((await knock(house, 102, Sender("fake", "21", "Eve"))).refused)
        assert "may now talk to me." in await told(house, f"/pair {other}", 2, BOB, BOBS)
        assert {one.identity: one.standing for one in (await house.pairing.listing()).people} == {
            "fake:20": "owner",
            "fake:21": "user",
        }
        await house.say("note x", 3, BOB, BOBS)
        payload = await house.button("once")
        await house.inbox.receive(ButtonPress("p1", BOBS, BOB, payload, 1.0))
        await house.idle()
        assert house.channel.answers[-1][1] == "Approved once."


async def test_nobody_but_an_owner_may_pair_and_learns_nothing_from_trying(open_house: OpenHouse) -> None:
    async with open_house() as house:
        code = code_in((await knock(house)).refused)
        user = Sender("fake", "8", "Ursula")
        for number, text in enumerate(("/pair", f"/pair {code}", "/pair WRONGONE", "/pair revoke fake:7")):
            assert await told(house, text, number, user) == "Only an owner may use this command."
        assert code in await told(house, "/pair", 9)
        assert "/pair" in await told(house, "/help", 10)
        assert "/pair" not in await told(house, "/help", 11, user)


async def test_names_and_codes_are_not_shown_to_a_group(open_house: OpenHouse) -> None:
    async with open_house(access=Access(owners=("7",), groups=("1",))) as house:
        code = code_in((await knock(house)).refused)
        await house.inbox.receive(UserMessage("1", HERE, OWNER, "/pair", 1.0, direct=False))
        await house.idle()
        assert "direct chat" in house.shown[-1] and code not in house.shown[-1]


async def test_wrong_codes_in_a_chat_are_counted_and_used_ones_say_so(open_house: OpenHouse) -> None:
    async with open_house() as house:
        code = code_in((await knock(house)).refused)
        for number in range(GUESSES):
            assert "wrong" in await told(house, "/pair 34679ACD", number)
        assert "Too many wrong codes" in await told(house, f"/pair {code}", 50)
        assert "may now talk" in await told(house, f"/pair {code}", 51, Sender("fake", owner_of("web").id))
        assert "before" in await told(house, f"/pair {code}", 52, Sender("fake", owner_of("web").id))


async def test_a_name_cannot_pass_for_anything_else_on_the_owners_screen(open_house: OpenHouse) -> None:
    async with open_house() as house:
        evil = Sender("fake", "20", "`](http://evil)`\n- **Mum** \u202e@everyone" + "x" * 99)
        await knock(house, sender=evil)
        (line,) = [line for line in (await told(house, "/pair", 1)).split("\n") if "evil" in line]
        name = line.removeprefix("- `").partition("`")[0]
        assert "http://evil" in name and "@everyone" in name and "\u202e" not in name and len(name) <= 40


async def test_somebody_who_is_sent_away_is_refused_at_once_also_in_groups(open_house: OpenHouse) -> None:
    access = Access(owners=("7",), groups=("-5",), trigger="always")
    async with open_house(says("Hello"), access=access) as house:
        await told(house, f"/pair {code_in((await knock(house)).refused)}", 1)
        assert await told(house, "/pair revoke fake:20", 2) == "`Bob` (`fake:20`) may no longer talk to me."
        receipt = await knock(house, 101)
        assert not receipt.turn and (await house.outcomes())["101"] == "stranger"
        group = UserMessage("g", Address("fake", "main", "-5"), BOB, "hi", 1.0, direct=False)
        assert await house.inbox.receive(group) == Receipt()
        assert (await house.outcomes())["g"] == "revoked"
    async with open_house(access=access) as house:
        assert not (await knock(house, 102)).turn


async def test_what_runs_and_waits_of_somebody_who_is_sent_away_ends(open_house: OpenHouse) -> None:
    async with open_house(says("hm"), [ModelText("I will tell you all"), asyncio.Event()], when_busy="queue") as house:
        await told(house, f"/pair {code_in((await knock(house)).refused)}", 1)
        await house.say("hi", 2)
        await house.idle()
        for number in (101, 102, 103):
            await knock(house, number)
        async with asyncio.timeout(5):
            while not any("tell you all" in text for text in house.shown):
                await asyncio.sleep(0.005)
        await told(house, "/pair revoke fake:20", 3)
        outcomes = await house.outcomes()
        assert [outcomes[number] for number in ("101", "102", "103")] == ["stopped", "set aside", "set aside"]
        assert len(house.provider.requests) == 2


async def test_a_sent_away_owner_decides_nothing_any_more(open_house: OpenHouse) -> None:
    note = ToolCall("c1", "note_write", {"text": "buy milk"})
    async with open_house(calls(note), says("Noted."), access=NOBODY) as house:
        here, page = BOBS, Sender("fake", owner_of("web").id)
        await told(house, f"/pair {code_in((await knock(house)).refused)}", 1, page)
        await house.say("note it", 2, page, here)
        payload = await house.button("once")
        await house.pairing.revoke("fake:20", "fake:owner")
        await house.inbox.receive(ButtonPress("p1", here, BOB, payload, 1.0))
        assert house.channel.answers[-1][1] == "Only an owner can decide this."
        await house.inbox.receive(ButtonPress("p2", here, page, payload, 1.0))
        await house.idle()


@pytest.mark.parametrize(
    ("who", "words"),
    [
        ("fake:8", "stands in config.yaml"),
        ("fake:7", "stands in config.yaml"),
        ("fake:99", "was let in"),
        ("nowhere:1", "was let in"),
        ("", "lets somebody in"),
        ("fake:8 fake:9", "lets somebody in"),
    ],
)
async def test_who_was_not_let_in_by_a_code_cannot_be_sent_away_with_the_command(
    open_house: OpenHouse, who: str, words: str
) -> None:
    async with open_house() as house:
        assert words in await told(house, f"/pair revoke {who}", 1)


async def test_where_anyone_may_talk_one_may_be_shut_out(open_house: OpenHouse) -> None:
    async with open_house(says("Hello"), access=Access(owners=("7",), users=("*",))) as house:
        assert (await knock(house, 100)).turn
        await house.idle()
        await told(house, "/pair revoke fake:20", 1)
        assert not (await knock(house, 101)).turn


async def test_a_greeting_that_was_interrupted_is_shown_after_the_next_start_and_once(open_house: OpenHouse) -> None:
    async with open_house(access=NOBODY) as house:
        code = code_in((await knock(house)).refused)
        house.inbox.close()  # the process ends between the decision and the greeting
        await house.pairing.approve(code, "command line", None)
        assert house.shown == []
    async with open_house(access=NOBODY) as house:
        assert await house.inbox.resume() == 1
        await house.idle()
        assert len(house.shown) == 1 and "are my owner here" in house.shown[0]
        assert await house.inbox.resume() == 0


async def test_a_greeting_for_somebody_who_was_sent_away_meanwhile_is_not_shown(open_house: OpenHouse) -> None:
    async with open_house(access=NOBODY) as house:
        code = code_in((await knock(house)).refused)
        house.inbox.close()
        await house.pairing.approve(code, "command line", None)
        await house.pairing.revoke("fake:20", "command line")
    async with open_house(access=NOBODY) as house:
        assert await house.inbox.resume() == 0
        assert house.shown == []


async def test_a_refusal_that_the_store_could_not_take_is_given_at_the_next_delivery(open_house: OpenHouse) -> None:
    async with open_house() as house:
        await house.store.database._writer.run(lambda db: db.execute("PRAGMA query_only = ON"))
        with pytest.raises(StoreError):
            await knock(house)
        await house.store.database._writer.run(lambda db: db.execute("PRAGMA query_only = OFF"))
        assert code_in((await knock(house)).refused)
