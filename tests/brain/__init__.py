"""The Brain on a real store, with a scripted vendor."""
