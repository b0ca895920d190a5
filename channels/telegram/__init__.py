"""Telegram, by its Bot API: private chats, and groups in which the bot is meant."""
