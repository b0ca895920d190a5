"""Wiring: a configuration in, a running daemon out."""
