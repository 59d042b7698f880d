"""Short ways down the road for tests: models as text, requests without a manifest."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

from usmp_build import passes
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, KernelLibrary, KernelSources, NoKernel
from usmp_build.ir.graph import Model, Operator, Subgraph
from usmp_build.ir.text import read
from usmp_build.request import Access, InputOutput, ModelRequest, PoolRequest, Request


class PlanOnly:
    """A kernel library that runs nothing; or, for the kinds given, what a test says of them."""

    def __init__(self, kernels: dict[str, Kernel] | None = None) -> None:
        self._kernels = kernels or {}

    def kernel(self, operator: Operator, graph: Subgraph, /) -> Kernel | NoKernel:
        return self._kernels.get(operator.kind, NoKernel("tests do not run it"))

    def sources(self, functions: object, prefix: str, /) -> KernelSources:
        return KernelSources("", "")


def model(text: str, name: str = "m") -> Model:
    """Read a model from its textual form; `model` and `subgraph` lines may be left out."""
    body = dedent(text)
    if "subgraph" not in body:
        body = f'subgraph 0 "main"\n{body}'
    return replace(read(f'model "{name}"\n{body}', name, "test.model.txt"), name=name)


def request(*names: str, io: InputOutput = InputOutput.POOL, limits: tuple[int | None, ...] = (None,)) -> Request:
    """One workspace pool for each limit (pool0, pool1, ...), one constant pool, and models that may use them all."""
    workspace = tuple(
        PoolRequest(f"pool{i}", Access.WORKSPACE, limit, 16, "", "", f".usmp.t.pool{i}", None)
        for i, limit in enumerate(limits)
    )
    flash = PoolRequest("flash", Access.CONSTANT, None, 16, "", "", ".usmp.t.flash", None)
    pools = tuple(range(len(workspace)))
    models = tuple(ModelRequest(n, f"{n}.tflite", "", pools, (len(workspace),), io, {}) for n in names)
    return Request("t", "usmp.toml", (*workspace, flash), models, "reference", "auto", {})


def analyze(
    *models: Model,
    library: KernelLibrary | None = None,
    io: InputOutput = InputOutput.POOL,
    limits: tuple[int | None, ...] = (None,),
) -> Analysis:
    """Run all passes."""
    asked = request(*(m.name for m in models), io=io, limits=limits)
    rewritten = tuple(map(passes.rewrite, models))
    kernels = passes.select(asked, rewritten, library or PlanOnly())
    schedule = passes.schedule(rewritten)
    storage = passes.storage(asked, rewritten, schedule, kernels)
    lifetimes = passes.lifetimes(schedule, storage)
    traffic = passes.traffic(rewritten, kernels, storage)
    problem = passes.lower(asked, schedule, storage, lifetimes, traffic)
    return Analysis(rewritten, kernels, schedule, storage, lifetimes, traffic, problem)


def alive(analysis: Analysis) -> dict[str, list[tuple[int, int]]]:
    """Buffer name → its intervals."""
    pairs = zip(analysis.storage.buffers, analysis.lifetimes.intervals, strict=True)
    return {buffer.name: [tuple(interval) for interval in intervals] for buffer, intervals in pairs}
