"""C: a header and a source for each model, one header for the plan, one source each for pools and kernels."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.bundle import OutputFile
from usmp_build.emitters.render import render
from usmp_build.interfaces.kernels import LONGEST_RANK
from usmp_build.layout import Layout

ABI = 1
"""Of generated code and "usmp.h": one that does not know the other refuses to compile."""


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield all C files of a plan."""
    summary, project = layout.summary, layout.summary.project
    yield OutputFile("usmp.h", render("usmp.h.j2", abi=ABI, longest_rank=LONGEST_RANK))
    common = {"summary": summary, "abi": ABI}
    on_demand = any(function.on_demand for _, code in layout.models for function in code.functions)
    yield OutputFile(f"{project}.h", render("plan.h.j2", on_demand=on_demand, **common))
    yield OutputFile(f"{project}_pools.c", render("pools.c.j2", groups=layout.constants, **common))
    kernels = {"header": layout.kernel_header, "source": layout.kernel_source, **common}
    yield OutputFile(f"{project}_kernels.h", render("kernels.h.j2", **kernels))
    yield OutputFile(f"{project}_kernels.c", render("kernels.c.j2", **kernels))
    for index, (row, code) in enumerate(layout.models):
        own = tuple(group for group in layout.constants if group.models == (index,))
        shared = tuple(group for group in layout.constants if len(group.models) > 1 and index in group.models)
        values = {"model": row, "code": code, "own": own, "shared": shared, **common}
        yield OutputFile(f"{row.name}.h", render("model.h.j2", **values))
        yield OutputFile(f"{row.name}_constants.h", render("constants.h.j2", guard=row.name, groups=own, **common))
        yield OutputFile(f"{row.name}.c", render("model.c.j2", **values))
    common_groups = tuple(group for group in layout.constants if len(group.models) > 1)
    name = f"{project}_shared"
    yield OutputFile(f"{name}_constants.h", render("constants.h.j2", guard=name, groups=common_groups, **common))
