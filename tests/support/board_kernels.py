"""Models of one operator on boards: compared with TensorFlow Lite Micro, and their accesses counted."""

from pathlib import Path

from tests.support.board_accesses import count, problems
from tests.support.image import Image
from tests.support.kernels import oracle
from tests.support.kernels.cases import NOT_IN_TFLM
from tests.support.kernels.drawing import Case
from usmp_build.selftest.compare import compare
from usmp_build.selftest.harness import Run
from usmp_build.selftest.oracle import Answer


def answers_to(cases: dict[str, Case], models: dict[str, Path]) -> list[list[Answer]]:
    """Return what TensorFlow Lite Micro makes of cases; None where it has no answer."""
    compared = {name: case for name, case in cases.items() if case.graph.operators[0].kind not in NOT_IN_TFLM}
    asked = [(models[name].read_bytes(), list(case.inputs)) for name, case in compared.items()]
    answers = dict(zip(compared, oracle.outputs(asked), strict=True))
    refused = {name: answer for name, answer in answers.items() if isinstance(answer, str)}
    assert refused == {}, f"{refused}"
    return [
        [dict(zip(case.graph.outputs, answers[name], strict=True)) if name in answers else None]
        for name, case in cases.items()
    ]


def compare_all(firmware: Image, results: list[list[Run]], references: list[list[Answer]]) -> None:
    """Compare the tensors of all cases."""
    for index, reference in enumerate(references):
        compare(firmware.planned, index, results[index], reference)


def check(firmware: Image, plugin: Path, cases: dict[str, Case], references: list[list[Answer]]) -> None:
    """Compare the tensors of all cases, and what is read and written."""
    results, runs = count(firmware, [[case.inputs] for case in cases.values()], plugin)
    compare_all(firmware, results, references)
    wrong = problems(runs)
    assert wrong == [], "\n".join(wrong)
