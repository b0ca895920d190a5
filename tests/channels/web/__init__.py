"""The web channel over real HTTP, with a scripted house behind it."""
