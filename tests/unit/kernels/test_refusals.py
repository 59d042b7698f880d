"""What the library refuses: arithmetic without a defined result is an error, what it cannot run is a reason."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.kernels.cases import CASES
from tests.support.road import model
from tests.support.tree import ROOT
from usmp_build.errors import KernelError
from usmp_build.interfaces.kernels import Kernel, NoKernel
from usmp_build.ir.graph import Quantization, Subgraph
from usmp_build.kernels.reference import library

LINES = [
    line
    for line in Path(__file__).with_name("refusals.txt").read_text(encoding="utf-8").splitlines()
    if line[:1] not in ("", "#")
]
SHORT_FORMS = {
    "input8": "int8[1,8] scale=0.1 zero=3",
    "image": "int8[1,4,4,2] scale=0.1 zero=3",
    "filters": "int8[3,2,2,2] scale=0.1 zero=0 = zeros",
    "result": "int8[1,4,4,3] scale=0.1 zero=3",
}


def ask(graph: Subgraph) -> Kernel | NoKernel:
    return library.kernel(graph.operators[0], graph)


def graph(line: str) -> Subgraph:
    """Read the tensors and the operator of a case."""
    *tensors, operator = (part.strip() for part in line.split(";"))
    last = len(tensors) - 1
    named = zip("xwbcd", tensors, strict=False)
    lines = [f'%{i} "{name}" {SHORT_FORMS.get(tensor, tensor)}' for i, (name, tensor) in enumerate(named)]
    return model("\n".join([*lines, "inputs %0", f"outputs %{last}", f"%{last} = {operator} @3"])).main


@pytest.mark.parametrize("line", LINES)
def test_refusal(line: str) -> None:
    reason_text, _, rest = line.partition(": ")
    if re.match(r"K\d{3} ", reason_text):
        with pytest.raises(KernelError) as caught:
            ask(graph(rest))
        (diagnostic,) = caught.value.diagnostics
        code, _, message = reason_text.partition(" ")
        assert diagnostic.code == code
        assert diagnostic.message.startswith("operator 3 (")
        assert message in diagnostic.message
        assert diagnostic.help
    else:
        answer = ask(graph(rest))
        assert isinstance(answer, NoKernel)
        assert answer.reason.startswith(reason_text)


@pytest.mark.parametrize(
    ("code", "reason_text", "quantization"),
    [
        ("K401", "which is inf", Quantization((float("inf"),), (0,))),
        ("K401", "which is nan", Quantization((float("nan"),), (0,))),
        ("K401", "which is -1", Quantization((-1.0,), (0,))),
        ("K402", "zero point 300", Quantization((0.1,), (300,))),
    ],
)
def test_what_importers_refuse_already(code: str, reason_text: str, quantization: Quantization) -> None:
    sound = graph("input8; input8; RELU(%0)")
    damaged = replace(sound, tensors=(replace(sound.tensors[0], quantization=quantization), sound.tensors[1]))
    with pytest.raises(KernelError) as caught:
        ask(damaged)
    assert caught.value.diagnostics[0].code == code
    assert reason_text in caught.value.diagnostics[0].message


def test_options_of_another_kind() -> None:
    sound = graph("image; filters; result; CONV_2D(%0, %1)")
    with pytest.raises(KernelError, match=r"K408\]: operator 3 \(CONV_2D\) has no options of its kind"):
        ask(replace(sound, operators=(replace(sound.operators[0], options=None),)))


def test_a_channel_scale_for_an_activation() -> None:
    sound = graph("input8; input8; RELU(%0)")
    odd = replace(sound.tensors[0], quantization=Quantization((0.1,) * 8, (0,) * 8, axis=1))
    assert ask(replace(sound, tensors=(odd, sound.tensors[1]))) == NoKernel('tensor 0 "x" has 8 scales')


def test_a_bias_that_was_left_out_is_zeros() -> None:
    given = ask(graph("image; filters; int32[3] = zeros; result; CONV_2D(%0, %1, %2)"))
    left_out = ask(graph("image; filters; result; CONV_2D(%0, %1)"))
    assert isinstance(given, Kernel)
    assert isinstance(left_out, Kernel)
    assert [(c.name, c.data) for c in left_out.constants[2:]] == [("bias", bytes(12))]
    assert left_out.constants[:2] == given.constants
    assert left_out.calls[0].parameters == given.calls[0].parameters


def test_answers_are_repeatable() -> None:
    for kind, make in CASES.items():
        first, second = (make(np.random.default_rng(1)) for _ in range(2))
        assert ask(first.graph) == ask(second.graph), kind


def test_codes_are_explained() -> None:
    page = (ROOT / "docs" / "errors" / "kernels.md").read_text(encoding="utf-8")
    package = ROOT / "usmp_build"
    files = (*(package / "kernels").rglob("*.py"), package / "passes" / "select" / "declared.py")
    source = "".join(path.read_text(encoding="utf-8") for path in files)
    assert sorted(set(re.findall(r'"(K\d{3})"', source))) == re.findall(r"(?m)^### (K\d{3}) ", page)
