"""Two-level programs as JSON: main calls functions, and these have allocations, constants and loops of their own."""

from usmp_build.importers.program.reader import import_program

__all__ = ["import_program"]
