"""The program over all models: order, structure, limits."""

import pytest

from tests.support.road import model, request
from tests.support.small_models import CHAIN, IF, WHILE
from usmp_build.errors import ModelError
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.choices import Choices
from usmp_build.ir.graph import OperatorRef
from usmp_build.ir.schedule import Direction, steps
from usmp_build.passes import rewrite, schedule


def names(*texts: str) -> list[str]:
    models = tuple(rewrite(model(text, f"m{i}")).model for i, text in enumerate(texts))
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


def test_operators_run_as_chosen() -> None:
    """Two branches; the schedule takes the second one first, and only a kernel that can goes backward."""
    forked = """
      %0 "x" int8[4]
      %1 "a" int8[4]
      %2 "b" int8[4]
      %3 "y" int8[4]
      inputs %0
      outputs %3
      %1 = TANH(%0)
      %2 = LOGISTIC(%0)
      %3 = ADD(%1, %2)
    """
    one = Kernel((), backward=Kernel(()))
    kernels = {OperatorRef(0, 0, 0): Kernel(()), OperatorRef(0, 0, 1): one, OperatorRef(0, 0, 2): one}
    chosen = Choices({0: (1, 0, 2)}).towards([OperatorRef(0, 0, 0), OperatorRef(0, 0, 1)], Direction.BACKWARD)
    run = list(steps(schedule(request("m"), (model(forked),), kernels, (), chosen).root))[1:-1]
    assert [(step.name, step.direction.value) for step in run] == [
        ("m: LOGISTIC 1", "backward"),
        ("m: TANH 0", "forward"),
        ("m: ADD 2", "forward"),
    ]
