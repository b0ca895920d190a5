"""Abilities: one family a file, found by the ``@tool`` decorator."""
