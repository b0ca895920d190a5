"""The terminal: people who sit at the machine and talk over the daemon's control socket."""
