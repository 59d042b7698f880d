"""Programs on their way to a problem: what is planned, how often it exists, and how long it lives."""

import pytest

from tests.support.road import PlanOnly, alive, analyze, model, request
from usmp_build.errors import ModelError
from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Output, Scratch, ScratchRequest, Whole
from usmp_build.ir.check import check
from usmp_build.ir.graph import DType, OperatorRef
from usmp_build.ir.schedule import Call, Scope, ScratchRef, Step, steps
from usmp_build.request import InputOutput
from usmp_build.textual.text import read as read_text
from usmp_build.textual.text import write as write_text


def program(body: str, tensors: str = "", more: str = "") -> str:
    return f"""
subgraph 0 "main"
  %0 "x" int8[4]
  %1 "y" int8[4]
  {tensors}
  parameters 2
  inputs %0
  outputs %1
  {body}
{more}"""


TWO = '%2 "a" int8[10]\n  %3 "b" int8[20]'


def test_a_partial_write_keeps_the_rest() -> None:
    body = "allocate %2 {{\n store %2 = %0\n store %1 += %0\n store %2 {} %0\n store %1 += %2\n }}"
    partly, whole = (alive(analyze(model(program(body.format(sign), TWO))))["m.a"] for sign in ("+=", "="))
    assert partly == [(1, 5)]
    assert whole == [(1, 2), (3, 5)]


CALLS = """
subgraph 1 "f"
  %0 "from" int32[1]
  %1 "to" variant[]
  %2 "own" int8[3]
  parameters 2
  inputs
  outputs
  allocate %2 {
    store %2 += %0
    store %1 = %2
  }
"""


def test_a_buffer_of_a_function_has_one_offset_and_an_interval_for_each_call() -> None:
    analysis = analyze(
        model(program("allocate %2 {\n call 1(%0, %2)\n store %1 += %0\n call 1(%2, %1)\n }", TWO, CALLS))
    )
    assert alive(analysis)["m.own"] == [(1, 3), (4, 6)]
    aligned = {buffer.name: buffer.alignment for buffer in analysis.storage.buffers}
    assert aligned["m.a"] == 4  # for `from` of the second call
    assert "m.b" not in alive(analysis)  # nobody allocates it


def test_an_allocation_exists_once_for_each_worker() -> None:
    """Loops of one nest multiply; those of several calls are the most of any; serial ones do not count."""
    body = """
        for parallel 4 workers=3 {
          for serial 7 {
            for vectorized 5 {
              call 1(%0, %1)
            }
          }
        }
        for thread_binding 6 {
          call 1(%0, %1)
        }"""
    analysis = analyze(model(program(body, "", CALLS)))
    own = next(buffer for buffer in analysis.storage.buffers if buffer.name == "m.own")
    assert (own.copies, own.size, own.alignment) == (15, 15 * 3, 1)
    assert alive(analysis)["m.own"] == [(1, 5)]


def test_copies_are_aligned() -> None:
    body = "for parallel 4 {\n allocate %2 {\n store %2 += %0\n call 1(%2, %1)\n }\n }"
    buffer = next(b for b in analyze(model(program(body, TWO, CALLS))).storage.buffers if b.name == "m.a")
    assert (buffer.copies, buffer.alignment, buffer.size) == (4, 4, 3 * 12 + 10)


def test_calls_that_unfold_without_end_in_sight_are_refused() -> None:
    """Each function calls the next one twice: 2^40 steps from a page of text."""
    functions = "\n".join(
        f"""subgraph {i} "f{i}"
          %0 "p" int8[4]
          parameters 1
          inputs
          outputs
          {f"call {i + 1}(%0)" if i < 40 else "store %0 += %0"}
          {f"call {i + 1}(%0)" if i < 40 else "store %0 += %0"}
        """
        for i in range(1, 41)
    )
    with pytest.raises(ModelError, match=r"P301.*makes so many calls"):
        analyze(model(program("store %1 += %0\n call 1(%1)", more=functions)))


def test_a_parallel_loop_of_unknown_extent_is_refused_by_name() -> None:
    body = "for parallel _ {\n call 1(%0, %1)\n }"
    with pytest.raises(ModelError) as caught:
        analyze(model(program(body, "", CALLS)))
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.place) == ("P321", request("m").models[0].path)
    assert 'tensor 2 of subgraph 1 "own" is allocated by "f" in a parallel loop' in diagnostic.message
    shared = program("allocate %2 {\n for parallel _ {\n store %2 += %0\n }\n store %1 += %2\n }", TWO)
    assert alive(analyze(model(shared)))["m.a"] == [(1, 3)]


def test_copies_have_a_limit() -> None:
    loops = "for parallel 1099511627776 {\n for parallel 1099511627776 {\n allocate %2 {\n store %2 += %0\n }\n }\n }"
    with pytest.raises(ModelError, match=r"P322.*m\.a has 1,208,925,819,614,629,174,706,176 copies"):
        analyze(model(program(f"{loops}\n store %1 += %0", TWO)))


def test_what_the_application_or_the_function_provides_is_not_planned() -> None:
    body = """
        allocate %2 by application {
          allocate %3 by function {
            store %2 = %0
            store %3 = %2
            store %1 = %3
          }
        }"""
    analysis = analyze(model(program(body, '%2 "a" int8[-1]\n  %3 "b" int8[4]')))
    assert set(alive(analysis)) == {"m.x", "m.y"}
    assert [ref.tensor for ref in analysis.storage.on_demand] == [2]


def test_parameters_of_main_need_a_size_in_the_pool_only() -> None:
    text = program("store %1 = %0").replace('"x" int8[4]', '"x" variant[]')
    with pytest.raises(ModelError, match='the size of tensor "x"') as caught:
        analyze(model(text))
    assert 'io = "application"' in caught.value.diagnostics[0].help
    assert set(alive(analyze(model(text), io=InputOutput.APPLICATION))) == set()


def test_constants_that_are_written_or_unknown_share_with_none() -> None:
    tensors = "\n  ".join(f'%{i} "w{i}" int8[2]{" withheld" * (i == 5)} = [1, 2]' for i in range(2, 6))
    analysis = analyze(model(program("store %4 += %0\n store %1 += %2, %3, %4, %5", tensors)))
    constants = {b.name: b.reason for b in analysis.storage.buffers if b.data is not None}
    assert constants == {
        "m.w4": "of the model, which writes to it", "m.w2": "of the model", "m.w5": "of the model"
    }  # fmt: skip


def test_an_operator_with_scratch_is_a_call_with_a_body() -> None:
    tanh = model('%0 "x" int8[4]\n%1 "y" int8[4]\ninputs %0\noutputs %1\n%1 = TANH(%0)\n')
    call = KernelCall("f", Whole(), (Input(0), Scratch(0), Output(0)))
    kernel = Kernel((call,), scratch=(ScratchRequest("work", 8, DType.INT32),))
    analysis = analyze(tanh, library=PlanOnly({"TANH": kernel}))
    scratch = ScratchRef(OperatorRef(0, 0, 0), 0)
    node = analysis.schedule.programs[0].body[1]
    assert isinstance(node, Call)
    assert isinstance(node.body, Scope)
    assert node.body.values == (scratch,)
    assert isinstance(node.body.body, Step)
    assert [step.scratch for step in steps(analysis.schedule.root)] == [(), (scratch,), ()]
    assert alive(analysis)["m.y.work"] == [(1, 2)]


@pytest.mark.parametrize("kind", ["allocate", "serial", "parallel"])
def test_the_deepest_program_goes_all_the_way(kind: str) -> None:
    tensors = "\n  ".join(f'%{i} "t{i}" int8[1]' for i in range(2, 201))
    opened = [f"allocate %{i} {{" if kind == "allocate" else f"for {kind} 2 workers=1 {{" for i in range(2, 201)]
    body = "\n".join([*(f"store %1 += %0\n {line}" for line in opened), "store %1 += %0", *["}"] * 199])
    deep = model(program(body, tensors))
    assert check(deep) is None
    assert read_text(write_text(deep)) == deep
    assert alive(analyze(deep))["m.y"] == [(1, 202)]


def test_a_constant_is_aligned_for_whoever_takes_it() -> None:
    tensors = '%2 "w" int8[4] = [1, 2, 3, 4]'
    analysis = analyze(model(program("call 1(%2, %1)\n store %1 += %0", tensors, CALLS)))
    assert next(b.alignment for b in analysis.storage.buffers if b.name == "m.w") == 4
