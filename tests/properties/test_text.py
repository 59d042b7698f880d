"""Text and models are two forms of the same thing, and no text does harm."""

import random
import re
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from usmp_build.errors import Diagnostic, ModelError
from usmp_build.importers.text import import_text
from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.graph import DType, Model, Operator, Port, Quantization, Subgraph, Tensor
from usmp_build.ir.options import Activation, Options, Padding
from usmp_build.operators.rearranging import Mirror
from usmp_build.operators.table import OPERATORS
from usmp_build.textual.lines import MAX_DATA
from usmp_build.textual.text import read, write

DATA = Path(__file__).parents[1] / "data"

names = st.one_of(st.text(max_size=8), st.text(st.characters(), max_size=4))
floats = st.floats(width=32, allow_nan=False)
quantizations = st.builds(
    Quantization,
    st.lists(floats, max_size=6).map(tuple),
    st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=6).map(tuple),
    st.integers(-1, 3),
)
small_data = st.binary(max_size=80)
long_data = st.builds(lambda unit, count: unit * count, st.binary(min_size=1, max_size=7), st.integers(1, 60))


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    shape = tuple(draw(st.lists(st.integers(-1, 9), max_size=4)))
    dtype = draw(st.sampled_from(DType))
    tensor = Tensor(draw(names), shape, dtype, draw(st.none() | quantizations), is_variable=draw(st.booleans()))
    separators = draw(st.none() | st.lists(st.integers(-1, 5), max_size=3).map(tuple))
    fitting = st.binary(min_size=max(0, tensor.size), max_size=max(0, tensor.size))
    zeros = st.just(bytes(max(0, tensor.size)))
    data = draw(st.none() | fitting | zeros | small_data | long_data)
    if tensor.is_variable:
        return replace(tensor, initial=data, axis_separators=separators, resource=draw(names))
    return replace(tensor, data=data, axis_separators=separators)


def options(kind: type[Options]) -> st.SearchStrategy[Options]:
    integers = st.integers(-(1 << 31), (1 << 31) - 1)
    by_type = {
        "int": integers,
        "int | None": st.none() | integers,
        "Limits | None": st.none() | st.tuples(integers, integers),
        "Order | None": st.none() | st.lists(integers, max_size=5).map(tuple),
        "Frame | None": st.none() | st.tuples(integers, integers, integers, integers),
        "tuple[int, ...]": st.lists(integers, max_size=5).map(tuple),
        "bool": st.booleans(),
        "float": st.floats(allow_nan=False),
        "str": names,
        "Padding": st.sampled_from(Padding),
        "Activation": st.sampled_from(Activation),
        "Mirror": st.sampled_from(Mirror),
    }
    return st.builds(kind, **{name: by_type[str(of)] for name, of in kind.__annotations__.items()})


OPTIONS = {kind.name: kind.options.options for kind in OPERATORS.values() if kind.options}
kinds = st.one_of(st.sampled_from([*OPTIONS, "RELU", "VIEW", "_"]), names.map(lambda code: f"CUSTOM:{code}"))
any_options = st.sampled_from(list(OPTIONS.values())).flatmap(options)


@st.composite
def operators(draw: st.DrawFn, count: int) -> Operator:
    kind = draw(kinds)
    references = st.integers(0, max(0, count - 1))
    inputs = draw(st.lists(st.none() | references if count else st.none(), max_size=4))
    outputs = draw(st.lists(references, max_size=3 if count else 0))
    usual = options(OPTIONS[kind]) if kind in OPTIONS else st.none()
    position = draw(st.integers(0, 999_999_999))
    return Operator(kind, tuple(inputs), tuple(outputs), draw(usual | st.none() | any_options), position)


@st.composite
def subgraphs(draw: st.DrawFn) -> Subgraph:
    members = draw(st.lists(tensors(), max_size=5))
    ends = st.lists(st.integers(0, max(0, len(members) - 1)), max_size=3 if members else 0).map(tuple)
    inside = draw(st.lists(operators(len(members)), max_size=4, unique_by=lambda operator: operator.position))
    return Subgraph(draw(names), tuple(members), draw(ends), draw(ends), tuple(inside))


@st.composite
def models(draw: st.DrawFn) -> Model:
    drawn_model = draw(st.lists(subgraphs(), max_size=3))
    count = len(drawn_model[0].tensors) if drawn_model else 0
    ports = st.lists(st.builds(Port, names, st.integers(0, max(0, count - 1))), max_size=2 if count else 0).map(tuple)
    return Model(draw(names), tuple(drawn_model), draw(ports), draw(ports))


@settings(max_examples=60)
@given(models())
def test_reading_undoes_writing(model: Model) -> None:
    text = write(model)
    assert read(text) == model
    assert write(read(text)) == text
    assert text.isascii()


@given(models())
def test_withholding_changes_nothing_but_the_bytes_of_constants(model: Model) -> None:
    short = read(write(model, data="short"))
    constants, withheld = ([t.data or t.initial for s in m.subgraphs for t in s.tensors] for m in (model, short))
    for before, after in zip(constants, withheld, strict=True):
        assert (before is None) == (after is None)
        assert before is None or after is None or len(before) == len(after)
        assert before is None or len(before) > 64 or before == after
    for i, j in np.ndindex(len(constants), len(constants)):
        assert (constants[i] == constants[j]) == (withheld[i] == withheld[j])
    assert shape_of(write(short, data="short")) == shape_of(write(model, data="short"))


def shape_of(text: str) -> str:
    return re.sub(r"sha256:.*|zeros|= bytes .*", "", text)


LINES = [
    *write(import_tflite((DATA / "branchy.tflite").read_bytes(), "m", "m"), data="short").splitlines(),
    'model "m"',
    'subgraph 0 "s"',
    '%0 "a" int8[4] scales=[1*4] axis=0 = hex',
    "| 00010203",
    "outputs %0",
    "parameters 1",
    "allocate %0 by application {",
    "for parallel 4 workers=2 {",
    'access "f" %0, %1 += _',
    "store %0 = %1",
    "call 0(%0, _)",
    "}",
]
PIECES = sorted({piece for line in LINES for piece in re.findall(r'"[^"]*"|[%@\w.]+|\S', line)})


@settings(max_examples=300)
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join) | st.sampled_from(LINES), max_size=12))
def test_any_lines_are_a_model_or_an_error(lines: list[str]) -> None:
    outcome("\n".join(lines).encode())
    outcome(b'model "m"\nsubgraph 0 "s"\n' + "\n".join(lines).encode())


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_model_or_an_error(data: bytes) -> None:
    outcome(data)


@pytest.mark.parametrize("seed", range(200))
def test_any_damage_is_a_model_or_an_error(seed: int) -> None:
    generator = random.Random(seed)
    text = list("\n".join(LINES[:60]))
    for _ in range(generator.randint(1, 6)):
        at = generator.randrange(len(text))
        text[at : at + generator.randint(0, 3)] = generator.choice(
            ["", "9" * 30, "[", '"', "\\", "%", "*", "= zeros\n", "\0"]
        )
    outcome("".join(text).encode())


@pytest.mark.parametrize(
    "line",
    [
        '%0 "a" int8[999999999999] = zeros',
        '%0 "a" int8[1] = bytes 999999999999 sha256:000000000000',
        '%0 "a" int8[4000000000] = [0*4000000000]',
        '%0 "a" int8[1] scales=[1*999999999] zeros=[0*999999999]',
        '%0 "a" int8[' + "9" * 100_000 + "]",
        '%0 "a" int8[' + ",".join(["9" * 19] * 10_000) + "]",
        "%" + "9" * 100_000 + ' "a" int8[1]',
        '%0 "' + "\\u{110000}" * 10_000 + '" int8[1]',
        "\n".join(f'%{i} "a" int8[1] scales=[1*1000000]' for i in range(50)),
    ],
    ids=lambda line: line[:24],
)
def test_few_words_cannot_fill_the_memory(line: str) -> None:
    tracemalloc.start()
    outcome(f'model "m"\nsubgraph 0 "s"\n{line}\ninputs\noutputs\n'.encode())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MAX_DATA


def outcome(data: bytes) -> Model | tuple[Diagnostic, ...]:
    """Import some text; anything but a model or a ModelError fails the test."""
    try:
        return import_text(data, "m", "m.model.txt")
    except ModelError as error:
        return error.diagnostics
