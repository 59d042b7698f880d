"""How often, and how hard, is planned for one manifest: counted, not timed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.support.cli import RO, RW, call, manifest, succeed, tables
from tests.support.nets import NETS
from tests.support.tree import ROOT
from usmp_build import effort
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.choices import Choices
from usmp_build.ir.schedule import Node
from usmp_build.passes.schedule.operators import Operators
from usmp_build.planner.algorithms import auto
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.report import infeasible
from usmp_build.request import Request
from usmp_build.search import concat_aliasing
from usmp_build.search.operator_order import BestCandidate, Orders
from usmp_build.search.replanner import Replanner

Ordered: TypeAlias = Callable[[Choices], Analysis]

POOLS = tables("p", {"a": f"{RW}size = 540\n", "b": RW, "rom": RO}, {"k": 'path = "DATA/kitchen_b.tflite"\n'})


@dataclass
class Asked:
    """Problems with several pools for a buffer that "auto" was asked about."""

    briefly: int = 0
    carefully: int = 0


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    counts = Asked()
    brief, careful = Auto.brief, Auto.__call__

    def several(problem: Problem) -> bool:
        return any(len(buffer.pools) > 1 for buffer in problem.buffers)

    def briefly(self: Auto, problem: Problem, /) -> Plan | None:
        counts.briefly += several(problem)
        return brief(self, problem)

    def carefully(self: Auto, problem: Problem, /) -> Plan | None:
        counts.carefully += several(problem)
        return careful(self, problem)

    monkeypatch.setattr(Auto, "brief", briefly)
    monkeypatch.setattr(Auto, "__call__", carefully)
    return counts


@pytest.mark.long
def test_most_plans_are_brief_and_few_take_all_the_work(tmp_path: Path, asked: Asked) -> None:
    succeed("plan", manifest(tmp_path, POOLS))
    assert 0 < asked.briefly <= 2 * effort.DIRECTION_PLANS, (
        asked
    )  # directions, with parts and with copies, and figures of the report
    assert asked.carefully == 4, asked  # in the order of the file, with parts and with copies; both without limits


@pytest.mark.long
@pytest.mark.parametrize("example", ["digits", "firmware", "instances", "regions", "rows"])
def test_examples_take_little_search(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted are nodes of the exact search, times buffers."""
    work, search = 0, auto.plan_pools

    def counted(problem: Problem, nodes: int, *others: Any, **named: Any) -> Plan | None:
        nonlocal work
        plan = search(problem, nodes, *others, **named)
        work += len(problem.buffers) * (nodes if plan is None else plan.work)
        return plan

    monkeypatch.setattr(auto, "plan_pools", counted)
    succeed("plan", ROOT / "examples" / example / "usmp.toml")
    assert 0 < work <= 6_000_000


def alike(folder: Path, models: int, size: str, together: bool = False) -> Path:
    """Write a manifest of so many models of one operator, and one pool for them."""
    folder.mkdir()
    tensors = '  %0 "x" float32[2]\n  %1 "y" float32[2]\n  inputs %0\n  outputs %1\n'
    text = f'model "m"\nsubgraph 0 "main"\n{tensors}  %1 = RELU(%0)\n'
    (folder / "m.model.txt").write_text(text, encoding="utf-8")
    names = [f"m{number}" for number in range(models)]
    concurrent = "concurrent = [[{}]]\n".format(", ".join(f'"{name}"' for name in names)) if together else ""
    return manifest(
        folder, concurrent + tables("p", {"sram": RW + size}, dict.fromkeys(names, 'path = "m.model.txt"\n'))
    )


def times_scheduled(folder: Path, models: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Plan so many models, and return how often the operators of a model were put in order."""
    path = alike(folder, models, "")
    times = 0
    main = Operators.main

    def counted(self: Operators) -> tuple[Node, ...]:
        nonlocal times
        times += 1
        return main(self)

    with monkeypatch.context() as patched:
        patched.setattr(Operators, "main", counted)
        done = call("plan", path)
    assert done.code == 0, done.err
    return times


def test_models_are_not_scheduled_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, twice = (times_scheduled(tmp_path / str(count), count, monkeypatch) for count in (4, 8))
    assert twice <= 2 * few


def test_a_refusal_looks_at_few_other_manifests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None of 45 pairs that take turns is enough, and bounds say so of each."""
    chosen: list[Request] = []
    choose = concat_aliasing.choose

    def counted(replanner: Replanner, *others: Any) -> BestCandidate:
        chosen.append(replanner.request)
        return choose(replanner, *others)

    monkeypatch.setattr(infeasible, "choose", counted)
    assert call("plan", alike(tmp_path / "p", 10, "size = 16\n", together=True)).code == 3
    assert 0 < len(chosen) <= 16


@pytest.mark.long
def test_a_few_plans_tell_whether_parts_should_be_copies_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of four models fills a pool of its own: all of them could be looked at once more, in halves too."""
    chosen: list[Request] = []

    class Counted(Orders):
        def __init__(self, replanner: Replanner, first: Analysis) -> None:
            chosen.append(replanner.request)
            super().__init__(replanner, first)

    monkeypatch.setattr(concat_aliasing, "Orders", Counted)
    (tmp_path / "m.tflite").write_bytes(NETS["cross_stage"]())
    pools = {f"p{n}": RW for n in range(4)} | {"rom": RO}
    models = {f"m{n}": f'path = "m.tflite"\nworkspace_pools = ["p{n}"]\n' for n in range(4)}
    path = manifest(tmp_path, tables("p", pools, models))
    assert call("generate", path, "--out", tmp_path / "out").code == 0  # `plan` would plan each model alone, too
    assert 2 < len(chosen) <= 6, "with copies, with parts, and four more"
