"""Whatever a model says, it is planned and generated, or refused: no other exception comes out, from any stage.

USMP_FUZZ is the number of mutants to try; nothing about them depends on the machine or the day.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from tests.support.cli import DATA
from tests.support.mutants import mutant
from tests.support.road import request
from usmp_build import pipeline
from usmp_build.errors import UsmpError
from usmp_build.importers.tflite.reader import as_model, decoded
from usmp_build.ir.graph import Model
from usmp_build.well_formed import first_fault

COUNT = int(os.environ.get("USMP_FUZZ", "300"))
MUTANTS_PER_TEST = 50
EACH_AUTO = 20
"""How often the algorithm is the one that takes its time."""

FILES = {path.stem: decoded(path.read_bytes()) for path in sorted(DATA.glob("*.tflite"))}


def outcome(model: Model, algorithm: str) -> str:
    """Plan and generate; return the code of the error that refuses the model, or what became of it."""
    try:
        if fault := first_fault(model):
            return fault.code
        planned = pipeline.plan_models(replace(request("m"), algorithm=algorithm), (model,))
        pipeline.emit(pipeline.lay_out(planned))
    except UsmpError as error:
        return error.diagnostics[0].code
    return "generated"


def tried(file: str, seed: int) -> str:
    """Return what becomes of a mutant, which the message of a failure names."""
    try:
        model = as_model(mutant(FILES[file], seed), "m")
    except UsmpError as error:
        return error.diagnostics[0].code
    try:
        return outcome(model, "greedy_by_size" if seed % EACH_AUTO else "auto")
    except Exception as error:
        raise AssertionError(f"mutant {seed} of {file}") from error


@pytest.mark.parametrize("first", range(0, COUNT, MUTANTS_PER_TEST))
def test_mutants_are_generated_or_refused(first: int) -> None:
    names = sorted(FILES)
    outcomes = {tried(names[seed % len(names)], seed) for seed in range(first, min(first + MUTANTS_PER_TEST, COUNT))}
    assert len(outcomes) > 3
