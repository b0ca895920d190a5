"""Wire-level simulators of the platforms, on loopback, for the real client libraries to talk to."""
