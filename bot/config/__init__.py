"""Configuration: read the file a person wrote, say everything that is wrong with it, hand on frozen objects."""
