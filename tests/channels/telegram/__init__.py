"""Mirror of ``channels/telegram``: the real library against the simulator on the wire."""
