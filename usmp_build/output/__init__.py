"""Generated files: in memory, written to disk, compared with a folder, and distinguished from other files."""
