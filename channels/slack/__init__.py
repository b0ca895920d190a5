"""Slack, by its Web API and Socket Mode: direct chats, channels and the threads in them."""
