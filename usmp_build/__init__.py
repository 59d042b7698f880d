"""usmp_build plans the memory of all ML models of a firmware together, proves the plan, and emits C for it."""

__version__ = "0.1.0"
