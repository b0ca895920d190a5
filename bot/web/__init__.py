"""The HTTP server: always on for health and metrics, and the host of every channel that answers HTTP."""
