"""Searches for the best plan: nested loops over concat aliases, operator orders, directions and lifted limits."""
