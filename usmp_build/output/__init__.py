"""Generated files: in memory, written to disk, compared with a folder, and told from files of others."""
