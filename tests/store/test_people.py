"""Who knocks, who is let in and who is sent away: each once, each for an hour, whatever comes at the same time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
from bot.core.stop import StopReason
from bot.core.transcript import EndRow, ReplyRow
from bot.core.view import ApprovalCard
from bot.store.approvals import Approval
from bot.store.people import CODE_SECONDS, Greeting, Person, Ruling
from bot.store.store import Store

NOW = 1_800_000_000.0
ADMIN = "command line"


def ann(number: int = 7, channel: str = "fake") -> Sender:
    return Sender(channel, str(number), f"Ann {number}")


def codes(*given: str) -> Callable[[], str]:
    return iter(given or [f"CODE{number}" for number in range(99)]).__next__


def greet(person: Person, where: Address, language: str) -> Greeting:
    opening = UserMessage("paired", where, Sender(person.channel, person.id, person.name), "/pair", NOW)
    return Greeting(
        f"turn-{person.id}", opening, (ReplyRow(f"{person.standing} {language}"), EndRow(StopReason.COMMAND))
    )


class People:
    """The rows with what most tests do not care about filled in."""

    def __init__(self, store: Store) -> None:
        self.rows, self._codes = store.people, map("CODE{}".format, itertools.count())

    async def knock(self, sender: Sender, at: float = NOW, new_code: Callable[[], str] | None = None) -> str | None:
        """The code, "" for a refusal without one, None for silence."""
        where = Address(sender.channel, "main", sender.id)
        knock = await self.rows.knock(sender, where, "zh", at, new_code or self._codes.__next__)
        return (knock.code or "") if knock.told else None

    async def approve(self, code: str | None, at: float = NOW, by: str = ADMIN, guesses: int | None = None) -> Ruling:
        return await self.rows.approve(code or "", by, at, greet, (), guesses)

    async def revoke(self, sender: Sender, at: float = NOW, *, anybody: bool = False) -> Ruling:
        return await self.rows.revoke(sender.channel, sender.id, ADMIN, at, anybody=anybody)

    async def standings(self) -> dict[str, str]:
        return {person.identity: person.standing for person in await self.rows.people()}


async def test_a_stranger_has_one_code_and_is_told_once_an_hour(store: Store) -> None:
    people = People(store)
    first = await people.knock(ann())
    assert first
    assert await people.knock(ann(), NOW + 5) is None
    assert await people.knock(ann(), NOW + CODE_SECONDS - 1) is None
    (waiting,) = await people.rows.waiting(NOW + CODE_SECONDS - 1)
    assert (waiting.identity, waiting.code, waiting.expires_at) == ("fake:7", first, NOW + CODE_SECONDS)
    second = await people.knock(ann(), NOW + CODE_SECONDS)
    assert second and second != first
    assert (await people.approve(first, NOW + CODE_SECONDS)).kind == "unknown"


async def test_without_pairing_a_stranger_is_told_once_an_hour_too(store: Store) -> None:
    where = Address("fake", "main", "7")
    told = [(await store.people.knock(ann(), where, "en", NOW + after, None)).told for after in (0, 60, CODE_SECONDS)]
    assert told == [True, False, True]
    assert await store.people.waiting(NOW) == []


async def test_messages_at_the_same_moment_are_told_one_code(store: Store) -> None:
    people = People(store)
    told = await asyncio.gather(*(people.knock(ann()) for _ in range(20)))
    assert len([code for code in told if code]) == 1 and told.count(None) == 19


async def test_at_most_three_wait_on_a_channel_and_another_channel_has_its_own_three(store: Store) -> None:
    people = People(store)
    told = [await people.knock(ann(number)) for number in range(4)]
    assert all(told[:3]) and told[3] == ""
    assert await people.knock(ann(3), NOW + 60) is None
    assert await people.knock(ann(9, "other"))
    await people.approve(told[0])
    assert await people.knock(ann(4), NOW + 60)
    assert await people.knock(ann(3), NOW + CODE_SECONDS)


async def test_no_two_people_have_the_same_code(store: Store) -> None:
    people = People(store)
    assert await people.knock(ann(1), NOW, codes("SAME")) == "SAME"
    assert await people.knock(ann(2), NOW, codes("SAME", "SAME", "OTHER")) == "OTHER"


async def test_a_clock_that_was_set_back_silences_nobody_and_lets_no_code_live_longer(store: Store) -> None:
    people = People(store)
    early = await people.knock(ann())
    assert (await people.approve(early, NOW - 10)).kind == "unknown"
    assert await people.knock(ann(), NOW - 10)


async def test_a_code_lets_in_once_and_says_who_when_it_is_used_again(store: Store) -> None:
    people = People(store)
    code = await people.knock(ann())
    rulings = await asyncio.gather(*(people.approve(code) for _ in range(5)))
    assert sorted(ruling.kind for ruling in rulings) == ["already"] * 4 + ["approved"]
    assert {ruling.person for ruling in rulings} == {Person("fake", "7", "Ann 7", "owner", NOW, ADMIN)}
    assert await people.rows.waiting(NOW) == []


async def test_a_code_is_worth_nothing_after_an_hour_or_with_another_letter(store: Store) -> None:
    people = People(store)
    await people.knock(ann(), NOW, codes("RIGHT"))
    for wrong, at in (("WRONG", NOW), ("", NOW), ("RIGH", NOW), ("码", NOW), ("RIGHT", NOW + CODE_SECONDS)):
        assert (await people.approve(wrong, at)).kind == "unknown"
    assert (await people.approve("RIGHT", NOW + CODE_SECONDS - 1)).kind == "approved"


async def test_only_the_first_on_a_channel_without_an_owner_becomes_one(store: Store) -> None:
    people = People(store)
    told = [await people.knock(ann(number)) for number in range(2)] + [await people.knock(ann(5, "other"))]
    await asyncio.gather(*map(people.approve, told))
    standings = await people.standings()
    assert sorted(standings[who] for who in ("fake:0", "fake:1")) == ["owner", "user"]
    assert standings["other:5"] == "owner"


async def test_where_the_configuration_names_an_owner_nobody_becomes_one(store: Store) -> None:
    people = People(store)
    code = await people.knock(ann())
    ruling = await people.rows.approve(code or "", ADMIN, NOW, greet, {"fake"})
    assert ruling.person is not None and ruling.person.standing == "user"


async def test_wrong_codes_lock_the_person_who_tries_them_for_an_hour_and_nobody_else(store: Store) -> None:
    people = People(store)
    code = await people.knock(ann(), NOW, codes("RIGHT"))
    for guess in range(5):
        assert (await people.approve(f"WRONG{guess}", NOW + guess, "fake:1", 5)).kind == "unknown"
    assert (await people.approve(code, NOW + 10, "fake:1", 5)).kind == "locked"
    assert (await people.approve("WRONG", NOW + 10, ADMIN)).kind == "unknown"
    assert (await people.approve(code, NOW + 10, "fake:2", 5)).kind == "approved"
    assert (await people.approve("WRONG", NOW + CODE_SECONDS + 5, "fake:1", 5)).kind == "unknown"


async def test_the_greeting_is_a_turn_that_has_its_answer(store: Store) -> None:
    people = People(store)
    ruling = await people.approve(await people.knock(ann()))
    assert ruling.notice is not None and ruling.notice.turn == "turn-7"
    assert [row.turn for row in await store.inbox.unfinished()] == ["turn-7"]
    rows = [row.body for row in await store.transcript.turn_rows("turn-7")]
    assert rows == [ReplyRow("owner zh"), EndRow(StopReason.COMMAND)]
    assert ruling.notice.inbound.address == Address("fake", "main", "7")


async def test_somebody_who_was_sent_away_may_ask_again_and_is_known(store: Store) -> None:
    people = People(store)
    code = await people.knock(ann())
    await people.approve(code)
    assert (await people.revoke(ann(), NOW + 1)).kind == "revoked"
    assert (await people.standings()) == {"fake:7": "revoked"}
    assert (await people.approve(code, NOW + 2)).kind == "unknown"
    assert (await people.revoke(ann(), NOW + 3)).kind == "revoked"
    again = await people.knock(ann(), NOW + CODE_SECONDS)
    (waiting,) = await people.rows.waiting(NOW + CODE_SECONDS)
    assert waiting.returning
    assert (await people.approve(again, NOW + CODE_SECONDS)).kind == "approved"
    assert (await people.standings()) == {"fake:7": "owner"}


async def test_a_code_can_be_taken_back_and_leaves_room_for_another(store: Store) -> None:
    people = People(store)
    told = [await people.knock(ann(number)) for number in range(3)]
    ruling = await people.revoke(ann(1))
    assert (ruling.kind, ruling.person) == ("turned_down", Person("fake", "1", "Ann 1"))
    assert (await people.approve(told[1])).kind == "unknown"
    assert await people.knock(ann(1), NOW + 60) is None
    assert await people.knock(ann(3))
    assert await people.standings() == {}


async def test_nobody_is_sent_away_who_was_never_let_in_unless_everybody_is(store: Store) -> None:
    people = People(store)
    assert (await people.revoke(ann())).kind == "not_paired"
    assert await people.standings() == {}
    assert (await people.revoke(ann(), anybody=True)).kind == "revoked"
    assert await people.standings() == {"fake:7": "revoked"}


async def test_what_was_allowed_for_good_by_or_to_somebody_ends_with_them(store: Store) -> None:
    people, here = People(store), Address("fake", "main", "1")
    for tool, holder, by in (("a", "fake:7", "fake:1"), ("b", "fake:8", "fake:7"), ("c", "fake:8", "fake:1")):
        card = ApprovalCard(tool, "c1", tool, "write", "writes", "{}", NOW)
        await store.approvals.ask(Approval(card, "t", here, holder, True, "f"))
        await store.approvals.decide(tool, "always", "x", NOW, by)
    await people.approve(await people.knock(ann()))
    await people.revoke(ann())
    permitted = [
        await store.approvals.permitted(tool, here, who)
        for tool, who in (("a", "fake:7"), ("b", "fake:8"), ("c", "fake:8"))
    ]
    assert permitted == [False, False, True]
