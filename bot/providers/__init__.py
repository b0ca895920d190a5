"""Model vendors: one file or folder each behind the `Provider` port, and wrappers (watchdog, retry) around the same port."""
