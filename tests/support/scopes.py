"""Which pools tensors may live in: a model whose operators run on two targets, and questions with copies."""

from dataclasses import replace

from usmp_build.interfaces.analysis import Analysis
from usmp_build.passes.scopes.question import PoolQuestion
from usmp_build.passes.scopes.unify import PoolAnswer
from usmp_build.request import PlaceRequest
from usmp_build.textual.text import write

CHAIN = """
    %0 "x" int8[4]
    %1 "a" int8[4]
    %2 "b" int8[4]
    %3 "c" int8[4]
    %4 "y" int8[4]
    inputs %0
    outputs %4
    %1 = TANH(%0)
    %2 = CONV_2D(%1)
    %3 = ADD(%1, %2)
    %4 = MUL(%3, %1)
"""
NPU = PlaceRequest(operators="CONV_2D", target=1)
"""CONV_2D runs on the second target."""
EVERYWHERE = {"ram": "cpu npu", "local": "npu", "flash": "cpu npu"}
"""For each pool the targets that reach it: here all reach all but one pool of the second one's own."""
APART = {"ram": "cpu", "local": "npu", "flash": "cpu"}
"""Each target has memory of its own."""


def places(analysis: Analysis) -> dict[str, str]:
    """Return for each tensor the pools it may live in, by their initials."""
    names = [pool.name[0] for pool in analysis.problem.pools]
    tensors = analysis.models[0].main.tensors
    return {tensors[ref.tensor].name: "".join(names[p] for p in pools) for ref, pools in analysis.scopes.pools.items()}


def operators(analysis: Analysis) -> list[str]:
    """Return the lines of the first model's operators."""
    lines = write(analysis.models[0]).splitlines()
    return [line.strip() for line in lines if "@" in line]


def with_copies(question: PoolQuestion, answer: PoolAnswer) -> PoolQuestion:
    """State the answer as a question: every copy is a value, used where it is needed."""
    allowed, edges = list(answer.allowed), list(question.edges)
    for copy in answer.copies:
        for index in copy.edges:
            edges[index] = replace(edges[index], value=len(allowed))
        allowed.append(copy.allowed)
    return replace(question, allowed=allowed, edges=edges)
