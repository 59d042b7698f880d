"""Planning algorithms: each takes a `memory.problem.Problem` and returns a `memory.plan.Plan`, or None.

An algorithm is a frozen dataclass whose fields are its options.  Whatever it returns, `memory.verify` checks.
"""
