"""An estimate of cycles from what the plugin counts and what Arm publishes of its processors; there is no board here.

Of the Cortex-M4 the technical reference manual (100166, table 3-1) says, without wait states:

    LDR, STR                 2, or 1 where it can be pipelined; unaligned more
    LDM, LDRD, PUSH, ...     1 + words
    a branch that is taken   1 + P, where P is 1 to 3
    SDIV, UDIV               2 to 12
    VDIV, VSQRT              14
    VMLA, VFMA, ...          3
    anything else            1

Of the Cortex-M7 no such table is published: it issues at most two instructions in a cycle, and has one multiplier.
"""

from __future__ import annotations

from benchmarks.figures import Figures
from tests.support.counting import Interval


def estimate(interval: Interval) -> Figures:
    """Return the least and the most cycles that published timings allow."""
    timing = interval.timing
    exact = interval.instructions + timing.unaligned + 13 * timing.float_divisions + 2 * timing.float_sums
    return {
        "M4 cycles, least": exact + timing.branches + timing.divisions,
        "M4 cycles, most": exact + timing.accesses + 3 * timing.branches + 11 * timing.divisions,
        "M7 cycles, least": max(-(-interval.instructions // 2), timing.multiplications),
    }
