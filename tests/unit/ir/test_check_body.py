"""Messages about programs that make no sense: at least one case for each code."""

import pytest

from tests.support.tree import text_file
from usmp_build.errors import ModelError
from usmp_build.importers.text import import_text
from usmp_build.ir.check import check
from usmp_build.ir.graph import DType, Model, Subgraph, Tensor
from usmp_build.ir.statements import Access, For, LoopKind

GOOD = text_file("check_body_good.model.txt")

HANDED_ON = """  call 2(%1)
subgraph 2 "deep"
  %0 "out" int8[5]
  parameters 1
  inputs
  outputs
  store %0 = _
"""

CASES = [
    # code, what to replace in GOOD, by what, and the message
    ("T250", "  store %1 = %0\n", "  %1 = TANH(%0)\n", "subgraph 1 has operators, but is part of a program"),
    (
        "T251",
        "  parameters 2\n  inputs %0",
        "  parameters 5\n  inputs %0",
        "function 0 has 5 parameters, but 4 tensors",
    ),
    ("T251", '"from" int8[4]', '"from" int8[4] = [1, 2, 3, 4]', "is a parameter and a constant"),
    ("T251", '"from" int8[4]', '"from" int8[4] variable', "is a parameter and a variable"),
    ("T241", "call 1(", "call 2(", "function 0 calls function 2, but there are 2"),
    ("T252", "call 1(%0, %2)", "call 1(%0)", "it has 2 parameters, but gets 1 arguments"),
    ("T252", '%0 "from" int8[4]', '%0 "from" int8[5]', 'parameter "from" has 5 bytes, but its argument has 4'),
    ("T252", "  store %1 = %0\n", HANDED_ON, 'parameter "to" is handed to a function that takes 5 bytes'),
    (
        "T253",
        "  allocate %2 {\n",
        "  store %2 = %0\n  allocate %2 {\n",
        'tensor 2 "a" is used where',
    ),
    ("T253", "  }\nsub", "  }\n  allocate %2 {\n  }\nsub", 'tensor 2 "a" is allocated twice'),
    ("T253", "  allocate %2 {\n", "  allocate %3 {\n", "is allocated, but no allocation"),
    ("T254", "  store %1 = %0\n", "  for serial -1 {\n  }\n", "function 1 has a loop of -1 rounds"),
    (
        "T254",
        '%0 "from" int8[4]\n  %1 "to" variant[]\n  parameters 2\n  inputs\n  outputs\n',
        '%0 "from" float32[1]\n  %1 "to" variant[]\n  parameters 2\n  inputs\n  outputs\n  if %0 {\n  } else {\n  }\n',
        'function 1: a branch depends on "from", whose first element is neither a bool nor an integer',
    ),
    ("T254", "  store %1 = %0\n", "  for parallel 4 workers=0 {\n  }\n", "function 1 has a loop of 0 workers"),
    ("T255", "  inputs %0\n", "  inputs\n", 'tensor 0 "x" is an input, but not listed as one'),
    ("T255", "  inputs %0\n", "  inputs %0, %2\n", 'tensor 2 "a" is an input or output, but no parameter of main'),
    ("T255", "store %1 += %2, %3", "store %0 += %2, %3", 'parameter "x" of main is an input, but it is written'),
    ("T255", "  outputs %1\n", "  outputs %1, %0\n", 'parameter "x" of main is an output, but never written'),
    ("T255", "  inputs %0\n", "  inputs %0, %1\n", 'tensor 1 "y" is both an input and an output'),
    ("T255", "  outputs %1\n", "  outputs %1, %1\n", 'tensor 1 "y" is an input or output more than once'),
    ("T257", "store %1 += %2, %3", "store %1, %0 += %2 elementwise %2", "an element-wise store of function 0 writes 2"),
    ("T257", "store %1 += %2, %3", "store %1 += %2 elementwise %3", "is read element by element, but not among"),
    ("T243", "  store %1 = %0\n", "  call 0(%0, %1)\n", "which leads back"),
    ("T221", '%2 "a" int8[4]', '%2 "a" int8[-1]', "has an unknown shape"),
]


@pytest.mark.parametrize(("code", "old", "new", "message"), CASES)
def test_faults(code: str, old: str, new: str, message: str) -> None:
    assert GOOD.count(old) == 1
    with pytest.raises(ModelError) as caught:
        import_text(GOOD.replace(old, new).encode(), "m", "m.model.txt")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert message in diagnostic.message


def test_a_good_program_has_none() -> None:
    assert import_text(GOOD.encode(), "m", "m.model.txt").is_program


def test_nesting_ends_where_calls_are_counted_in() -> None:
    x, y = Tensor("x", (1,), DType.INT8), Tensor("y", (1,), DType.INT8)
    body: tuple[Access | For, ...] = (Access((0,), (1,)),)
    for _ in range(199):
        body = (For(LoopKind.SERIAL, 1, body),)
    graph = Subgraph("main", (x, y), (0,), (1,), (), body, 2)
    assert check(Model("m", (graph,))) is None
    fault = check(Model("m", (Subgraph("main", (x, y), (0,), (1,), (), (For(LoopKind.SERIAL, 1, body),), 2),)))
    assert fault is not None
    assert fault.code == "T256"


def test_text_that_is_nested_too_deep() -> None:
    loops = "  for serial 2 {\n" * 201
    with pytest.raises(ModelError, match="T256"):
        import_text(GOOD.replace("  store %1 = %0\n", loops).encode(), "m", "m.model.txt")


def test_an_index_beyond_the_tensors() -> None:
    x = Tensor("x", (1,), DType.INT8)
    fault = check(Model("m", (Subgraph("main", (x,), (0,), (), (), (Access((3,), ()),), 1),)))
    assert fault is not None
    assert fault.code == "T231"
