"""What it costs to keep a long answer on screen: an emit, and a show, against hashing the same text once.

The floor is one SHA-256 over the answer: something that any publisher that compares what it shows has to do.
"""

from __future__ import annotations

import asyncio
import hashlib
import time

from bot.core.view import Limits
from tests.outbox.stage import Stage

TEXT = "Some words in a sentence, and `code`.\n\n```py\nx = 1\n```\n\n" * 360
ROUNDS = 200


async def run() -> None:
    began = time.process_time()
    for _ in range(ROUNDS):
        hashlib.sha256(TEXT.encode()).hexdigest()
    floor = (time.process_time() - began) / ROUNDS
    print(f"An answer of {len(TEXT)} characters with 360 code blocks; CPU per call.\n")
    print("| | ms | times the floor |")
    print("|---|---|---|")
    print(f"| floor: one hash of the text | {1000 * floor:.3f} | 1 |")
    for name, limits in (
        ("the page", Limits(size=1_000_000, pace=0.016, structured=True)),
        ("4,096 UTF-16 units", Limits(size=4096, unit="utf16", pace=0.016)),
    ):
        emit, show = await measured(limits)
        print(f"| emit, {name} | {1000 * emit:.4f} | {emit / floor:.2f} |")
        print(f"| show, {name} | {1000 * show:.2f} | {show / floor:.0f} |")


async def measured(limits: Limits) -> tuple[float, float]:
    stage = Stage(limits=limits)
    stage.say(TEXT)
    async with stage.running():
        await stage.clock.advance(2)
        emits = shows = 0.0
        calls = len(stage.channel.calls)
        for _ in range(ROUNDS):
            began = time.process_time()
            stage.say("more ")
            emits += time.process_time() - began
            began = time.process_time()
            await stage.clock.advance(0.02)
            shows += time.process_time() - began
        made = len(stage.channel.calls) - calls
    await asyncio.sleep(0)
    return emits / ROUNDS, shows / max(1, made)
