"""Receiving, lanes, admission, commands."""
