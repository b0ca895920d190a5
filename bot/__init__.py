"""Bowerbird: the daemon, free of any platform."""
