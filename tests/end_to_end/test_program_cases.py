"""TVM's liveness cases, planned the public way: where we differ, the table here says why."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.cases import NAMES, conflicts, plan_case, plan_program, pressure, read_case
from tests.support.tree import ROOT
from usmp_build.errors import ModelError
from usmp_build.passes.order import least_workspace

SHARED = Path(os.environ.get("USMP_PROBLEMS") or ROOT.parent / "shared" / "cases") / "usmp"

Pairs = set[tuple[str, str]]

TIGHTER = "the loops that use them follow one another in one outer loop, and nothing carries them round it"
UNUSED = "nothing reads this constant: it takes no flash"
LESS: dict[str, dict[tuple[str, str], str]] = {
    "multiple_calls_same_function": {
        **{
            (f"T_softmax_maxelem{n}", f"T_softmax_{other}{n}"): f"tighter: {TIGHTER}"
            for n in ("", "2")
            for other in ("norm", "expsum")
        },
        **dict.fromkeys((("sid_21", "sid_22"), ("sid_21", "sid_23"), ("sid_22", "sid_23")), f"tighter: {UNUSED}"),
    },
}
"""Conflicts of TVM's that we do not have."""
PRESSURE = {
    "parallel_serial_mixed": (
        430_848 + 3135 * 256,
        "safer: 3,136 rounds in parallel have a Conv2dOutput_8 each; TVM gives all of them one",
    ),
}
"""Bytes that differ from TVM's."""


@pytest.mark.parametrize("name", NAMES)
def test_conflicts_are_those_of_the_reference_or_explained(name: str) -> None:
    wanted = pairs(read_case(name)["conflicts"])
    distances = pairs({_number(a): {_number(b) for b in others} for a, others in conflicts(plan_case(name)).items()})
    explained = {(min(pair), max(pair)) for pair in LESS.get(name, {})}
    assert distances == wanted - explained
    assert explained <= wanted


@pytest.mark.parametrize("name", NAMES)
def test_pressure_is_that_of_the_reference_or_explained(name: str) -> None:
    wanted, _ = PRESSURE.get(name, (read_case(name)["memory_pressure"], ""))
    planned = plan_case(name)
    assert pressure(planned) == wanted
    assert next(pool for pool in planned.summary.pools if pool.name == "sram").size >= wanted


@pytest.mark.parametrize("name", NAMES)
def test_every_allocation_is_a_buffer(name: str) -> None:
    pairs = set(conflicts(plan_case(name)))
    missing = set(read_case(name)["conflicts"]) - {_number(buffer) for buffer in pairs}
    assert missing <= {"sid_21", "sid_22"}  # constants that nothing reads


@pytest.mark.parametrize("name", NAMES)
def test_statements_count_in_what_any_order_of_operators_needs(name: str) -> None:
    """They have one order: where a plan has operators beside them, it needs both."""
    planned = plan_case(name)
    assert least_workspace(planned.analysis, [None]) == planned.summary.workspace.achieved


def test_copies_are_told() -> None:
    planned = plan_case("parallel_serial_mixed")
    copies = {buffer.name: buffer.copies for buffer in planned.analysis.storage.buffers}
    assert copies == {"m.PaddedInput_8": 1, "m.Conv2dOutput_8": 3136, "m.dummy_allocate": 3136}
    row = next(row for row in planned.summary.buffers if row.name == "m.Conv2dOutput_8")
    assert row.reason.endswith("; 3,136 copies in parallel")
    assert next(row for row in planned.summary.buffers if row.name == "m.dummy_allocate").intervals == ()


@pytest.mark.parametrize("name", NAMES)
def test_restated_cases_are_the_shared_ones(name: str) -> None:
    if not SHARED.is_dir():
        pytest.skip(f"no cases in {SHARED.name}; set USMP_PROBLEMS")
    path = SHARED / f"liveness_{name}.json"
    planned = plan_program(path.read_bytes())
    expected = json.loads(path.read_text("utf-8"))["expected"]
    assert conflicts(planned) == conflicts(plan_case(name))
    assert expected["exact_conflicts_by_reference"] == read_case(name)["conflicts"]
    assert expected["memory_pressure"] == read_case(name)["memory_pressure"]


def pairs(lists: dict[str, Any]) -> Pairs:
    return {(min(a, b), max(a, b)) for a, others in lists.items() for b in others}


def _number(name: str) -> str:
    """TVM numbers the second softmax's buffers without an underscore."""
    return name.removesuffix("_2") + "2" if name.startswith("T_softmax") and name.endswith("_2") else name


IO = read_case("io")
KERNEL = {
    "params": [{"name": f"p{i}"} for i in range(3)],
    "body": [{"op": "store", "buf": "p2", "reads": ["p0", "p1"]}],
}


def program(module: dict[str, Any]) -> bytes:
    params = [
        {"name": name, "dtype": dtype, "extents": [elements]}
        for wanted in module["main_params"]
        for name, dtype, elements in (*module["inputs"], *module["outputs"])
        if name == wanted
    ]
    body = [{"op": "call", "fn": "kernel", "args": args} for args in module["calls"]]
    functions = {"main": {"params": params, "body": body}, "kernel": KERNEL}
    return json.dumps({"main": "main", "functions": functions}).encode()


@pytest.mark.parametrize("module", IO["modules"], ids=lambda module: module["module"])
@pytest.mark.parametrize("io", ["pool", "application"])
def test_parameters_of_main_are_inputs_or_outputs(module: dict[str, Any], io: str) -> None:
    planned = plan_program(program(module), io)
    model = planned.analysis.models[0].main
    for side, tensors in (("inputs", model.inputs), ("outputs", model.outputs)):
        ports = [(model.tensors[t].name, model.tensors[t].dtype.numpy, model.tensors[t].elements) for t in tensors]
        assert ports == [tuple(row) for row in module[side]]


def test_inputs_and_outputs_in_the_pool_live_as_long_as_the_caller_needs_them() -> None:
    """TVM puts both inputs at one address: 151,432 bytes, and wrong results."""
    module = next(module for module in IO["modules"] if module["module"] == "TwoInputTwoOutput")
    planned = plan_program(program(module), "pool")
    wanted = {
        name.removesuffix("_buffer_var"): {other.removesuffix("_buffer_var") for other in others}
        for name, others in IO["two_inputs_two_outputs"]["conflicts"].items()
    }
    assert conflicts(planned) == wanted
    assert planned.summary.pools[0].size == pressure(planned) == IO["two_inputs_two_outputs"]["bytes"] == 301_960


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([{"op": "store", "buf": "x", "reads": ["x"]}], 'parameter "x" of main is read and written'),
        ([{"op": "store", "buf": "y"}], 'parameter "x" of main is neither read nor written'),
        ([{"op": "call", "fn": "outside", "args": ["x", "y"]}], 'parameter "x" of main is read and written'),
    ],
)
def test_a_parameter_that_is_both_or_neither_is_named(body: list[Any], message: str) -> None:
    params = [{"name": name, "dtype": "int8", "extents": [4]} for name in ("x", "y")]
    text = json.dumps({"main": "main", "functions": {"main": {"params": params, "body": body}}}, indent=1)
    with pytest.raises(ModelError) as caught:
        plan_program(text.encode())
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "T255"
    assert message in diagnostic.message
    assert str(diagnostic).startswith("m.program.json:6:")
