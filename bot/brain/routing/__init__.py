"""Which models a turn is given, and why."""
