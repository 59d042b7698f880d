"""Kernels for any C compiler: a module for each family of operators, which also chooses those for instructions."""
