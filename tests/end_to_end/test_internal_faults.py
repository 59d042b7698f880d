"""What nothing should raise: one message that says whose fault it is, and a traceback only where it is asked for."""

import re
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import cast

import pytest

from tests.support.cli import call, manifest, one_model, says
from usmp_build.cli import VERBS
from usmp_build.ir.graph import Model
from usmp_build.passes.rewrite import REWRITES
from usmp_build.search import limits

ARGUMENTS = {
    "check": ["p.json", "--elf", "a.elf"],
    "diff": ["a.json", "b.json"],
    "explain": ["x"],
    "export": ["tflm"],
    "init": ["m.tflite"],
    "inspect": ["model"],
    "solve": ["p.csv"],
    "verify": ["a.csv", "p.csv"],
}
"""What verbs cannot do without."""


def fail(*_: object, **__: object) -> int:
    """Stands for a bug."""
    nothing: dict[int, int] = {}
    return nothing[0]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_tells_of_a_fault_of_ours(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    monkeypatch.setattr(import_module(f"usmp_build.cli.{verb}"), "run", fail)
    given = [verb, *ARGUMENTS.get(verb, [])]
    done = call(*given)
    assert (done.code, done.out) == (5, "")
    error, help_ = done.err.splitlines()
    assert re.fullmatch(
        r"error\[U260\]: internal error: KeyError: 0 \(usmp_build\.cli, line \d+\); this is a bug in usmp_build, .*",
        error,
    )
    assert re.match(r"help: please report this message, the manifest, its model files and usmp_build 0\.\d", help_)
    debugged = call(*given, "--debug")
    assert debugged.code == 5
    assert debugged.err.startswith("Traceback (most recent call last):\n")
    assert "\nKeyError: 0\nerror[U260]: " in debugged.err


def test_the_innermost_place_in_our_code_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "fit", fail)
    done = call("plan", manifest(tmp_path, one_model("digits")))
    assert (done.code, done.out) == (5, "")
    assert re.search(r": KeyError: 0 \(usmp_build\.pipeline, line \d+\); ", done.err)


def test_a_rewrite_that_breaks_a_model_is_a_fault_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def spoil(model: Model, _: object) -> Model:
        return replace(model, subgraphs=(replace(model.main, inputs=()),))

    monkeypatch.setitem(cast(dict[str, object], REWRITES), "dead", spoil)
    done = call("plan", manifest(tmp_path, one_model("digits")))
    says(done, 5, "error[U260]: ", "Broken: the rewrite dead exchanges inputs or outputs")


@pytest.mark.parametrize(
    ("raised", "code", "message"),
    [
        (MemoryError, 5, "error[U261]: out of memory (usmp_build."),
        (RecursionError, 5, "error[U260]: internal error: RecursionError"),
        (lambda: OSError(28, "No space left", "plan.txt"), 1, "error[U262]: the system reports: No space left: plan"),
        (KeyboardInterrupt, 130, "interrupted\n"),
    ],
)
def test_what_is_not_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, raised: Callable[[], BaseException], code: int, message: str
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise raised()

    monkeypatch.setattr(limits, "fit", stop)
    done = call("plan", manifest(tmp_path, one_model("digits")))
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(message)
    assert "Traceback" not in done.err
