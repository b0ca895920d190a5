"""Chat platforms, one file or folder each, found by the key under ``channels:`` in the config."""
