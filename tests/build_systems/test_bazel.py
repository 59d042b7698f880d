"""examples/bazel from outside, with the real Bazel: what a build does, and that it does nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.bazel import Workspace, example, need_bazel
from tests.support.files import touch
from tests.support.models import rename_tensors, train_again

PLAN = "Planning the memory of digits, odd_even"
RESULT = "32 of 32 outputs equal those of TensorFlow Lite Micro"
OTHER_PLAN = """
usmp_plan(
    name = "other_plan",
    manifest = "other.toml",
    models = [
        "//digits:model",
        "//odd_even:model",
    ],
    project = "reader",
)

usmp_elf_test(
    name = "other_test",
    binary = ":firmware",
    plan = ":other_plan",
    target_compatible_with = ["@platforms//os:none"],
)
"""


@pytest.fixture
def app(tmp_path: Path, bazel_cache: Path) -> Iterator[Workspace]:
    """The example, in a folder of its own, with usmp_build as an external repository."""
    need_bazel()
    with example(tmp_path, bazel_cache) as workspace:
        yield workspace


def test_models_run_and_only_what_changed_is_built(app: Workspace) -> None:
    ran = app.bazel("test", "//...")
    summary = "Executed {} out of 2 tests: 1 test passes and 1 was skipped."
    assert any(summary.format(count) in ran.text for count in (1, 0)), "another test may have filled the cache"
    assert {PLAN, "Compiling plan/digits.c", "Compiling plan/reader_pools.c", "Testing //:reader_test"} <= set(ran.done)
    assert app.bazel("test", "//...").done == []

    touch(app.folder / "odd_even" / "odd_even.tflite")
    assert app.bazel("test", "//...").done == []

    rename_tensors(app.folder / "odd_even" / "odd_even.tflite")  # comments have the names, and the file's sha256
    done = app.bazel("test", "//...").done
    assert {PLAN, "Compiling plan/odd_even.c", "Compiling reader.c"} <= set(done)
    assert not {"Compiling plan/digits.c", "Compiling plan/reader_kernels.c"} & set(done)

    with (app.folder / "usmp.toml").open("a") as manifest:
        manifest.write("\n# a comment\n")
    assert app.bazel("test", "//...").done == [PLAN]

    train_again(app.folder / "digits" / "digits.tflite")
    ran = app.try_bazel("test", "//...")
    assert {PLAN, "Compiling plan/reader_pools.c", "Testing //:reader_test"} <= set(ran.done)
    assert "Compiling plan/odd_even.c" not in ran.done
    assert "16 of 32 outputs equal those of TensorFlow Lite Micro" in ran.text  # odd_even's
    assert ran.code == 3


def test_a_second_machine_runs_nothing(tmp_path: Path) -> None:
    """Another workspace, another output base: everything comes from the cache, because nothing depends on the place."""
    need_bazel("arm-none-eabi-gcc")
    commands = (("test", "//..."), ("test", "--config=m55", "//..."))
    steps = {}
    for place in ("here", "there/and/further"):
        root = tmp_path / place
        root.mkdir(parents=True)
        with example(root, tmp_path / "cache") as workspace:
            steps[place] = [workspace.bazel(*command).steps for command in commands]
    assert {step.message for step in steps["here"][0]} >= {PLAN, "Testing //:reader_test"}
    assert {step.message for step in steps["here"][1]} >= {"Linking firmware", "Testing //:firmware_memory_test"}
    for first, second in zip(*steps.values(), strict=True):
        assert sorted(step.message for step in first) == sorted(step.message for step in second)
        assert not any(step.was_cached for step in first)
        assert [step.message for step in second if not step.was_cached] == []


def test_the_action_that_plans(app: Workspace) -> None:
    """It can be mapped, and executed elsewhere: neither its command nor its files know this machine."""
    listed = app.bazel("aquery", "--include_param_files", "mnemonic(UsmpPlan, //:plan)").text
    assert "ExecutionInfo: {supports-path-mapping: 1}" in listed
    assert {"'--model=digits=digits/digits.tflite'", "'--workspace-pools=odd_even=dtcm,sram'"} <= set(words(listed))
    assert str(app.folder) not in listed.partition("Command Line:")[2]
    inputs = listed.partition("Inputs: [")[2].partition("]")[0].split(", ")
    own = [path for path in inputs if not path.startswith(("bazel-out/", "external/"))]
    assert own == ["digits/digits.tflite", "odd_even/odd_even.tflite", "usmp.toml"]

    app.bazel("build", "//:plan", "--output_groups=all_generated")
    files = {path.name: path.read_bytes() for path in app.built("plan").iterdir() if path.is_file()}
    assert {"digits.h", "reader.ld", "reader_pools.c", "usmp-targets.cmake"} <= set(files)
    assert not [name for name, data in files.items() if b"/sandbox/" in data or str(app.folder).encode() in data]
    overrides = [list(model["overrides"]) for model in json.loads(files["plan.json"])["models"]]
    assert overrides == [["path", "workspace_pools"]] * 2


def words(text: str) -> list[str]:
    return text.replace("\\\n", " ").replace(")", " ").split()


def test_the_board(app: Workspace) -> None:
    """The image is linked by the plan, runs, is linked again when a pool grows, and is held against the plan."""
    need_bazel("arm-none-eabi-gcc", "qemu-system-arm")
    ran = app.bazel("test", "--config=m55", "//...")
    assert "1 test passes and 1 was skipped." in ran.text
    assert RESULT in app.bazel("run", "--config=m55", "//:firmware").text
    assert RESULT in (app.folder / "README.md").read_text(encoding="utf-8")

    (app.folder / "board" / "entry.ld").write_text("ENTRY(reset)\n", encoding="utf-8")
    app.edit("board/board.ld", "ENTRY(reset)", "INCLUDE entry.ld")
    app.edit("board/BUILD.bazel", 'name = "linker_script"', 'name = "linker_script", includes = ["entry.ld"]')
    assert "Linking firmware" in app.bazel("test", "--config=m55", "//...").done
    app.edit("board/entry.ld", "reset)", "reset) /* of start.c */")
    assert "Linking firmware" in app.bazel("test", "--config=m55", "//...").done

    app.edit("usmp.toml", "size = 1024", "size = 512")
    done = app.bazel("test", "--config=m55", "//...").done
    assert {PLAN, "Linking firmware", "Testing //:firmware_memory_test"} <= set(done)

    other = (app.folder / "usmp.toml").read_text(encoding="utf-8").replace("size = 512", "size = 768")
    (app.folder / "other.toml").write_text(other, encoding="utf-8")
    with (app.folder / "BUILD.bazel").open("a") as build:
        build.write(OTHER_PLAN)
    ran = app.try_bazel("test", "--config=m55", "//...")
    assert ran.code == 3
    assert "//:firmware_memory_test                                         (cached) PASSED" in ran.text
    assert 'error[S613]: pool "dtcm"' in ran.text

    app.edit("board/board.ld", "DTCM  : ORIGIN = 0x30000000, LENGTH = 512K", "DTCM  : ORIGIN = 0x30000000, LENGTH = 64")
    ran = app.try_bazel("test", "--config=m55", "//:firmware_memory_test")
    assert ran.code == 1
    assert "region `DTCM' overflowed" in ran.text

    app.edit("board/board.ld", "INCLUDE reader.ld", "")
    ran = app.try_bazel("build", "--config=m55", "//:firmware")
    assert ran.code == 1
    assert "undefined symbol `__usmp.INCLUDE_reader.ld' referenced in expression" in ran.text
