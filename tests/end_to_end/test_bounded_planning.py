"""How often, and how hard, is planned for one manifest: counted, not timed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.cli import call, manifest
from usmp_build.algorithms.auto import Auto
from usmp_build.memory.plan import Plan
from usmp_build.memory.problem import Problem

POOLS = """[project]
name = "p"
[pools.a]
access = "rw"
size = 540
[pools.b]
access = "rw"
[pools.rom]
access = "ro"
[models.k]
path = "DATA/kitchen_b.tflite"
"""


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


def test_most_plans_are_brief_and_few_take_all_the_work(tmp_path: Path, asked: Asked) -> None:
    done = call("plan", manifest(tmp_path, POOLS))
    assert done.code == 0, done.err
    assert 0 < asked.briefly <= 80, asked  # directions, and figures of the report
    assert asked.carefully == 2, asked  # in the order of the file: with parts, and with copies
