"""The web channel: a chat page, its event streams, and an endpoint that any OpenAI client can talk to."""
