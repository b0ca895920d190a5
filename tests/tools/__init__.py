"""Each tool family, run for real."""
