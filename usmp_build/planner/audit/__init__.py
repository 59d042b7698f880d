"""An auditor of plans: reads a problem and a plan, and looks at everything anew.

It shares the nouns, the doors and the sweep over rectangles (`memory.overlaps`) with the planner, and nothing else of
what finds, bounds or checks plans there.  The contract "The auditor shares nothing with the planner" in pyproject.toml
holds that down.
"""
