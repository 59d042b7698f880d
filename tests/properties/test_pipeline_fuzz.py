"""Whatever a model says, it is planned and generated, or refused: no other exception comes out, from any stage.

USMP_FUZZ is the number of mutants to try; nothing about them depends on the machine or the day.
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.cli import DATA
from tests.support.host_c import built
from tests.support.mutants import mutant
from tests.support.road import request
from tests.support.tools import few
from usmp_build import pipeline
from usmp_build.errors import UsmpError
from usmp_build.importers.tflite.reader import as_model, decoded
from usmp_build.ir.graph import Model
from usmp_build.operators.well_formed import first_fault
from usmp_build.output.bundle import Bundle

COUNT = int(os.environ.get("USMP_FUZZ", "300"))
MUTANTS_PER_TEST = 50
EACH_AUTO = 20
"""How often the algorithm is the one that takes its time."""

FILES = {path.stem: decoded(path.read_bytes()) for path in sorted(DATA.glob("*.tflite"))}


def generated(model: Model, algorithm: str) -> Bundle | str:
    """Plan and generate; return the code of the error where the model is refused."""
    try:
        if fault := first_fault(model):
            return fault.code
        planned = pipeline.plan_models(replace(request("m"), algorithm=algorithm), (model,))
        return pipeline.emit(pipeline.lay_out(planned))
    except UsmpError as error:
        return error.diagnostics[0].code


def outcome(file: str, seed: int) -> Bundle | str:
    """Return what becomes of a mutant, which the message of a failure names."""
    try:
        model = as_model(mutant(FILES[file], seed), "m")
    except UsmpError as error:
        return error.diagnostics[0].code
    try:
        return generated(model, "greedy_by_size" if seed % EACH_AUTO else "auto")
    except Exception as error:
        raise AssertionError(f"mutant {seed} of {file}") from error


@pytest.mark.drawn("first")
@pytest.mark.parametrize("first", few(range(0, COUNT, MUTANTS_PER_TEST), 1))
@pytest.mark.long
def test_mutants_are_generated_or_refused(first: int) -> None:
    names = sorted(FILES)
    outcomes = [outcome(names[seed % len(names)], seed) for seed in range(first, min(first + MUTANTS_PER_TEST, COUNT))]
    assert len({each for each in outcomes if isinstance(each, str)}) > 3


@pytest.mark.parametrize("file", ["digits", "float_net", "quantized_io", "stateful"])
def test_c_of_a_mutant_compiles(tmp_path: Path, file: str) -> None:
    generated_files = next(bundle for seed in range(100) if isinstance(bundle := outcome(file, seed), Bundle))
    folder = tmp_path / "out"
    folder.mkdir()
    for each in generated_files.files:
        (folder / each.path).write_bytes(each.data)
    assert built(folder, tmp_path, "int main(void) { return 0; }\n").is_file()
