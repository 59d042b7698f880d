"""An algorithm that does whatever can be done wrong."""

import sys
from dataclasses import dataclass

from usmp_build.planner.memory import Allocation, Plan, Problem
from usmp_shelf import Shelf


@dataclass(frozen=True)
class Faulty:
    """Finds a sound plan, and returns another one, which lies about who made it."""

    fault: str

    def __call__(self, problem: Problem, /) -> object:
        sound = Shelf()(problem)
        places = sound.allocations if sound else ()
        wrong = {
            "overlap": lambda: tuple(Allocation(place.pool, 0) for place in places),
            "outside": lambda: tuple(Allocation(pool, offset + (1 << 20)) for pool, offset in places),
            "elsewhere": lambda: tuple(Allocation(99, place.offset) for place in places),
            "short": lambda: places[:-1],
            "floats": lambda: tuple(Allocation(pool, offset / 2) for pool, offset in places),
            "pairs": lambda: tuple((pool, offset) for pool, offset in places),
            "nothing": lambda: None,
            "zero": lambda: 1 // 0,
            "exit": lambda: sys.exit(0),
        }[self.fault]()
        return Plan("auto", wrong) if isinstance(wrong, tuple) else wrong


def import_nothing(data: bytes, name: str, path: str, /) -> object:
    """An importer that fails in a way that none may."""
    return {}[name]
