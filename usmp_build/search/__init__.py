"""The loops that look for the best plan: of aliases, orders, directions and limits."""
