"""Models as text, both ways: for tests, for dumps between stages, for bug reports.

    model "kws"
    input "audio" = %0
    output "scores" = %3

    subgraph 0 "main"
      %0 "input_1" int8[1,490] scale=0.58 zero=83
      %1 "dense/weights" int8[2,490] scales=[0.5, 0.25] zeros=[0, 0] = hex
        | 00ff1280...
      %2 "dense/bias" int32[2] = [-7, 5]
      %3 "scores" int8[1,2] scale=0.00390625 zero=-128
      inputs %0
      outputs %3
      %3 = FULLY_CONNECTED(%0, %1, %2) activation=RELU @0

A tensor has a number, a name, a type and a shape; then optionally scales, zero points, `axis`, axis `separators`,
`variable`, `resource` (of a variable that handles name) and `withheld` (its bytes are placeholders); then `=` and the
bytes of a constant, or the initial ones of a variable: numbers, `hex`, `zeros`, or `bytes 980 sha256:9f86d081884c` if
they are withheld.  An operator has outputs, kind, inputs (`_`: omitted), the options that are not at their defaults,
and after `@` its position in the model file. `[0*64]` is a list of 64 zeros; `#` begins a comment.

Functions of programs have `parameters`, the number of their first tensors that are parameters, and statements instead
of operators:

      parameters 2
      inputs %0
      outputs %1
      allocate %2 {                      # `allocate %2 by application {`: not in our pools; or `by function`
        for parallel 64 workers=4 {      # serial, unrolled, parallel, vectorized, thread_binding; `_`: extent unknown
          store %2 += %0                 # reads %0, and writes part of %2; `=`: all of it; `_`: nothing
        }
          store %2 = %0 elementwise %0    # reads element i of %0 only before it writes element i of %2, in order of i
        access "my_conv" %1 += %1, %2    # the same, for anything but a store
        call 1(%2, _)                    # subgraph 1; `_`: an argument that is no tensor
      }

Reading what was written returns an equal `Model`.  Only the bytes of constants may be withheld (`data="short"`): equal
ones stay equal and different ones different, which is enough to plan, except for rewrites that read weights, but not to
run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from usmp_build.ir.graph import Model, Operator, Subgraph, Tensor
from usmp_build.textual.body import spell_body
from usmp_build.textual.options import spell_options
from usmp_build.textual.reader import read
from usmp_build.textual.tensors import spell_data, spell_type
from usmp_build.textual.values import quote, spell_references

__all__ = ["read", "write"]

_BARE_KIND = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ROW = 48
"""Bytes on one line of hexadecimal digits."""


def write(model: Model, *, data: Literal["full", "short"] = "full") -> str:
    """Spell a model; `data="short"` withholds the bytes of all but small constants."""
    lines = [f"model {quote(model.name)}"]
    lines += (f"input {quote(port.name)} = %{port.tensor}" for port in model.input_names)
    lines += (f"output {quote(port.name)} = %{port.tensor}" for port in model.output_names)
    for index, subgraph in enumerate(model.subgraphs):
        lines += ("", f"subgraph {index} {quote(subgraph.name)}")
        lines += (f"  {line}" for line in _subgraph(subgraph, data == "full"))
    return "\n".join(lines) + "\n"


def _subgraph(subgraph: Subgraph, full: bool) -> Iterator[str]:
    for index, tensor in enumerate(subgraph.tensors):
        yield from _tensor(index, tensor, full)
    if subgraph.parameters:
        yield f"parameters {subgraph.parameters}"
    yield f"inputs {spell_references(subgraph.inputs)}".rstrip()
    yield f"outputs {spell_references(subgraph.outputs)}".rstrip()
    for operator in subgraph.operators:
        yield _operator(operator)
    yield from spell_body(subgraph.body)


def _tensor(index: int, tensor: Tensor, full: bool) -> Iterator[str]:
    line = f"%{index} {quote(tensor.name)} {spell_type(tensor)}"
    value = tensor.initial if tensor.is_variable else tensor.data
    if value is None:
        yield line
        return
    data = spell_data(tensor, value, full)
    yield f"{line} = {data}"
    if data == "hex":
        for start in range(0, len(value), _ROW):
            yield f"  | {value[start : start + _ROW].hex()}"


def _operator(operator: Operator) -> str:
    kind = operator.kind if _BARE_KIND.fullmatch(operator.kind) else quote(operator.kind)
    call = f"{spell_references(operator.outputs) or '_'} = {kind}({spell_references(operator.inputs)})"
    return " ".join((call, *spell_options(operator.kind, operator.options), f"@{operator.position}"))
