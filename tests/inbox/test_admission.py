"""Slots are given fairly between people and never lost."""

from __future__ import annotations

import asyncio

from bot.inbox.admission import Admission


async def test_people_take_turns_whatever_one_of_them_asks_for() -> None:
    admission = Admission(1)
    order: list[str] = []
    await admission.take("first")

    async def turn(person: str) -> None:
        async with admission.slot(person):
            order.append(person)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for person in ["greedy"] * 5 + ["modest", "shy"]:
            group.create_task(turn(person))
        await asyncio.sleep(0)
        assert admission.waiting == 7
        admission.give()
    assert order[:3] == ["greedy", "modest", "shy"] and order.count("greedy") == 5


async def test_no_more_than_the_limit_are_live_and_a_cancelled_wait_gives_nothing_away() -> None:
    admission = Admission(2)
    live = most = 0

    async def turn() -> None:
        nonlocal live, most
        async with admission.slot("p"):
            live += 1
            most = max(most, live)
            try:
                await asyncio.sleep(0.001)
            finally:
                live -= 1

    tasks = [asyncio.ensure_future(turn()) for _ in range(40)]
    await asyncio.sleep(0.002)
    for task in tasks[::3]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert most == 2 and admission.waiting == 0
    async with asyncio.timeout(1), admission.slot("a"), admission.slot("b"):
        pass


async def test_a_slot_handed_to_somebody_who_was_just_cancelled_is_passed_on() -> None:
    admission = Admission(1)
    await admission.take("a")
    waiting = asyncio.ensure_future(admission.take("b"))
    await asyncio.sleep(0)
    admission.give()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(1):
        await admission.take("c")
