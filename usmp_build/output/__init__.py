"""Generated files: in memory, on disk, and whose they are."""
