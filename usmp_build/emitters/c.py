"""C: a header and a source for each model, one header for the plan, one source each for pools and kernels.

Constant pools of the application are no C, but their files know the C that they belong to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from usmp_build.emitters.pool_bytes import pool_bytes_outputs, pool_ids
from usmp_build.emitters.render import render
from usmp_build.interfaces.kernels import LONGEST_RANK
from usmp_build.ir.seal import FIRST_COVERED, SEAL
from usmp_build.layout.layout import Layout
from usmp_build.output.bundle import OutputFile

ABI = 2
"""Of generated code and "usmp.h": one that does not know the other refuses to compile."""


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield all C files of a plan, and the bytes of constant pools of the application."""
    code = [*_plan_code(layout), *_model_code(layout)]
    unsealed = _plan_header(layout, {each.pool.name: 0 for each in layout.pool_bytes})
    ids = pool_ids(layout.pool_bytes, [*code, unsealed])
    yield from code
    yield _plan_header(layout, ids)
    yield from pool_bytes_outputs(layout.summary, layout.pool_bytes, ids)


def _plan_header(layout: Layout, ids: Mapping[str, int]) -> OutputFile:
    """The header of the plan; it is the only file that says the ids of pools."""
    summary = layout.summary
    on_demand = any(function.on_demand for _, code in layout.models for function in code.functions)
    values = {"on_demand": on_demand, "ids": ids, "summary": summary, "abi": ABI}
    return OutputFile(f"{summary.project}.h", render("plan.h.j2", **values))


def _plan_code(layout: Layout) -> Iterator[OutputFile]:
    """What there is once."""
    summary, project = layout.summary, layout.summary.project
    common = {"summary": summary, "abi": ABI}
    yield OutputFile("usmp.h", render("usmp.h.j2", abi=ABI, longest_rank=LONGEST_RANK, seal=SEAL))
    yield OutputFile("usmp_regions.h", render("usmp_regions.h.j2"))
    pools = {"groups": layout.constants, "excluded": layout.excluded, "first_covered": FIRST_COVERED, **common}
    yield OutputFile(f"{project}_pools.c", render("pools.c.j2", **pools))
    kernels = {"header": layout.kernel_header, "source": layout.kernel_source, "cached": layout.cached, **common}
    yield OutputFile(f"{project}_kernels.h", render("kernels.h.j2", **kernels))
    yield OutputFile(f"{project}_kernels.c", render("kernels.c.j2", **kernels))
    shared = tuple(group for group in layout.constants if len(group.models) > 1)
    name = f"{project}_shared"
    yield OutputFile(f"{name}_constants.h", render("constants.h.j2", owner=name, groups=shared, **common))
    yield OutputFile(f"{project}_guard.h", render("guard.h.j2", **common))


def _model_code(layout: Layout) -> Iterator[OutputFile]:
    """What each model has."""
    common = {"summary": layout.summary, "abi": ABI}
    for index, (row, code) in enumerate(layout.models):
        groups = tuple(group for group in layout.constants if group.models == (index,))
        shared = tuple(group for group in layout.constants if len(group.models) > 1 and index in group.models)
        values = {"model": row, "index": index, "code": code, "shared": shared, **common}
        yield OutputFile(f"{row.name}.h", render("model.h.j2", **values))
        constants = {"owner": row.name, "groups": groups, **common}
        yield OutputFile(f"{row.name}_constants.h", render("constants.h.j2", **constants))
        yield OutputFile(f"{row.name}.c", render("model.c.j2", **values))
