"""The small model that runs on the machine itself: its weights, its engine, and how it is asked."""
