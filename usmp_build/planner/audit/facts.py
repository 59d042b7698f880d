"""Audits what a solution states besides places: peaks, limits, bounds with their witnesses, and its status."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from usmp_build.document.faults import Place
from usmp_build.document.suggest import quoted
from usmp_build.planner.audit.crowd import needed
from usmp_build.planner.audit.findings import WRONG_FACT, Findings
from usmp_build.planner.audit.places import PlannedPlaces
from usmp_build.planner.audit.question import Audited
from usmp_build.planner.problems.solution_record import (
    ClaimRecord,
    PoolResult,
    ShortageRecord,
    SolutionRecord,
    WitnessRecord,
)


def check_pools(question: Audited, places: PlannedPlaces, facts: SolutionRecord, findings: Findings) -> Iterator[str]:
    """Check what is stated of each pool; yield what cannot be checked."""
    if sorted(pool.name for pool in facts.pools) != sorted(question.numbers):
        message = f"the pools are not those of the problem: {', '.join(question.numbers)}"
        findings.add("V107", message, ("pools",), help_=WRONG_FACT)
        return
    peaks = [0] * len(question.pools)
    for index, (pool, offset) in enumerate(zip(places.pools, places.offsets, strict=True)):
        peaks[pool] = max(peaks[pool], offset + question.buffer(index).size)
    for number, result in enumerate(facts.pools):
        yield from _check_pool(question, places, result, number, peaks[question.numbers[result.name]], findings)
    if facts.status in ("INFEASIBLE", "UNKNOWN"):
        findings.add("V109", f"the status is {facts.status}, but there is a plan", (), "status", WRONG_FACT)
    if facts.status == "OPTIMAL":
        yield from _check_optimal(facts, findings)


def check_shortage(question: Audited, facts: SolutionRecord, findings: Findings) -> Iterator[str]:
    """Check the reason why there is no plan; yield what cannot be checked."""
    if facts.status in ("OPTIMAL", "FEASIBLE"):
        findings.add("V109", f"the status is {facts.status}, but there is no plan", (), "status", WRONG_FACT)
    elif facts.status == "INFEASIBLE" and (facts.shortage is None or not facts.shortage.proven):
        findings.add("V109", "the status is INFEASIBLE, but there is no proof", (), "status", WRONG_FACT)
    elif facts.shortage is not None and facts.shortage.proven:
        yield from _check_proof(question, facts.shortage, findings)


def _check_pool(
    question: Audited, places: PlannedPlaces, pool: PoolResult, number: int, peak: int, findings: Findings
) -> Iterator[str]:
    place: Place = ("pools", number)
    pool_index = question.numbers[pool.name]
    limit = question.pools[pool_index].limit
    if pool.peak != peak:
        message = f"the peak of {pool.name} is {peak:,}, not {pool.peak:,}"
        findings.add("V107", message, place, "peak", WRONG_FACT)
    if pool.limit != limit:
        shown_limit = "none" if limit is None else f"{limit:,} bytes"
        findings.add("V107", f"the limit of {pool.name} is {shown_limit}", place, "limit", WRONG_FACT)

    def belongs(name: str) -> bool:
        return places.pools[question.indices[name]] == pool_index

    _check_witness(question, pool.witness, (*place, "witness"), belongs, 1, findings)
    claimed = pool.claim.bytes if pool.claim else 0
    if pool.bound > max(pool.witness.bytes, claimed):
        message = f"the bound of {pool.name} is more than the witness and the claim prove"
        findings.add("V107", message, place, "bound", WRONG_FACT)
    if pool.bound > peak:
        message = f"the bound of {pool.name} is more than its peak, {peak:,}: the plan proves it wrong"
        findings.add("V107", message, place, "bound", WRONG_FACT)
    if pool.claim and pool.bound > pool.witness.bytes:
        yield f"that {pool.name} needs {claimed:,} bytes is {_claimed(pool.claim)}"


def _check_optimal(facts: SolutionRecord, findings: Findings) -> Iterator[str]:
    """Check the status OPTIMAL: the bound of one pool proves it; with several, other assignments may be better."""
    if len(facts.pools) > 1:
        yield f"that no other choice of pools is better is claimed by {facts.algorithm}: not checked"
    elif facts.pools[0].peak > facts.pools[0].bound:
        message = f"the status is OPTIMAL, but {facts.pools[0].name} is above its bound"
        findings.add("V109", message, ("pools", 0), "peak", WRONG_FACT)


def _check_proof(question: Audited, shortage: ShortageRecord, findings: Findings) -> Iterator[str]:
    """Check that the buffers of the witness fit only in these pools, and need more than these have."""
    if not shortage.pools and shortage.claim:
        yield f"that there is no plan is {_claimed(shortage.claim)}"
        return
    if not question.numbers.keys() >= {*shortage.pools} or len({*shortage.pools}) < len(shortage.pools):
        message = f"these are not pools of the problem: {', '.join(shortage.pools)}"
        findings.add("V107", message, ("shortage",), "pools", WRONG_FACT)
        return
    pools = {question.numbers[name] for name in shortage.pools}

    def belongs(name: str) -> bool:
        buffer = question.buffer(question.indices[name])
        end = (buffer.offset or 0) + buffer.size
        limits = {pool: question.pools[pool].limit for pool in buffer.pools}
        return {pool for pool, limit in limits.items() if limit is None or end <= limit} <= pools

    _check_witness(question, shortage.witness, ("shortage", "witness"), belongs, len(pools), findings)
    _check_room(question, shortage, pools, findings)
    if shortage.claim and shortage.witness.bytes <= shortage.room:
        yield f"that they need {shortage.claim.bytes:,} bytes is {_claimed(shortage.claim)}"


def _check_room(question: Audited, shortage: ShortageRecord, pools: set[int], findings: Findings) -> None:
    """Check how many bytes pools offer, and how many are missing there."""
    limits = [question.pools[pool].limit for pool in pools]
    room = sum(limit for limit in limits if limit is not None)
    if None in limits or shortage.room != room:
        message = "these pools have no limit" if None in limits else f"these pools offer {room:,} bytes"
        findings.add("V107", message, ("shortage",), "room", WRONG_FACT)
    proven = max(shortage.witness.bytes, shortage.claim.bytes if shortage.claim else 0)
    if proven <= shortage.room:
        message = f"{proven:,} bytes fit into {shortage.room:,}: this proves nothing"
        findings.add("V109", message, ("shortage",), "room", WRONG_FACT)
    if shortage.missing != max(0, proven - shortage.room):
        message = f"{max(0, proven - shortage.room):,} bytes are missing"
        findings.add("V107", message, ("shortage",), "missing", WRONG_FACT)


def _check_witness(
    question: Audited,
    witness: WitnessRecord,
    place: Place,
    belongs: Callable[[str], bool],
    pools: int,
    findings: Findings,
) -> None:
    """Check that the buffers of a witness belong there, all conflict, and need the bytes that it states."""
    for name in witness.buffers:
        if name not in question.indices or not belongs(name):
            message = f"buffer {quoted(name)} does not count here: it may be in other pools"
            findings.add("V108", message, place, "buffers", WRONG_FACT)
            return
    members = [question.indices[name] for name in witness.buffers]
    if len(set(members)) < len(members):
        findings.add("V108", "a buffer counts twice", place, "buffers", WRONG_FACT)
        return
    step = witness.step
    dead = next((i for i in members if step is not None and not question.is_alive(i, step)), None)
    strangers = question.strangers(members, step) if dead is None else None
    if dead is not None:
        message = f"{quoted(question.buffer(dead).name)} is not alive at step {step:,}"
        findings.add("V108", message, place, "step", WRONG_FACT)
    elif strangers:
        one, other = (quoted(question.buffer(index).name) for index in strangers)
        findings.add("V108", f"{one} and {other} do not conflict: they may share bytes", place, "buffers", WRONG_FACT)
    elif witness.bytes > (least := needed(question, members, pools)):
        message = f"its buffers need {least:,} bytes, not {witness.bytes:,}"
        findings.add("V108", message, place, "bytes", WRONG_FACT)


def _claimed(claim: ClaimRecord) -> str:
    return f"claimed by {claim.algorithm}, work {claim.work:,}: not checked"
