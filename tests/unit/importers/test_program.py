"""Programs as JSON: what is read, and the messages about the rest."""

import base64
import json
from collections.abc import Callable
from typing import Any, get_args

import jsonschema
import pytest

from tests.support.cases import FOLDER, NAMES
from tests.support.road import alive, analyze
from tests.support.tree import ROOT
from usmp_build.errors import ModelError, Span
from usmp_build.importers.program import import_program
from usmp_build.importers.program.records import Kind
from usmp_build.ir.graph import DType, Model
from usmp_build.ir.statements import LOOPS, Access, Allocate, For, If, Invoke, LoopKind, Provider, walk

Document = dict[str, Any]


def document() -> Document:
    """main fills `a` by a function, and reads it with a constant."""
    scale = {
        "params": [{"name": "from"}, {"name": "to", "buffer": "to_buffer", "dtype": "int8", "extents": [4]}],
        "body": [{"op": "store", "buf": "to_buffer", "reads": ["from"], "whole": True}],
    }
    store = {"op": "store", "buf": "y", "reads": ["a", "w"]}
    call = {"op": "call", "fn": "scale", "args": ["x", "a"]}
    constant = {"op": "alloc_const", "var": "w", "dtype": "int8", "extents": [2], "data": "0102", "body": [store]}
    loop = {"op": "for", "kind": "parallel", "extent": 4, "workers": 2, "body": [constant]}
    alloc = {"op": "alloc", "var": "a", "dtype": "int16", "extents": [2, 3], "body": [call, loop]}
    main = {"params": [{"name": "x", "bytes": 8}, {"name": "y"}], "body": [{"op": "attr", "body": [alloc]}]}
    return {"main": "main", "functions": {"scale": scale, "main": main}}


def alloc(doc: Document) -> Document:
    allocation: Document = doc["functions"]["main"]["body"][0]["body"][0]
    return allocation


def read(doc: Document) -> Model:
    return import_program(json.dumps(doc, indent=1).encode(), "m", "m.program.json")


def test_what_is_read() -> None:
    model = read(document())
    main, scale = model.subgraphs
    assert (main.name, main.parameters, main.inputs, main.outputs) == ("main", 2, (0,), (1,))
    assert [(t.name, t.dtype, t.shape) for t in main.tensors] == [
        ("x", DType.UINT8, (8,)), ("y", DType.VARIANT, ()), ("a", DType.INT16, (2, 3)), ("w", DType.INT8, (2,))
    ]  # fmt: skip
    assert main.tensors[3].data == b"\1\2"
    (allocation,) = main.body
    assert isinstance(allocation, Allocate)
    assert allocation.body[1] == For(LoopKind.PARALLEL, 4, (Access((2, 3), (1,)),), 2)
    assert scale.body == (Access((0,), (1,), True),)


def test_branches_are_read() -> None:
    doc = document()
    store = {"op": "store", "buf": "y", "reads": ["x"]}
    doc["functions"]["main"]["body"] = [{"op": "if", "condition": "x", "then": [store]}]
    assert read(doc).main.body == (If(0, (Access((0,), (1,)),), ()),)


def test_data_in_base64_and_without() -> None:
    doc = document()
    constant = alloc(doc)["body"][1]["body"][0]
    constant["data"] = base64.b64encode(b"\7\x08").decode()
    assert read(doc).main.tensors[3].data == b"\7\x08"
    del constant["data"]
    tensor = read(doc).main.tensors[3]
    assert tensor.is_withheld
    assert len(tensor.data or b"") == 2


def test_sizes_that_are_not_known() -> None:
    doc = document()
    alloc(doc)["extents"] = ["n", 3]
    doc["upper_bounds"] = {"n": 20}
    assert read(doc).main.tensors[2].shape == (20, 3)
    del doc["upper_bounds"]
    alloc(doc)["bytes"] = 64
    assert read(doc).main.tensors[2].size == 64
    del alloc(doc)["bytes"]
    alloc(doc)["on_demand"] = True
    (allocation,) = read(doc).main.body
    assert isinstance(allocation, Allocate)
    assert allocation.provider is Provider.APPLICATION


@pytest.mark.parametrize(
    ("scope", "provider"),
    [("", "PLAN"), ("global", "PLAN"), ("global.workspace", "PLAN"), ("local", "FUNCTION"), ("shared", "FUNCTION")],
)
def test_scopes(scope: str, provider: str) -> None:
    doc = document()
    alloc(doc)["scope"] = scope
    (allocation,) = read(doc).main.body
    assert isinstance(allocation, Allocate)
    assert allocation.provider is Provider[provider]


def test_loops_of_symbols() -> None:
    doc = document()
    loop = alloc(doc)["body"][1]
    loop["extent"] = "n"
    doc["upper_bounds"] = {"n": 5}
    del loop["workers"]
    (allocation,) = read(doc).main.body
    assert isinstance(allocation, Allocate)
    inner = allocation.body[1]
    assert isinstance(inner, For)
    assert (inner.extent, inner.workers) == (None, 5)


def test_functions_from_outside() -> None:
    doc = document()
    alloc(doc)["body"] = [
        {"op": "call", "fn": "memcpy", "args": ["a", "x", None], "reads": ["x"], "writes": ["a"]},
        {"op": "call", "fn": "spoil", "args": ["a"]},
        {"op": "call", "fn": "memcpy", "args": ["y", "a"], "reads": ["a"], "writes": ["y"]},
    ]
    (allocation,) = read(doc).main.body
    assert isinstance(allocation, Allocate)
    assert allocation.body[0] == Access((0,), (2,), name="memcpy")
    assert allocation.body[1] == Access((2,), (2,), name="spoil")


def test_what_a_call_touches_is_touched_before_and_after_it() -> None:
    """So it lives throughout: `own` of the function must not take its place."""
    doc = document()
    scale = doc["functions"]["scale"]
    own = {"op": "alloc", "var": "own", "dtype": "int8", "extents": [4]}
    scale["body"] = [{**own, "body": [{"op": "store", "buf": "own", "reads": ["from"]}, *scale["body"]]}]
    touched = {"op": "alloc", "var": "t", "dtype": "int8", "extents": [4]}
    call = {"op": "call", "fn": "scale", "args": ["x", "a"], "touches": ["t"]}
    touched["body"] = [{"op": "store", "buf": "t", "reads": ["x"], "whole": True}, call]
    doc["functions"]["main"]["params"][1] |= {"dtype": "int8", "extents": [4]}
    alloc(doc)["body"][0] = touched
    model = read(doc)
    around = Access((3,), (3,), name="touched by scale:")
    allocation = next(s for s in walk(model.main.body) if isinstance(s, Allocate) and s.tensor == 3)
    assert allocation.body[1:] == (around, Invoke(1, (0, 2)), around)
    lives = alive(analyze(model))
    assert lives["m.t"] == [(1, 6)]
    assert lives["m.own"] == [(3, 4)]


Change = Callable[[Document], Any]


def into_main(**values: Any) -> Change:
    return lambda doc: doc["functions"]["main"].update(values)


def into_alloc(**values: Any) -> Change:
    return lambda doc: alloc(doc).update(values)


def deep(doc: Document) -> None:
    body = alloc(doc)["body"]
    for _ in range(200):
        body = [{"op": "attr", "body": body}]
    alloc(doc)["body"] = body


def without_data(extent: int | str) -> Change:
    def change(doc: Document) -> None:
        constant = alloc(doc)["body"][1]["body"][0]
        constant["extents"] = [extent]
        del constant["data"]

    return change


def recursive(doc: Document) -> None:
    doc["functions"]["scale"]["body"].append({"op": "call", "fn": "scale", "args": ["from", "to"]})


def test_outputs_that_are_read_and_inputs_that_are_not() -> None:
    doc = document()
    main = doc["functions"]["main"]
    main["params"].append({"name": "unread"})
    main["body"].append({"op": "call", "fn": "scale", "args": ["y", "y"]})
    doc["outputs"] = ["y"]
    assert (read(doc).main.inputs, read(doc).main.outputs) == ((0, 2), (1,))


def by_a_float(doc: Document) -> None:
    main = doc["functions"]["main"]
    main["params"][0] = {"name": "x", "dtype": "float32", "extents": [2]}
    main["body"] = [{"op": "if", "condition": "x", "then": []}]


def into_store(**more: Any) -> Change:
    return lambda doc: alloc(doc)["body"][1]["body"][0]["body"][0].update(more)


def handed_on(doc: Document) -> None:
    """Functions between take whatever they are given: it must be enough for the last one."""
    for name, callee in (("hop", "hop2"), ("hop2", "deep")):
        body = [{"op": "call", "fn": callee, "args": ["i"]}]
        doc["functions"][name] = {"params": [{"name": "i"}], "body": body}
    store = {"op": "store", "buf": "i", "whole": True}
    doc["functions"]["deep"] = {"params": [{"name": "i", "dtype": "int8", "extents": [64]}], "body": [store]}
    alloc(doc).update(dtype="int8", extents=[32])
    alloc(doc)["body"][0] = {"op": "call", "fn": "hop", "args": ["a"]}


CASES: list[tuple[str, Change, str]] = [
    ("T262", lambda doc: doc.pop("main"), '"main" is missing'),
    ("T262", lambda doc: doc.update(functions=[]), '"functions" must be an object'),
    ("T262", into_main(body={}), '"body" must be a list'),
    ("T262", into_main(body=[3]), "a statement must be an object"),
    ("T262", into_main(body=[{}]), '"op" is missing'),
    ("T262", into_main(body=[{"op": "alocate"}]), 'there is no statement "alocate"'),
    ("T262", into_main(body=[{"op": ["for"]}]), '"op" must be text in quotes'),
    ("T262", into_main(body=[{"op": None}]), '"op" must be text in quotes'),
    ("T262", lambda doc: doc.update(version=True), '"version" must be 1'),
    ("T262", lambda doc: doc.update(version=1.0), '"version" must be 1'),
    ("T262", into_alloc(extent=[3]), 'there is no key "extent" here'),
    ("T262", into_alloc(dtype="int9"), 'there is no type "int9"'),
    ("T262", into_alloc(extents=[-1]), '"extents" must be at least 0'),
    ("T262", into_alloc(extents=[1 << 60]), '"extents" must be at most 281,474,976,710,655'),
    ("T262", into_alloc(extents=[1] * 17), '"extents" must not hold more than 16 values'),
    ("T262", into_alloc(extents=[1.5]), '"extents" must be a whole number or text in quotes'),
    ("T262", into_alloc(var="\ud800"), '"var" holds half of a surrogate pair'),
    ("T262", lambda doc: doc["functions"].update({"f" * 2000: {"body": []}}), '…" is longer than 1,024 characters'),
    ("T262", lambda doc: alloc(doc)["body"][0].update(reads=["x"]), '"scale" is in the program'),
    ("T263", lambda doc: doc.update(main="mian"), 'there is no function "mian"'),
    ("T263", lambda doc: alloc(doc)["body"][0].update(args=["x", "b"]), 'there is no "b" in this scope'),
    ("T264", into_alloc(var="x"), '"x" is declared twice'),
    ("T265", into_alloc(bytes=13), '"a" has 13 bytes, but int16 [2, 3] takes 12 bytes'),
    ("T265", into_alloc(extents=["n", 3]), 'the size of "a" is not known before the program runs: n'),
    ("T265", into_alloc(extents=[1 << 40, 1 << 40]), '"a" is too large'),
    ("T265", without_data((1 << 28) + 1), 'up to "w", constants without data take over 268,435,456 bytes'),
    ("T265", without_data(1 << 40), 'up to "w", constants without data take over 268,435,456 bytes'),
    ("T266", lambda doc: alloc(doc)["body"][1]["body"][0].update(data="xyz!"), 'the data of "w" are not 2 bytes'),
    ("T252", lambda doc: alloc(doc)["body"][0].update(args=["x"]), "it has 2 parameters, but gets 1"),
    ("T252", into_alloc(extents=[1]), 'parameter "to" has 4 bytes, but its argument has 2'),
    ("T252", handed_on, 'parameter "i" is handed to a function that takes 64 bytes, but its argument has 32'),
    ("T255", lambda doc: doc["functions"]["main"]["params"].append({"name": "a\nb"}), 'parameter "a\\nb" of main'),
    ("T255", lambda doc: doc.update(outputs=["x", "y"]), 'parameter "x" of main is an output, but never written'),
    ("T255", lambda doc: doc.update(outputs=[]), 'parameter "y" of main is an input, but it is written'),
    ("T257", into_store(elementwise=["a"]), '"a" is read element by element, but the elements of "y" are not known'),
    ("T257", into_store(elementwise=["x"]), '"x" is read element by element, but not among what is read'),
    ("T254", by_a_float, 'a branch depends on "x", whose first element is neither a bool nor an integer'),
    ("T262", into_main(body=[{"op": "if", "condition": "x"}]), '"then" is missing'),
    ("T262", into_main(body=[{"op": "if", "condition": "x", "then": [3]}]), "a statement must be an object"),
    ("T263", lambda doc: doc.update(outputs=["z"]), 'main has no parameter "z"'),
    ("T256", deep, "statements are nested over 200 deep"),
    ("T243", recursive, '"scale" calls "scale", which leads back to it'),
]  # fmt: skip


@pytest.mark.parametrize(("code", "change", "message"), CASES)
def test_refusals_have_code_place_and_help(code: str, change: Change, message: str) -> None:
    doc = document()
    change(doc)
    with pytest.raises(ModelError) as caught:
        read(doc)
    (first,) = caught.value.diagnostics
    assert first.code == code
    assert message in first.message
    assert first.help
    assert isinstance(first.place, Span)
    assert first.place.file == "m.program.json"


def test_constants_are_not_on_demand() -> None:
    doc = document()
    without_data("n")(doc)
    with pytest.raises(ModelError, match='the size of "w" is not known') as caught:
        read(doc)
    assert caught.value.diagnostics[0].help == 'state "upper_bounds" or "bytes"'


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (b"\xff", "T260", "not UTF-8"),
        (b"{", "T261", "this is not JSON"),
        (b"[]", "T261", "does not hold an object"),
        (b"[" * 100_000, "T261", "too deep"),
        (b'{"program": 3}', "T262", '"program" must be an object'),
        (b'{"main": "a", "main": "b"}', "T261", "twice"),
    ],
)
def test_what_is_no_program(data: bytes, code: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        import_program(data, "m", "m.program.json")
    assert caught.value.diagnostics[0].code == code
    assert message in caught.value.diagnostics[0].message


SCHEMA = json.loads((ROOT / "schemas" / "usmp.program.schema.json").read_text("utf-8"))


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_the_schema_knows_the_programs_of_tvm(name: str) -> None:
    jsonschema.validate(json.loads((FOLDER / f"{name}.json").read_text("utf-8"))["program"], SCHEMA)


def test_the_schema_knows_what_is_read() -> None:
    jsonschema.validate(document(), SCHEMA)
    assert get_args(Kind) == tuple(LOOPS)
    wrong = document()
    alloc(wrong)["extent"] = 3
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, SCHEMA)
