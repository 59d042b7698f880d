"""Reads programs of two levels as JSON: main calls functions, which have their own allocations, constants and loops."""

from usmp_build.importers.program.reader import import_program

__all__ = ["import_program"]
