"""Clock and zones."""
