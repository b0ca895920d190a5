"""Pages and search results as text: what comes from the web is taken apart in processes of its own."""
