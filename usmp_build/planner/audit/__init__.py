"""An independent auditor: reads a problem and a plan from files, and checks everything again.

It shares types, file readers and the sweep over rectangles (`memory.overlaps`) with the planner, and no other code that
finds, bounds or verifies plans.  The contract "The auditor shares nothing with the planner" in pyproject.toml enforces
that.
"""
