"""The floor of the Telegram bench: the smallest honest streaming bot on the libraries' own defaults."""
