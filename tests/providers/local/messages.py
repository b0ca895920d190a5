"""What people write, and the tool that it needs: the table behind the gate's tests and the real model's."""

from __future__ import annotations

from typing import Final

from bot.core.tool import Effect, ToolSpec

NOW: Final = ToolSpec(
    "now",
    "Tell the current date, weekday and time.",
    {"type": "object", "properties": {"zone": {"type": "string"}}, "additionalProperties": False},
)
CALCULATE: Final = ToolSpec(
    "calculate",
    "Calculate an arithmetic expression exactly, such as 17*23, (2+3)^2, 15% of 80 or sqrt(2).",
    {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
)
NOTE_WRITE: Final = ToolSpec(
    "note_write",
    "Add a line to the person's notes file. Use it when they ask to note, write down or jot something.",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    effect=Effect.WRITE,
    idempotent=False,
)
TOOLS: Final = (NOW, CALCULATE, NOTE_WRITE)

TALK: Final = (
    "hello",
    "What is the capital of France?",
    "Tell me a short joke",
    "What is a good time to visit Japan?",
    "Thank you!",
    "Explain what a calculator is.",
    "How do I take good notes in class?",
    "What is three plus four?",
    "I had a great time today",
    "What's the time complexity of quicksort?",
    "The meeting has 5-10 people",
    "What is the date of Easter?",
    "We are open 24/7, call 555-1234",
    "你好",
    "法国的首都是哪里？",
    "什么时候去日本旅游最好？",
    "谢谢",
    "时间就是金钱是什么意思？",
    "火车几点开？",
    "三加四等于几？",
    "怎么做好课堂笔记？",
)
"""Messages that need no tool."""

ASKED: Final = (
    ("what time is it?", "now", ""),
    ("What day is it today?", "now", ""),
    ("Can you tell me the date?", "now", ""),
    ("What's the current time in Tokyo?", "now", ""),
    ("现在几点？", "now", ""),
    ("今天星期几？", "now", ""),
    ("今天几号", "now", ""),
    ("请问现在几点了", "now", ""),
    ("calculate 17*23", "calculate", "17*23"),
    ("How much is 1234 * 5678?", "calculate", "1234*5678"),
    ("what is 12 plus 30", "calculate", "12+30"),
    ("(12+8)*3", "calculate", "(12+8)*3"),
    ("what's 15% of 80?", "calculate", "15%*80"),
    ("请计算 88 除以 4", "calculate", "88/4"),
    ("算一下 99 乘以 7", "calculate", "99*7"),
    ("12+30=?", "calculate", "12+30"),
    ("note: buy milk", "note_write", "buymilk"),
    ("Please write down: call mum tomorrow", "note_write", "callmumtomorrow"),
    ("Add to my notes that the wifi code is 4411", "note_write", "4411"),
    ("记一下：明天给妈妈打电话", "note_write", "明天给妈妈打电话"),
    ("请把“周五交房租”写进笔记", "note_write", "周五交房租"),
)
"""Messages, the tool that each needs, and what its arguments must hold (spaces and capitals aside)."""
