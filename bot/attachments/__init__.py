"""Files that come with messages: fetched, kept, and turned into what a model can read."""
