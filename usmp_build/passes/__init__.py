"""The passes that turn models into a memory problem: assign, rewrite, select, scopes, axes, ..., lower.

Each takes values and returns a new value.
"""

from usmp_build.passes.assign import assign
from usmp_build.passes.axes import axes
from usmp_build.passes.caches import caches
from usmp_build.passes.connect import connect
from usmp_build.passes.costs import costs
from usmp_build.passes.lifetimes import lifetimes
from usmp_build.passes.lower import lower
from usmp_build.passes.memories import memories
from usmp_build.passes.once import once
from usmp_build.passes.parts import parts
from usmp_build.passes.redirect import redirect
from usmp_build.passes.rewrite import rewrite
from usmp_build.passes.rewrite.work import with_saving
from usmp_build.passes.rows.by_rows import by_rows, in_stretches, row_kernels
from usmp_build.passes.rows.whole_ports import refuse_whole_ports
from usmp_build.passes.schedule import schedule
from usmp_build.passes.scopes import copiers, scopes
from usmp_build.passes.select import select
from usmp_build.passes.separations import AllowedDistances, DirectedSeparations, separations
from usmp_build.passes.storage import storage
from usmp_build.passes.survivors import survivors
from usmp_build.passes.traffic import traffic

__all__ = [
    "AllowedDistances",
    "DirectedSeparations",
    "assign",
    "axes",
    "by_rows",
    "caches",
    "connect",
    "copiers",
    "costs",
    "in_stretches",
    "lifetimes",
    "lower",
    "memories",
    "once",
    "parts",
    "redirect",
    "refuse_whole_ports",
    "rewrite",
    "row_kernels",
    "schedule",
    "scopes",
    "select",
    "separations",
    "storage",
    "survivors",
    "traffic",
    "with_saving",
]
