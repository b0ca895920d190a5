"""The network: one pooled HTTP transport whose errors are translated in one place."""
