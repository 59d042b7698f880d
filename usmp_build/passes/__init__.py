"""From models to a memory problem: assign, rewrite, select, scopes, axes, ..., lower; values → new values."""

from usmp_build.passes.alone import alone
from usmp_build.passes.assign import assign
from usmp_build.passes.axes import axes
from usmp_build.passes.lifetimes import lifetimes
from usmp_build.passes.lower import lower
from usmp_build.passes.rewrite import rewrite
from usmp_build.passes.schedule import schedule
from usmp_build.passes.scopes import copiers, scopes
from usmp_build.passes.select import select
from usmp_build.passes.storage import storage
from usmp_build.passes.traffic import traffic

__all__ = [
    "alone",
    "assign",
    "axes",
    "copiers",
    "lifetimes",
    "lower",
    "rewrite",
    "schedule",
    "scopes",
    "select",
    "storage",
    "traffic",
]
