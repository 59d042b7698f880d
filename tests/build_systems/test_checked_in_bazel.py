"""Bazel: checked-in folders build without Python, by label, and rebuild what they must."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.bazel import EXAMPLE, Workspace, need_bazel, served
from tests.support.checked_in import (
    ARM,
    bare_metal,
    blocked_pythons,
    check,
    generate,
    two_models,
    two_projects,
    without_python,
)
from tests.support.files import edit, write_files
from tests.support.models import check_answers
from tests.support.processes import Done, run
from tests.support.tools import need

WORKSPACE = """\
workspace(name = "app")

local_repository(
    name = "usmp_build",
    path = "../usmp_build",
)

load("@usmp_build//bazel/workspace:stand_ins.bzl", "stand_ins")

stand_ins()
"""
MODELS = """
local_repository(
    name = "models",
    path = "../models",
)
"""
TOOLCHAIN = """
load("//toolchain:arm_gcc.bzl", "arm_gcc")

arm_gcc(name = "arm_gcc")

register_toolchains("@arm_gcc//:toolchain")
"""
APP = """\
load("@rules_cc//cc:cc_binary.bzl", "cc_binary")

cc_binary(
    name = "app",
    srcs = ["main.c"],
    deps = [
        "//generated:digits",
        "//generated:odd_even",
    ],
)
"""
FIRMWARE = """\
load("@rules_cc//cc:cc_binary.bzl", "cc_binary")

platform(
    name = "board",
    constraint_values = [
        "@platforms//cpu:arm",
        "@platforms//os:none",
    ],
)

cc_binary(
    name = "firmware",
    srcs = ["main.c"],
    additional_linker_inputs = ["link.ld"],
    linkopts = [
        "-nostdlib",
        "-T$(location link.ld)",
    ],
    deps = ["//generated:digits"],
)
"""
_BAZEL = tuple("bazel bash java javac uname dirname readlink tr basename find sort tail cat sed env".split())
"""Bazel is a script, and a program in Java."""
Start = Callable[..., Workspace]


@pytest.fixture
def start(tmp_path: Path, bazel_cache: Path) -> Iterator[Start]:
    """Begin to build in a folder, `app`, with the files given, where no Python is."""
    need_bazel()
    with ExitStack() as stack:

        def started(files: Mapping[str, str], *tools: str) -> Workspace:
            write_files(tmp_path / "app", {"WORKSPACE": WORKSPACE, **files})
            block = [f"build --sandbox_block_path={path}" for path in blocked_pythons()]
            rc = [
                "build --incompatible_strict_action_env",
                "build --incompatible_enable_cc_toolchain_resolution",
                *block,
            ]
            (tmp_path / "app" / ".bazelrc").write_text("\n".join([*rc, "build --nosandbox_debug", ""]))
            env = dict(without_python(tmp_path / "bin", *_BAZEL, *tools))
            java = Path(env["PATH"], "javac").resolve().parent.parent
            env |= {"USMP_PYTHON": "/nowhere", "JAVA_HOME": str(java)}
            return stack.enter_context(served(tmp_path / "app", tmp_path, bazel_cache, env))

        yield started


def test_a_folder_builds_without_python_and_rebuilds_right(tmp_path: Path, start: Start) -> None:
    generated = two_models(tmp_path / "app") / "generated"
    app = start({"BUILD.bazel": APP})
    assert "Linking app" in app.bazel("build", "//:app").done
    check_answers(app.built("app"))
    assert app.bazel("build", "//:app").done == []

    for name in ("doorbell.ld", "doorbell_copy_table.ld"):
        with (generated / name).open("a") as file:
            file.write("/* another */\n")
        done = app.bazel("build", "//:app").done
        assert "Linking app" in done
        assert not [step for step in done if step.startswith("Compiling")]
    with (generated / "odd_even.c").open("a") as file:
        file.write("int usmp_another;\n")
    done = app.bazel("build", "//:app").done
    assert [step for step in done if step.startswith("Compiling")] == ["Compiling generated/odd_even.c"]
    assert "Linking app" in done
    app.bazel("build", "//...")
    assert app.bazel("build", "//generated:doorbell.ld", "//generated:plan.json").done == []


def test_a_folder_in_another_repository(tmp_path: Path, start: Start) -> None:
    """In a folder of it, and as its root."""
    two_models(tmp_path / "app")
    shutil.move(tmp_path / "app" / "generated", tmp_path / "models" / "deep" / "generated")
    (tmp_path / "models" / "WORKSPACE").write_text('workspace(name = "models")\n')
    app = start({"WORKSPACE": WORKSPACE + MODELS, "BUILD.bazel": APP.replace("//gen", "@models//deep/gen")})
    app.bazel("build", "//:app")
    check_answers(app.built("app"))

    shutil.move(tmp_path / "models" / "deep" / "generated", tmp_path / "root")
    shutil.rmtree(tmp_path / "models")
    (tmp_path / "root" / "WORKSPACE").write_text('workspace(name = "models")\n')
    (tmp_path / "root").rename(tmp_path / "models")
    (app.folder / "BUILD.bazel").write_text(APP.replace("//generated", "@models//"))
    app.bazel("build", "//:app")
    check_answers(app.built("app"))


def test_a_folder_that_is_the_workspace(tmp_path: Path, start: Start) -> None:
    two_models(tmp_path / "app")
    for path in (tmp_path / "app" / "generated").iterdir():
        path.rename(tmp_path / "app" / path.name)
    (tmp_path / "app" / "reader").mkdir()
    (tmp_path / "app" / "main.c").rename(tmp_path / "app" / "reader" / "main.c")
    app = start({"reader/BUILD.bazel": APP.replace("//generated", "//")})
    app.bazel("build", "//reader:app")
    check_answers(app.built("reader/app"))


def test_build_trees_of_cmake_can_be_left_out(tmp_path: Path, start: Start) -> None:
    """They hold generated folders, too."""
    shutil.copytree(two_models(tmp_path / "app") / "generated", tmp_path / "app" / "build" / "plan.usmp")
    app = start({"BUILD.bazel": APP})
    assert "//build/plan.usmp:digits" in app.bazel("query", "//...").text
    (app.folder / ".bazelignore").write_text("build\n")
    listed = app.bazel("query", "//...").text
    assert "//generated:digits" in listed
    assert "//build" not in listed


def test_two_folders_of_different_projects_and_their_pools(tmp_path: Path, start: Start) -> None:
    two_projects(tmp_path / "app")
    load = 'load("//left:usmp.bzl", left = "POOL_SIZES")\nload("//right:usmp.bzl", right = "POOL_SECTIONS")\n'
    text = APP.replace("//generated:digits", "//left:digits").replace("//generated:odd", "//right:odd")
    rule = (
        'genrule(name = "says", outs = ["said"], cmd = "echo %s %s > $@" % (left["workspace"], right["workspace"]))\n'
    )
    app = start({"BUILD.bazel": f"{load}{text}{rule}"})
    app.bazel("build", "//...")
    check_answers(app.built("app"))
    assert app.built("said").read_text() == "759 .usmp.right.workspace\n"


def test_floating_point_needs_no_further_library(tmp_path: Path, start: Start) -> None:
    (tmp_path / "usmp.toml").write_text('[project]\nname = "p"\n')
    (tmp_path / "app").mkdir()
    generate(tmp_path / "usmp.toml", tmp_path / "app" / "generated", float_net="float_net")
    main = '#include "float_net.h"\nint main(void) { return float_net_run() != USMP_OK; }\n'
    build = APP.replace('        "//generated:odd_even",\n', "").replace(":digits", ":float_net")
    app = start({"main.c": main, "BUILD.bazel": build})
    app.bazel("build", "//:app")
    assert run([app.built("app")], env={}).code == 0


@pytest.mark.parametrize("repository", ["", "@models"])
def test_a_firmware_has_its_pools_where_they_are_planned(tmp_path: Path, start: Start, repository: str) -> None:
    bare_metal(tmp_path / "app")
    shutil.copytree(EXAMPLE / "toolchain", tmp_path / "app" / "toolchain")
    generated = tmp_path / "app" / "generated"
    if repository:
        generated = Path(shutil.move(generated, tmp_path / "models" / "generated"))
        (tmp_path / "models" / "WORKSPACE").write_text('workspace(name = "models")\n')
    files = {
        "WORKSPACE": WORKSPACE + (MODELS if repository else "") + TOOLCHAIN,
        "BUILD.bazel": FIRMWARE.replace("//generated", f"{repository}//generated"),
    }
    app = start(files, *ARM)
    command = ("build", "--platforms=//:board", "//:firmware")
    app.bazel(*command)
    check(generated, app.built("firmware"))
    fragment = generated / "bare.ld"
    edit(fragment, "> TCM", "> RAM")
    done = app.bazel(*command).done
    assert "Linking firmware" in done
    assert not [step for step in done if step.startswith("Compiling")]


def test_the_files_are_as_buildifier_writes_them(tmp_path: Path) -> None:
    need("buildifier")
    two = two_projects(tmp_path / "b")
    folders = (two_models(tmp_path / "a") / "generated", two / "left", two / "right")
    files = [folder / name for folder in folders for name in ("BUILD.bazel", "usmp.bzl")]
    assert run(["buildifier", "-mode=check", "-lint=warn", *files]) == Done(0, "", "")
