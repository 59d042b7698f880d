"""Short ways down the road for tests: models as text, requests without a manifest."""

from dataclasses import replace
from textwrap import dedent

from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, KernelLibrary, KernelSources, Libraries, NoKernel
from usmp_build.ir.graph import Model, Operator, Subgraph
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.algorithms.greedy import GreedyBySize
from usmp_build.planner.memory.verify import violations
from usmp_build.request import (
    Access,
    Copying,
    InputOutput,
    ModelRequest,
    OperandRule,
    PlaceRequest,
    PoolRequest,
    Request,
    TargetRequest,
)
from usmp_build.search.replanner import Replanner
from usmp_build.textual.text import read


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
    return Request("t", "usmp.toml", (*workspace, flash), models, (TargetRequest("cpu", "reference"),), "auto", {})


def firmware(
    reach: dict[str, str],
    *,
    places: tuple[PlaceRequest, ...] = (),
    rules: tuple[OperandRule, ...] = (),
    copies: Copying = Copying.MEMCPY,
    io: InputOutput = InputOutput.POOL,
) -> Request:
    """One model on two targets, cpu (0) and npu (1); `reach` names pools and who reads and writes them.

    {"ram": "cpu npu", "local": "npu", "window": "cpu:r npu"}; a pool called flash or rom is a constant pool.
    """
    pools = []
    for name, who in reach.items():
        access = Access.CONSTANT if name in {"flash", "rom"} else Access.WORKSPACE
        readers = frozenset(i for i, target in enumerate(("cpu", "npu")) if target in who)
        writers = frozenset(i for i, target in enumerate(("cpu", "npu")) if target in who and f"{target}:r" not in who)
        section = f".usmp.t.{name}"
        pools.append(PoolRequest(name, access, None, 16, "", "", section, None, "", readers, writers))
    workspace, constant = (
        tuple(i for i, pool in enumerate(pools) if pool.access is access)
        for access in (Access.WORKSPACE, Access.CONSTANT)
    )
    asked = ModelRequest("m", "m.tflite", "", workspace, constant, io, {}, places=places)
    targets = (TargetRequest("cpu", "reference"), TargetRequest("npu", "reference", copies, rules=rules))
    return Request("t", "usmp.toml", tuple(pools), (asked,), targets, "auto", {})


def analyze(
    *models: Model,
    library: KernelLibrary | None = None,
    io: InputOutput = InputOutput.POOL,
    limits: tuple[int | None, ...] = (None,),
) -> Analysis:
    """Run all passes."""
    return analyze_as(request(*(m.name for m in models), io=io, limits=limits), *models, library=library)


def every(asked: Request, library: KernelLibrary) -> Libraries:
    """One library under all names, for all targets."""
    names = {"extern", "reference", *(target.kernels for target in asked.targets)}
    return {(target, name): library for target in range(len(asked.targets)) for name in names}


def analyze_as(asked: Request, *models: Model, library: KernelLibrary | None = None) -> Analysis:
    """Run all passes for a request of one's own."""
    return Replanner(asked, models, every(asked, library or PlanOnly()), Auto()).analyze()


def alive(analysis: Analysis) -> dict[str, list[tuple[int, int]]]:
    """Buffer name → its intervals."""
    pairs = zip(analysis.storage.buffers, analysis.lifetimes.intervals, strict=True)
    return {buffer.name: [tuple(interval) for interval in intervals] for buffer, intervals in pairs}


def offsets(analysis: Analysis) -> list[int]:
    """Plan, and return where each buffer is in the one pool that there is."""
    plan = GreedyBySize()(analysis.problem)
    assert plan is not None
    assert not violations(analysis.problem, plan)
    return [allocation.offset for allocation in plan.allocations]
