"""The passes that turn models into a memory problem: assign, rewrite, select, scopes, axes, ..., lower.

Each takes values and returns a new value.
"""

from usmp_build.passes.assign import assign as assign
from usmp_build.passes.axes import axes as axes
from usmp_build.passes.caches import caches as caches
from usmp_build.passes.connect import connect as connect
from usmp_build.passes.costs import costs as costs
from usmp_build.passes.lifetimes import lifetimes as lifetimes
from usmp_build.passes.lower import lower as lower
from usmp_build.passes.memories import memories as memories
from usmp_build.passes.once import once as once
from usmp_build.passes.parts import parts as parts
from usmp_build.passes.parts.flat import flat as flat
from usmp_build.passes.rewrite import rewrite as rewrite
from usmp_build.passes.rewrite.work import with_saving as with_saving
from usmp_build.passes.rows.by_rows import by_rows as by_rows
from usmp_build.passes.rows.by_rows import in_stretches as in_stretches
from usmp_build.passes.rows.by_rows import row_kernels as row_kernels
from usmp_build.passes.rows.whole_ports import refuse_whole_ports as refuse_whole_ports
from usmp_build.passes.schedule import schedule as schedule
from usmp_build.passes.scopes import copiers as copiers
from usmp_build.passes.scopes import scopes as scopes
from usmp_build.passes.select import select as select
from usmp_build.passes.separations import (
    AllowedDistances as AllowedDistances,
)
from usmp_build.passes.separations import (
    DirectedSeparations as DirectedSeparations,
)
from usmp_build.passes.separations import (
    separations as separations,
)
from usmp_build.passes.storage import storage as storage
from usmp_build.passes.survivors import survivors as survivors
from usmp_build.passes.traffic import traffic as traffic
