"""Third-party emulators of model vendors, as an outside referee of `bot.providers`."""
