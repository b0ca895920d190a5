"""Mirror of ``channels/discord``: the real library against the simulator on the wire."""
