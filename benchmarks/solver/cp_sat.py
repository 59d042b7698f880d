"""OR-Tools' CP-SAT on the same instances: rectangles of fixed width that may not overlap.

It is bounded by seconds, as it is meant to be used; its figures differ from run to run.
"""

from __future__ import annotations

import time
from importlib import import_module
from math import gcd
from typing import Any

from benchmarks.solver.figures import Figures
from benchmarks.solver.instances import Instance


def is_there() -> bool:
    """Whether OR-Tools is installed."""
    try:
        import_module("ortools.sat.python.cp_model")
    except ImportError:
        return False
    return True


def fit(instance: Instance, seconds: float) -> Figures:
    """Ask whether the instance fits into its capacity."""
    return _solve(instance, seconds, minimize=False)


def least(instance: Instance, seconds: float) -> Figures:
    """Ask for the least capacity."""
    return _solve(instance, seconds, minimize=True)


def _solve(instance: Instance, seconds: float, minimize: bool) -> Figures:
    cp_model: Any = import_module("ortools.sat.python.cp_model")
    unit = gcd(instance.capacity, *(size for _, _, size in instance.rectangles))
    limit = instance.capacity // unit
    model = cp_model.CpModel()
    peak = model.new_int_var(-(-instance.max_load // unit), limit if not minimize else 4 * limit, "peak")
    times, places = [], []
    for index, (start, stop, size) in enumerate(instance.rectangles):
        offset = model.new_int_var(0, 4 * limit, f"offset{index}")
        times.append(model.new_fixed_size_interval_var(start, stop - start, f"time{index}"))
        places.append(model.new_fixed_size_interval_var(offset, size // unit, f"place{index}"))
        model.add(offset + size // unit <= peak)
    model.add_no_overlap_2d(times, places)
    if minimize:
        model.minimize(peak)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    begun = time.process_time()
    status = solver.status_name(solver.solve(model))
    spent = time.process_time() - begun
    found = status in ("OPTIMAL", "FEASIBLE")
    return Figures("CP-SAT", status, solver.value(peak) * unit if found else None, None, spent)
