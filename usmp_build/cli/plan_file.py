"""Reads the plan that a command line names: plan.json, or the folder of the generated files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, ProblemError, UsageError
from usmp_build.files import DiskFiles
from usmp_build.layout import PlanRecord, RowsRecord
from usmp_build.layout.plan_json import read_plan

_HELP = "give the plan.json that generate wrote"


def read_plan_file(path: str) -> PlanRecord:
    """Read a plan.  Raises UsageError for another kind of file, ProblemError for a damaged one."""
    if path.endswith(".toml"):
        help_ = "generate, and give the folder of the generated files: the image was built from these"
        raise UsageError(Diagnostic("U214", "this is a manifest, not a plan", path, help_))
    file = plan_path(path)
    data = DiskFiles(file.parent).read(file.name)
    plan = read_plan(data, str(file), ProblemError, "U223", _HELP)
    if fault := next(_faults(plan), None):
        raise ProblemError(Diagnostic("U223", f"this is not a plan: {fault}", str(file), _HELP))
    return plan


def plan_path(path: str) -> Path:
    """Return the file of a plan that is named by itself, or by the folder that it is in."""
    return Path(path) / "plan.json" if Path(path).is_dir() else Path(path)


def _faults(plan: PlanRecord) -> Iterator[str]:
    """Yield where the records of a plan do not go together: files may be damaged, or made by others."""
    pools = {pool.name for pool in plan.pools}
    for buffer in plan.buffers:
        name = quoted(buffer.name)
        if not pools.issuperset(buffer.pools if isinstance(buffer, RowsRecord) else [buffer.pool]):
            yield f"buffer {name} is in a pool that is not there"
        if not all(0 <= start < stop <= len(plan.steps) for start, stop in buffer.intervals):
            yield f"buffer {name} is alive in steps that are not there"
        if isinstance(buffer, RowsRecord) and not len(buffer.offsets) == len(buffer.pools) == len(buffer.intervals):
            yield f"the rows of {name} have no place, or no interval, each"
    names = [model.name for model in plan.models]
    if plan.alternatives and [model.name for model in plan.alternatives.models] != names:
        yield "`alternatives` has other models than `models`"
