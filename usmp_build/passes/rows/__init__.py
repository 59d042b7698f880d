"""Layers row by row: which can, which inputs and outputs come so, and the steps of their jobs."""
