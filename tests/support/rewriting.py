"""Graphs in a few words, and what rewriting makes of them."""

from collections.abc import Mapping

from tests.support.road import model
from usmp_build.passes import rewrite
from usmp_build.passes.rewrite.pins import NO_PINS, Pins
from usmp_build.textual.text import write

OTHER = {"2": "int8[1,4,4,2] scale=0.5 zero=4"}
"""For `graph`: its third tensor has another zero point than the input."""


def lines(text: str, pins: Pins = NO_PINS, off: frozenset[str] = frozenset()) -> list[str]:
    """Return the operators after rewriting, without positions; none becomes a look-up, for TANH only stands for any."""
    text_of_rewritten = write(rewrite(model(text), pins, off | {"lookups"}).model)
    return [line.strip().partition(" @")[0] for line in text_of_rewritten.splitlines() if " = " in line and "(" in line]


def graph(operators: str, tensors: Mapping[str, str], outputs: str = "%9") -> str:
    """State a graph: operators with `; ` between them; tensors 0 (the input) to 9 are like the input if not given."""
    declared = [f'%{i} "t{i}" {tensors.get(str(i), "int8[1,4,4,2] scale=0.5 zero=-3")}' for i in range(10)]
    return "\n".join([*declared, "inputs %0", f"outputs {outputs}", *operators.split("; ")])
