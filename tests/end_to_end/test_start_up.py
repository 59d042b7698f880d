"""What verbs load before they do anything: no more than they use, and nothing that our wheel does not require."""

import json
import os
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.support.cli import call
from tests.support.processes import Done, output, run
from tests.support.tools import needs_c, needs_oracle
from tests.support.tree import ROOT
from tests.support.verbs import COMMANDS, ONLY, prepare, required
from usmp_build.cli import VERBS

MODULES = """
import json, sys
from usmp_build.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as stop:
    code = stop.code
assert not code
print("\\n" + json.dumps([*sys.modules]))
"""


COMPLETION = """
import json, os, sys
from usmp_build.cli import main

def end(_):
    print(json.dumps([*sys.modules]), flush=True)
    sys.stdout.close()
    end_now(0)

end_now, os._exit = os._exit, end
main([])
"""
"""As MODULES, but argcomplete ends it when it has answered."""

FROZEN = """
import atexit, gc
from usmp_build.cli import main
atexit.register(lambda: print("\\n" + str(gc.get_freeze_count())))
main(["schema"])
"""

OF_OTHER_VERBS = {"page", "schema", "starter"}
WITHOUT_CORE = {"large.first_fit", "large.plan", "large.repair"}
FOR_SEVERAL_POOLS = {"exact.areas", "exact.assign", "exact.heights", "exact.several_pools"}

TFLITE = """enums flatbuffer flexbuffer handles list_items offline operators reader schema""".split()


def modules(*arguments: object, cwd: Path = ROOT) -> set[str]:
    """The modules of a process that ran a verb."""
    command = [sys.executable, "-c", MODULES, *arguments]
    return {*json.loads(output(command, cwd, os.environ | {"PYTHONPATH": str(ROOT)}).splitlines()[-1])}


def packages(names: set[str], depth: int = 1) -> set[str]:
    """The packages of modules, or packages in packages."""
    return {".".join(name.split(".")[:depth]) for name in names}


def importable() -> set[str]:
    """The names of all modules that our wheel requires."""
    return {name.partition(".")[0] for name in required()}


def bare(folder: Path, lines: str) -> Done:
    """Run command lines where there is nothing but what the wheel requires."""
    command = [sys.executable, "-c", ONLY, ",".join(["usmp_build", "_usmp_build_core", *importable()])]
    return run(command, folder, os.environ | {"PYTHONPATH": str(ROOT)}, stdin=lines)


@pytest.mark.slow
def test_every_verb_says_how_it_is_used_with_nothing_but_what_we_require(tmp_path: Path) -> None:
    done = bare(tmp_path, "\n".join(["--help", *(f"{verb} --help" for verb in VERBS)]))
    assert done.code == 0, done.err
    assert all(f"usage: usmp-build {verb} " in done.out for verb in VERBS)


@pytest.mark.slow
def test_every_verb_works_with_nothing_but_what_we_require(tmp_path: Path) -> None:
    prepare(tmp_path)
    done = bare(tmp_path, COMMANDS)
    assert done.code == 0, done.out + done.err
    assert "(to compare with TensorFlow Lite Micro: pip install 'usmp_build[oracle]')" in done.out
    assert "(bytes, computed, not measured: pip install 'usmp_build[oracle]')" in done.out


@pytest.mark.slow
@needs_c
@needs_oracle
def test_modules_beside_the_manifest_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path)
    for name in ("json", "numpy", "runpy", "tflite_micro", "usmp_build"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('run')\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    tested = call("selftest", "--runs", "2")
    assert tested.out.count("2 runs, all equal to those of TensorFlow Lite Micro\n") == 2, tested.err
    assert "(bytes, measured with tflite-micro " in call("export", "tflm", "--model", "digits", "--out", "tflm").out


@pytest.mark.parametrize("verb", VERBS)
def test_help_says_of_a_verb_what_its_module_says(verb: str) -> None:
    assert (import_module(f"usmp_build.cli.{verb}").__doc__ or "").partition("\n")[0] == VERBS[verb]
    listed = " ".join(call("--help").out.split())
    assert f"{verb} {VERBS[verb]}" in listed


def test_help_and_the_names_of_verbs_load_no_verb() -> None:
    loaded = modules("--help")
    assert loaded == modules("--version")
    assert (
        packages(loaded, 2) & {f"usmp_build.{name}" for name in ("pipeline", "planner", "manifest", "request")} == set()
    )
    assert not packages(loaded) & {"numpy", "pydantic", "jinja2", "argcomplete", "yaml", *importable()}


@pytest.mark.slow
def test_a_plan_loads_neither_what_makes_c_nor_pages_nor_what_reads_other_models(tmp_path: Path) -> None:
    prepare(tmp_path)
    loaded = modules("plan", "usmp.toml", "--quiet", cwd=tmp_path)
    ours = {name.removeprefix("usmp_build.") for name in loaded if name.startswith("usmp_build.")}
    assert not packages(ours) & {"emitters", "image_check", "textual", "tflm"}
    assert packages({name for name in ours if name.startswith("codegen.")}, 2) == {"codegen.function_names"}
    assert {name for name in ours if name.startswith("importers.")} == {
        "importers.tflite",
        *(f"importers.tflite.{name}" for name in TFLITE),
    }
    assert not ours & {"kernels.cmsis_nn", "kernels.extern", "kernels.portable.lstm", "kernels.portable.signal"}
    assert ours.isdisjoint({"layout.layout", "report.infeasible", "report.page", "report.study", "processes"})
    assert ours.isdisjoint({"document.json_text", "layout.plan_json", *(f"manifest.{name}" for name in OF_OTHER_VERBS)})
    assert ours.isdisjoint(f"planner.algorithms.{name}" for name in WITHOUT_CORE)
    assert loaded.isdisjoint({"flatbuffers", "jinja2", "numpy.ma", "subprocess", "tflite", "tvm"})
    assert len(ours) < 380
    assert len(loaded) < 712


@pytest.mark.slow
def test_a_plan_of_one_workspace_pool_loads_no_search_of_several(tmp_path: Path) -> None:
    prepare(tmp_path)
    loaded = modules("plan", "digits.tflite", "--quiet", cwd=tmp_path)
    assert loaded.isdisjoint(f"usmp_build.planner.algorithms.{name}" for name in FOR_SEVERAL_POOLS)
    assert len({name for name in loaded if name.startswith("usmp_build.")}) < 370


def test_python_does_not_search_for_garbage_while_it_ends() -> None:
    """It would search several times, which was a sixth of the CPU time of a small plan."""
    frozen = output([sys.executable, "-c", FROZEN], ROOT, os.environ | {"PYTHONPATH": str(ROOT)})
    assert int(frozen.splitlines()[-1]) > 10_000


def test_completion_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_ARGCOMPLETE", "1")
    monkeypatch.setitem(sys.modules, "argcomplete", None)
    done = call()
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("-m pip install argcomplete\n")


@pytest.mark.parametrize("verb", ["plan", "generate", "watch", "outputs", "diff", "check", "demo"])
def test_help_of_a_verb_plans_nothing(verb: str) -> None:
    assert modules(verb, "--help").isdisjoint({"jinja2", "numpy", "usmp_build.pipeline", "usmp_build.planner"})


def test_completing_a_verb_loads_no_verb_and_an_option_its_own(tmp_path: Path) -> None:
    pytest.importorskip("argcomplete", reason="argcomplete is not installed")
    for typed, verbs in (("usmp-build gen", set()), ("usmp-build plan --fail", {"usmp_build.cli.plan"})):
        asked = {
            "_ARGCOMPLETE": "1",
            "_ARGCOMPLETE_IFS": "\n",
            "_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "answer"),
        }
        done = output(
            [sys.executable, "-c", COMPLETION],
            env=os.environ | {"PYTHONPATH": str(ROOT), "COMP_LINE": typed, "COMP_POINT": str(len(typed))} | asked,
        )
        loaded = {*json.loads(done)}
        assert loaded & {f"usmp_build.cli.{verb}" for verb in VERBS} == verbs
        assert (tmp_path / "answer").read_text("utf-8").strip() in {"generate", "--fail-over-budget"}
        assert loaded.isdisjoint({"numpy", "usmp_build.pipeline", "usmp_build.planner"})
