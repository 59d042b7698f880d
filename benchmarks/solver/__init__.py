"""What the search for plans costs, and what it finds."""
