"""The words of the house."""
