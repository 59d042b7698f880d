"""The program over all models: order, structure, limits."""

from __future__ import annotations

import pytest

from tests.support.road import model, request
from tests.unit.passes.test_lifetimes import CHAIN, IF, WHILE
from usmp_build.errors import ModelError
from usmp_build.ir.schedule import steps
from usmp_build.passes import rewrite, schedule


def names(*texts: str) -> list[str]:
    models = tuple(rewrite(model(text, f"m{i}")) for i, text in enumerate(texts))
    return [step.name for step in steps(schedule(request(*(m.name for m in models)), models, {}, ()).root)]


def test_models_follow_one_another() -> None:
    assert names(CHAIN, CHAIN)[3:7] == ["m0: TANH 2", "m0: leave", "m1: enter", "m1: TANH 0"]


def test_control_flow_becomes_structure_and_copies() -> None:
    assert names(IF)[2:8] == ["m0: IF 1", "m0: copy in", "m0: TANH 0", "m0: copy out", "m0: copy in", "m0: TANH 0"]
    assert names(WHILE)[1:6] == ["m0: WHILE 0", "m0: copy in", "m0: GREATER 0", "m0: copy out", "m0: WHILE 0 test"]


def test_starts_say_where_each_model_begins() -> None:
    assert schedule(request("m", "m"), (model(CHAIN), model(CHAIN)), {}, ()).starts == (0, 5, 10)


def test_calls_that_unfold_without_end_in_sight_are_refused() -> None:
    """Each subgraph calls the next one twice: 2^40 steps from a page of text."""
    deep = "\n".join(
        f"""subgraph {i} "s{i}"
          %0 "x" int8[1]
          %1 "y" int8[1]
          %2 "z" int8[1]
          inputs %0
          outputs %2
          %1 = {"CALL(%0) subgraph=" + str(i + 1) if i < 40 else "TANH(%0)"}
          %2 = {"CALL(%1) subgraph=" + str(i + 1) if i < 40 else "TANH(%1)"}
        """
        for i in range(41)
    )
    with pytest.raises(ModelError, match="error\\[P301\\]"):
        schedule(request("m"), (model(deep),), {}, ())
