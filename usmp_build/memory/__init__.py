"""The memory problem and its answers.  This package knows nothing of graphs, models or files."""
