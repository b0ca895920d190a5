"""The words of the house: nouns, ports, errors. Standard library only."""
