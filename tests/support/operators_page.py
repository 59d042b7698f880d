"""Makes docs/operators.md: what has a kernel, of the models of one operator that tests draw and compare.

python -m tests.support.operators_page > docs/operators.md
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.support.kernels.cases import CASES
from tests.support.kernels.drawing import Case
from tests.support.kernels.pictures import PICTURES
from tests.support.kernels.samples import draw, kernel_of
from usmp_build.interfaces.kernels import Input, Kernel, Output
from usmp_build.ir.graph import DType
from usmp_build.ir.schedule import Direction
from usmp_build.operators.table import traits
from usmp_build.passes.separations.distances import distances
from usmp_build.report.operator_support import form_of

_FOLDER = Path(__file__).parent
_DRAWN = 60
"""Cases of each kind that are looked at."""
_ALIKE = 4
"""At least one case of so many has an output as large as its input where that is the rule."""
_WHOLE = "whole"
_FORMS = ("by rows", "adds up rows", _WHOLE)
_MOST_PAIRS = 12
"""Pairs of types that are listed; of more, only the types."""
_OURS = {"COPY", "LOOKUP"}
"""Kinds that only rewrites make."""


def page() -> str:
    """Return the page."""
    text = (_FOLDER / "operators.md.in").read_text(encoding="utf-8")
    notes = dict(_listed("notes"))
    rest = dict(_listed("without_kernel"))
    kernels = {kind: _row(kind, notes) for kind in CASES if kind not in _OURS}
    rows = kernels | {kind: f"| {kind} | {explained(kind, how)} |" for kind, how in _listed("not_drawn")}
    tflm = [kind for kind, _ in _listed("tflm")]
    missing = [kind for kind in tflm if kind not in rows]
    assert set(missing) == rest.keys(), f"say why there is no kernel of {set(missing) ^ rest.keys()}"
    marks = {
        "ROWS": "\n".join(rows[kind] for kind in sorted(rows)),
        "HERE": str(len(tflm) - len(missing)),
        "ALL": str(len(tflm)),
        "MISSING": "\n".join(f"| {kind} | {rest[kind]} |" for kind in sorted(missing)),
    }
    for mark, value in marks.items():
        text = text.replace(f"@{mark}@", value)
    return text


def _listed(name: str) -> Iterator[tuple[str, str]]:
    """Yield kinds and remarks on each: the lines of a section of operators.txt, `KIND: words`."""
    text = (_FOLDER / "operators.txt").read_text(encoding="utf-8")
    section = text.partition(f"[{name}]\n")[2].partition("\n[")[0]
    for line in section.splitlines():
        if line and not line.startswith("#"):
            kind, _, words = line.partition(": ")
            yield kind, words


def _row(kind: str, notes: dict[str, str]) -> str:
    cases = draw(kind, _DRAWN)
    kernels = [kernel_of(case) for case in cases]
    form = "by rows" if kind in PICTURES else _form(kernels)
    cells = (kind, _types(cases), explained(kind, form), _overlap(cases), notes.get(kind, ""))
    return f"| {' | '.join(cells)} |"


def explained(kind: str, cells: str) -> str:
    """Return cells with the reason why an operator runs as a whole, which its traits must have, and only then."""
    is_whole, reason = _WHOLE in cells.split(" | "), traits(kind).at_once
    assert is_whole == (reason is not None), f"{kind}: `at_once` of its traits is {reason}, but it runs {cells}"
    return cells.replace(_WHOLE, f"{_WHOLE}: {reason.value}", 1) if reason else cells


def _types(cases: Iterable[Case]) -> str:
    """Return the types of what is computed, and of the output where that has another one."""
    pairs = dict.fromkeys(_pair(case) for case in cases)
    same = sorted((source for source, target in pairs if source == target), key=_rank)
    others = sorted(((source, target) for source, target in pairs if source != target), key=_rank_of_pair)
    if len(others) <= _MOST_PAIRS:
        return ", ".join([*same, *(f"{source} → {target}" for source, target in others)])
    sources, targets = ({each[side]: None for each in sorted(pairs, key=_rank_of_pair)} for side in (0, 1))
    return f"{', '.join(sources)} → {', '.join(sorted(targets, key=_rank))}"


def _pair(case: Case) -> tuple[str, str]:
    graph = case.graph
    operands = [index for index in graph.operators[0].inputs if index is not None]
    source = graph.tensors[(graph.inputs or operands)[0]]
    return source.dtype.name.lower(), graph.tensors[graph.operators[0].outputs[0]].dtype.name.lower()


def _rank(name: str) -> tuple[int, str]:
    names = [dtype.name.lower() for dtype in (DType.INT8, DType.INT16, DType.FLOAT32, DType.INT32, DType.INT64)]
    return (names.index(name) if name in names else len(names), name)


def _rank_of_pair(pair: tuple[str, str]) -> tuple[tuple[int, str], tuple[int, str]]:
    return _rank(pair[0]), _rank(pair[1])


def _form(kernels: Iterable[Kernel]) -> str:
    forms = {form_of(kernel) for kernel in kernels}
    return next(form for form in _FORMS if form in forms)


def _overlap(cases: Sequence[Case]) -> str:
    """Return "in place" where an output as large as its input may be that input's bytes, in one direction at least."""
    in_place, partly = [], False
    for case in cases:
        graph = case.graph
        op = graph.operators[0]
        source = next((p for p, i in enumerate(op.inputs) if i in graph.inputs), None)
        if source is None or len(op.outputs) > 1:
            continue
        output = graph.tensors[op.outputs[0]]
        nearest = [each for d in Direction if (each := _nearest(kernel_of(case, d), source)) is not None]
        partly = partly or any(each < output.size for each in nearest)
        operand = graph.tensors[op.inputs[source] or 0]
        if operand.size == output.size and operand.elements >= output.elements:  # it is not stretched
            in_place.append(any(each <= 0 for each in nearest))
    if len(in_place) > len(cases) / _ALIKE and all(in_place):
        return "in place"
    return "partly" if partly else "-"


def _nearest(kernel: Kernel, source: int) -> int | None:
    """Return how closely the first output may lie to an input, in bytes; None where they stay apart."""
    distance = (distances(kernel) or {}).get((Output(0), Input(source)))
    if distance is None:
        return None
    sides = [side for side in (distance.written_below, distance.written_above) if side is not None]
    return min(sides, default=0)


if __name__ == "__main__":
    print(page(), end="")
