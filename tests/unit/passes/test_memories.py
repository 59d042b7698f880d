"""Memories of programs: `place` says which pools they are."""

import json
from dataclasses import replace

import pytest

from tests.support.road import analyze_as, firmware
from usmp_build.errors import ManifestError
from usmp_build.importers.program import import_program
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import Model, Subgraph, TensorRef
from usmp_build.ir.statements import Code
from usmp_build.request import PlaceRequest

POOLS = {"sram": "cpu", "tcm": "cpu"}
VTCM = PlaceRequest(scope="*.vtcm", pools=(1,))


def program(scope: str, code: Code | None = None) -> Model:
    """main passes an input in one memory through a function that has a buffer in another one."""
    inner = {"op": "alloc", "var": "b", "dtype": "int8", "extents": [4], "scope": scope}
    inner["body"] = [{"op": "store", "buf": "b", "reads": ["p"]}, {"op": "store", "buf": "q", "reads": ["b"]}]
    ports = [{"name": name, "dtype": "int8", "extents": [4]} for name in ("x", "y")]
    main = {
        "params": [{**ports[0], "scope": "global.vtcm"}, ports[1]],
        "body": [{"op": "call", "fn": "f", "args": ["x", "y"]}],
    }
    f = {"params": [{"name": "p"}, {"name": "q"}], "body": [inner]}
    text = json.dumps({"main": "main", "functions": {"main": main, "f": f}})
    model = import_program(text.encode(), "m", "m.program.json")
    return replace(model, subgraphs=(model.main, replace(model.subgraphs[1], code=code)))


def analysis(model: Model, *rules: PlaceRequest) -> Analysis:
    return analyze_as(firmware(POOLS, places=rules), model)


def pools(analysis: Analysis) -> dict[str, tuple[int, ...]]:
    models, storage = analysis.models, analysis.storage
    return {
        models[0].subgraphs[ref.subgraph].tensors[ref.tensor].name: storage.buffers[buffer].pools
        for ref, buffer in storage.tensors.items()
    }


def refused(model: Model, *rules: PlaceRequest) -> str:
    with pytest.raises(ManifestError) as caught:
        analysis(model, *rules)
    (first,) = caught.value.diagnostics
    assert (first.code, bool(first.help)) == ("P316", True)
    return first.message


def test_a_rule_gives_a_memory_pools() -> None:
    assert pools(analysis(program("global"), VTCM)) == {"x": (1,), "y": (0, 1), "b": (0, 1)}
    assert pools(analysis(program("global.vtcm"), VTCM)) == {"x": (1,), "y": (0, 1), "b": (1,)}


def test_any_pin_is_an_answer() -> None:
    assert pools(analysis(program(""), PlaceRequest(tensors="x", pools=(0,))))["x"] == (0,)


def test_without_a_rule_it_is_refused() -> None:
    assert refused(program("")).startswith('"x" of "main" is in the memory "global.vtcm", and no rule')
    assert refused(program("global.ddr"), VTCM).startswith('"b" of "f" is in the memory "global.ddr"')


def test_what_functions_have_of_their_own_is_planned_if_a_rule_says_so() -> None:
    assert TensorRef(0, 1, 2) not in analysis(program("shared"), VTCM).storage.tensors
    assert pools(analysis(program("shared"), VTCM, PlaceRequest(scope="shared", pools=(0,))))["b"] == (0,)


def test_generated_c_needs_a_memory_for_what_it_names() -> None:
    named, unnamed = Code((2, "[0] = 1;")), Code(("int8_t b[4];",))
    local = PlaceRequest(scope="local", pools=(0,))
    assert refused(program("shared", named), VTCM).startswith('"b" of "f" is in the memory "shared"')
    assert TensorRef(0, 1, 2) not in analysis(program("local", unnamed), VTCM).storage.tensors
    assert refused(program("local", unnamed), VTCM, local).startswith('"b" of "f", in "local", cannot be planned')


def test_a_rule_for_a_memory_that_no_compiler_chose_says_what_to_do() -> None:
    with pytest.raises(ManifestError, match="no tensor in the memory scope") as caught:
        analysis(replace(program(""), subgraphs=without_memories(program(""))), VTCM)
    assert caught.value.diagnostics[0].help == "its compiler chose no memories; select `tensors`"


def without_memories(model: Model) -> tuple[Subgraph, ...]:
    return tuple(
        replace(graph, tensors=tuple(replace(tensor, memory_scope="") for tensor in graph.tensors))
        for graph in model.subgraphs
    )
