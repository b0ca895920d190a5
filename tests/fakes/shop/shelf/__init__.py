"""What lies on the search path."""
