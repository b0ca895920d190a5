"""Discord: an adapter over its official library's gateway and its REST API."""
