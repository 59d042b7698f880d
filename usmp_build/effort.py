"""Every bound of work that the search for a plan stops at.

Searches end by counts, never by a clock: the same input gives the same plan on any machine.  Each bound says its unit,
what it bounds, and what the whole of it costs, in CPU time of one core at about 3 GHz.  Units:

    plan     one problem solved with little work: 10 ms (kws) to 160 ms (five models in six pools)
    request  one request planned through all inner loops: 0.06 s (kws) to 0.5 s (five models in six pools)
    node     one decision of the exact search; times buffers, 0.1 million a second in Python, with the core 2 to 10
    visit    one buffer or conflict that is looked at: about 3 million a second in Python

Widths of a heuristic, such as how noisy its ranks may become, stand beside the heuristic.
"""

from __future__ import annotations

# The loops, from the outermost (search/).

LIMITS_LIFTED = 6
"""Requests with a part of the limits lifted, where there is no plan yet: up to 3 s."""

ALIASING_PLANS = 16
"""Requests with other concatenations that copy: up to 8 s, and in firmwares of few buffers under one."""
ALIASING_RECONSIDERED = 4
"""Of these, requests for operators that copy, tried as aliases once more."""
ALIASING_BUFFERS = 4_096
"""Buffers in all of these requests together, but for the first two."""
ALIASING_CONFLICTS = 200_000
"""Conflicts in them: 2 s where very many buffers meet."""

ORDER_MODELS = 4
"""Models whose orders are tried one by one, too; a request of one model each: up to 2 s."""
ORDERS = 32
"""Orders that are planned where those with the fewest bytes alive leave a gap, shared among the models: 0.5 s."""
ORDER_BUFFERS = 2_048
"""Buffers in the problems of these orders together."""

DIRECTION_PLANS = 64
"""Plans of one order with operators that go backward: 1 s for small problems, less than 10 s for any."""
DIRECTION_VISITS = 20_000
"""Conflicts and buffers; a problem counts as one more plan for each such number of them."""
DIRECTION_NODES = (50_000, 10_000)
"""Nodes times buffers that count as one more plan: each buffer has one pool; some have several."""
DIRECTION_PLANS_UNSOLVED = 4
"""Further plans that a problem counts as when there is no plan to show how hard it was."""

ROWS = 6_144
"""Rows of tensors that are buffers: a model with more goes layer by layer, and in memory of pages it is refused."""
ROW_JOBS = 4 * ROWS
"""Jobs of the operators of a model that run row by row: one with more goes layer by layer, too."""
EDGE_ROWS = 1_024
"""Rows of an input or output in one piece that are told apart: of more, several count as one."""
ARRIVALS = 512
"""Rows in which a signal arrives from outside: of more samples, several arrive at once."""
MOVES = 1_024
"""Moves of rows in all runs of a firmware together: their tables take 6 bytes each, or 3."""
MOVE_VISITS = 60_000_000
"""Pairs of buffers that are looked at for moves, in all capacities that are tried: up to 3 s of the core."""
ROW_PLANS = 4
"""Plans of each candidate in which layers run row by row: with hundreds of rows, 0.5 s for a brief one, else 3 s."""

STRIP_PLANS = 1
"""Divisions of a model into strips that are planned, if it may compute columns again: a request each."""
STRIP_ROWS = 4_800
"""Rows of tensors within stages."""
STRIP_MODELS = 2
"""Models that fill a pool and are divided into strips, one by one."""

# What several operators do together (passes/rewrite/upsampling.py).

MOVED_NUMBERS = 100_000_000
"""Elements that operators of a subgraph move before it is known whether they enlarge an image: 2 s, and 1 GB."""

# The order of operators (passes/order/).

ORDER_STATES = 1_000
"""Sets of finished operators of one graph that are all looked at.  Of more, the best of each size go on."""
ORDER_BEAM = 8_000
"""Sets that are looked at then, of all sizes together."""
ORDER_STEPS = 400_000
"""Operators that are tried after a set then: 1 to 2 s of Python."""
DIVE_STEPS = 8_000
"""Operators that are tried for one limit of the peak."""
DIVES_STEPS = 60_000
"""And for all limits of a graph."""
LAZY_STEPS = 500_000
"""Jobs that are followed in lazy orders of a model with all cuts, shared among the cuts: 2 s of Python."""
ORDERED_BUFFERS = 6
"""Buffers that share bytes with each other, put in all orders for a bound: 720 orders."""

# The report, and why there is no plan (report/).

STANDALONE_PLANS = 8
"""Plans of one model by itself, with operators that go backward: up to 1 s for each model."""
RETENTION_SETTINGS = 16
"""Settings that let data outlive runs, each planned without: a plan, or a request where that is quick."""
RETENTION_CONFLICTS = 1_000_000
"""Conflicts in all these plans together, but for the first: 5 s."""
RETENTION_ORDER_BUFFERS = 500
"""Buffers, each with one pool; orders are not searched again where there are more."""
CHANGES = 16
"""Other manifests that a report plans: each takes as long as planning the firmware."""
FIXES_TRIED = 5
"""Other manifests that are planned when nothing fits: up to 3 s."""
FIXES_STATED = 16
"""Other manifests that are stated then; those that a bound refuses are not planned, but stating one takes 0.2 s."""
FIXES_BUFFERS = 200
"""Buffers of a firmware whose refusal is explained with the full effort of the algorithm, and for which each other
manifest is planned without limits, too, if it has so many layer by layer: 1 s."""
FIXES_OF_PAIRS = 6
"""Of these, manifests in which two models take turns."""

# Algorithms (planner/algorithms/).

AUTO_SEVERAL_POOLS = 1_000_000
"""Nodes times buffers, where some buffers have several pools: 0.5 s of Python."""
AUTO_SEVERAL_POOLS_OPEN = 8_000_000
"""Nodes times buffers of a second search where the first proves nothing: 0.2 s for 100 buffers, 2 s for 200."""
AUTO_ONE_POOL = 4_000_000
"""Nodes times buffers at least, where each buffer has one pool: 1 s with the core, 30 s of Python."""
AUTO_ONE_POOL_NODES = 150_000
"""Nodes, where that is more."""
AUTO_ONE_POOL_MOST = 32_000_000
"""Nodes times buffers at most: 3 s with the core on what is hard (instance D), 5 minutes of Python."""
AUTO_DECISION = 2
"""Times as much work where one capacity is asked for, not the least: forwards and backwards in time."""
AUTO_CLOSE = 128
"""A peak that exceeds its bound by no more than one part in so many is asked for as a capacity, too: 3 s at most."""
AUTO_BRIEF = (250_000, 60_000)
"""Nodes times buffers of a brief answer: each buffer has one pool; some have several.  0.1 s with the core."""
AUTO_MODERATE = (4_000_000, 1_000_000)
"""The same of an answer in which packing along time and first fit have all of their work: 0.5 s with the core."""
AUTO_MODERATE_LEAST = 1_000_000
"""Nodes times buffers that such an answer may have in any case: 0.1 s with the core, 10 s of Python."""
AUTO_MODERATE_NODES = 20
"""Nodes for each buffer, where that is more."""
AUTO_PLACED_TWICE = 2_000
"""Buffers that are each placed twice however little work is left.  More are planned along the timeline first."""
PORTFOLIO_VISITS = 500_000
"""Visits of all orders in one component: 0.2 s.  A brief answer has a fifth."""
SWEEP_VISITS = 2_000_000
"""Visits of packing a plan again along time, where buffers may overlap: 1 s.  A brief answer has a fifth."""
CLIMB_VISITS = 2_000_000
"""Visits of hill climbing in one component: 1 to 2 s."""
TIMELINE_WORK_EACH = 15_000
"""Nodes times neighbors for each buffer of a timeline: 4 s for 10,000 above the load with the core, else minutes."""
TIMELINE_WORK = 150_000_000
"""Nodes times neighbors of a timeline, however many buffers it has."""
LISTED_PAIRS = 200_000
"""Pairs in conflict of a stated problem that are listed one by one; with more it becomes a timeline, if it can."""
MOST_PAIRS = 2_000_000
"""Pairs in conflict of a stated problem that cannot become a timeline: some GB of memory."""
SOLVE_RIVALS = (128, 256)
"""Buffers for which `solve` also tries other algorithms where the default proves nothing, each in one pool; some in
several: 4 s for 100, up to 30 s for 200 in two pools."""
SOLVE_WITHIN = 4
"""Plans that `solve` makes, each within the bytes of the one before, where several pools are open: 1 s each."""
PROOF_OF_NO_PLAN = 4_000_000
"""Nodes times buffers in which `solve` looks for a proof that there is no plan: 1 s with the core, 30 s of Python."""
EXACT_BUFFERS = 20_000
"""Buffers of one component that are searched exactly: sections take memory by their square."""
LOWER_PEAKS_NODES = 5_000
"""Nodes for lower peaks at the same cost, or one part in 64 of what is left."""

# Bounds and refusals (planner/memory/).

POOL_UNIONS = 8
"""Lists of candidate pools whose 255 unions are all bounded; of more lists, only the largest union is."""
FULLEST_STEPS = 64
"""Of the fullest steps of a timeline, those that are weighed for a bound: mostly the first decides."""
RECURRING_STEPS = 16
"""Of these, steps at which buffers are looked for that meet all others at other steps."""
WITNESS_BUFFERS = 500
"""Buffers of a witness that is made shorter one by one."""
REFUSAL_WEIGHINGS = 200
"""Sets of buffers that are weighed to make the proof of a refusal short."""
REFUSAL_PLANS = 20
"""Plans of fewer buffers, to say which cannot be together: up to 2 s."""
REFUSAL_WINDOW_PLANS = 4
"""Of these, plans to find the steps at which they do not fit, from either side."""
INCREASE_PLANS = 8
"""Plans in larger pools, to say how many bytes are missing: nearly always one for each pool."""
INCREASE_PLANS_SMALL = 24
"""The same where the problem has no more than `INCREASE_SMALL` visits."""
INCREASE_SMALL = 2_000
"""Conflicts and buffers of a small problem."""
REFUSAL_VISITS = 250_000
"""Conflicts and buffers; a problem counts as one more plan for each such number of them."""

# Plans for TensorFlow Lite Micro (tflm/).

TFLM_TENSORS = 8_192
"""Tensors of a model, constants included, which its planner is followed for: each looks at those before it, 5 s."""
