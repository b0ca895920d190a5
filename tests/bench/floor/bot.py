"""The smallest streaming bot that a competent person writes with python-telegram-bot and the openai SDK.

``python -m tests.bench.floor.bot TOKEN API_BASE MODEL_BASE MODEL``. Both libraries keep their default HTTP clients.
"""

from __future__ import annotations

import asyncio
import sys
import time

from openai import AsyncOpenAI
from telegram import Message, Update
from telegram.error import RetryAfter
from telegram.ext import Application, ContextTypes, MessageHandler, filters

EDIT_SECONDS = 1.0

TOKEN, API_BASE, MODEL_BASE, MODEL = sys.argv[1:]
client = AsyncOpenAI(base_url=MODEL_BASE, api_key="sk-floor")


async def show(question: Message, shown: Message | None, text: str) -> Message:
    """Send the answer, or bring the one that is there up to date."""
    if shown is None:
        return await question.reply_text(text)
    await shown.edit_text(text)
    return shown


async def answer(update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
    question = update.effective_message
    assert question is not None and question.text is not None
    stream = await client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": question.text}], stream=True
    )
    text, shown_text, shown, due = "", "", None, 0.0
    async for chunk in stream:
        text += chunk.choices[0].delta.content or "" if chunk.choices else ""
        if text.strip() and time.monotonic() >= due:
            try:
                shown, shown_text, due = await show(question, shown, text), text, time.monotonic() + EDIT_SECONDS
            except RetryAfter:
                due = time.monotonic() + EDIT_SECONDS
    while shown_text != text:
        try:
            shown, shown_text = await show(question, shown, text), text
        except RetryAfter as limited:
            await asyncio.sleep(float(limited.retry_after))  # type: ignore[arg-type]


def main() -> None:
    application = (
        Application.builder()
        .token(TOKEN)
        .base_url(f"{API_BASE}/bot")
        .base_file_url(f"{API_BASE}/file/bot")
        .concurrent_updates(True)
        .build()
    )
    application.add_handler(MessageHandler(filters.TEXT, answer))
    application.run_polling()


if __name__ == "__main__":
    main()
