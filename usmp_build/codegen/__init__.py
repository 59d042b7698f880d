"""From a plan to everything that its C says: `arrange` decides on all of it."""
