"""Kill -9 at every durable and every visible action of a turn, and what is left after the restart."""
