"""CMake: how the package is found, which interpreter it takes, and what it says of wrong calls."""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
import venv
from pathlib import Path

import pytest

import usmp_build
from tests.conftest import ROOT
from tests.support.cli import call
from tests.support.cmake import PYTHON, Project, need, write_project

MANIFEST = '[project]\nname = "p"\n[models.digits]\npath = "DATA/digits.tflite"\n'
START = "cmake_minimum_required(VERSION 3.22)\nproject(test C)\n"
FOUND = START + "find_package(usmp_build CONFIG REQUIRED)\n"
QUICK = ("-DCMAKE_C_COMPILER_FORCED=ON", "-DCMAKE_C_COMPILER_ID_RUN=ON")
"""Nothing is compiled: CMake need not get to know the compiler."""


def project(tmp_path: Path, lists: str, manifest: str = MANIFEST) -> Project:
    need("Unix Makefiles")
    return Project(write_project(tmp_path / "source", {"CMakeLists.txt": lists, "usmp.toml": manifest}), tmp_path / "b")


def interpreter(folder: Path, script: str) -> Path:
    """Something that is called like an interpreter."""
    path = folder / "interpreter"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def stub(tmp_path: Path) -> str:
    """The option for an interpreter that answers at once, where only CMake is tested."""
    version = f'echo "usmp_build {usmp_build.__version__}"'
    outputs = r"printf 'p\tp.h\n<model>\t<model>.c\ndigits\tdigits.c\n'"
    return f"-DUSMP_BUILD_PYTHON={interpreter(tmp_path, f'case $* in *--version) {version};; *) {outputs};; esac')}"


def said(text: str) -> str:
    """What CMake said, without the line breaks that it puts into messages."""
    return re.sub(r"\s+", " ", text)


PLAN = "usmp_add_plan(plan MANIFEST usmp.toml)\n"


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        ("usmp_add_plan(plan)", "usmp_add_plan(plan): MANIFEST needs a value"),
        ("usmp_add_plan(plan MANIFEST)", "usmp_add_plan(plan): MANIFEST needs a value"),
        ("usmp_add_plan(plan MANIFEST no.toml)", "usmp_add_plan(plan): there is no manifest /"),
        ("usmp_add_plan(plan MANIFEST usmp.toml STRICT)", "usmp_add_plan(plan): unknown argument: STRICT"),
        (PLAN + PLAN, "usmp_add_plan(plan): there is another target plan; choose another name"),
        (PLAN, "usmp_add_plan(plan): no add_usmp_model() adds a model to this plan"),
        ("add_usmp_model(kws)", "add_usmp_model(kws): PLAN needs a value"),
        ("add_usmp_model(kws PLAN plan)", "add_usmp_model(kws): there is no plan plan; call usmp_add_plan(plan ...)"),
        ("add_library(x INTERFACE)\nadd_usmp_model(kws PLAN x)", "add_usmp_model(kws): there is no plan x; call"),
        (PLAN + "add_usmp_model(kws PLAN plan FILE x)", "add_usmp_model(kws): unknown argument: FILE x"),
        (PLAN + "add_usmp_model(kws PLAN plan MODEL)", "add_usmp_model(kws): MODEL needs a value"),
        (PLAN + "add_usmp_model(kws PLAN plan MODEL x.tflite)", "add_usmp_model(kws): there is no file /"),
        (PLAN + "add_usmp_model(k-ws PLAN plan)", "add_usmp_model(k-ws): a model's name becomes part of C identifiers"),
        (PLAN + "add_usmp_model(digits PLAN plan)\n" * 2, "add_usmp_model(digits): plan plan has this model already"),
        (PLAN + "add_usmp_model(plan PLAN plan)", "add_usmp_model(plan): there is another target plan; choose"),
        ("usmp_add_manifest(plan MANIFEST usmp.toml ALL)", "usmp_add_plan(plan): unknown argument: ALL"),
        (PLAN + "usmp_link_pools(app plan)", "usmp_link_pools(app plan): there is no target app yet"),
        (PLAN + "usmp_link_pools(plan plan CHECK)", "CHECK reads the image of an executable, which plan is not"),
        (PLAN + "usmp_link_pools(plan plan x)", "usmp_link_pools(plan plan): unknown argument: x"),
    ],
)
def test_a_wrong_call_is_an_error_in_one_sentence(
    tmp_path: Path, find: str, stub: str, calls: str, message: str
) -> None:
    code, text = project(tmp_path, FOUND + calls + "\n").try_to_configure(find, stub, *QUICK)
    assert code != 0
    assert message in said(text)


def test_an_executable_may_be_called_by_its_alias(tmp_path: Path, find: str, stub: str) -> None:
    lists = (
        FOUND
        + "usmp_add_manifest(plan MANIFEST usmp.toml)\nadd_executable(app main.c)\nadd_executable(my::app ALIAS app)\n"
    )
    case = project(tmp_path, lists + "usmp_link_pools(my::app plan CHECK)\n")
    (case.source / "main.c").touch()
    case.configure(find, stub, *QUICK)
    rules = (case.binary / "CMakeFiles" / "app.dir" / "build.make").read_text()
    assert "Checking the pools of app" in rules


def test_a_project_without_c_is_told_so(tmp_path: Path, find: str, stub: str) -> None:
    lists = FOUND.replace("test C", "test NONE") + PLAN
    code, text = project(tmp_path, lists).try_to_configure(find, stub)
    assert code != 0
    assert "write project(... LANGUAGES C)" in said(text)


def test_messages_of_the_tool_are_shown_as_they_are(tmp_path: Path, find: str) -> None:
    """At configure time for the manifest, at build time for what it names."""
    case = project(tmp_path, FOUND + "usmp_add_manifest(plan MANIFEST usmp.toml)\n", "[project]\nnam = 'p'\n")
    manifest = case.source / "usmp.toml"
    code, text = case.try_to_configure(find, PYTHON, *QUICK)
    assert code != 0
    assert f"{manifest}:2:1: error[M105]: " in text
    assert "\n    2 | nam = 'p'\n      | ^^^\nhelp: " in text
    manifest.write_text("[project]\nname = 'p'\n[models.kws]\npath = 'kws.tflite'\n")
    case.configure(find, PYTHON, *QUICK)
    code, text = case.try_to_build("--target", "plan_gen")
    assert code != 0
    assert f'{manifest}:4:8: error[M101]: cannot read "kws.tflite": no such file\n' in text


@pytest.mark.parametrize("version", ["", "0", "0.1", "0.1.0", "0.1...<0.9"])
def test_versions_that_will_do(tmp_path: Path, find: str, stub: str, version: str) -> None:
    lists = FOUND.replace("usmp_build CONFIG", f"usmp_build {version} CONFIG") + 'message("v${usmp_build_VERSION}.")\n'
    assert f"v{usmp_build.__version__}." in project(tmp_path, lists).configure(find, stub, *QUICK)


@pytest.mark.parametrize("version", ["0.0", "0.2", "1", "0.2...<0.9", "0.0...<0.1.0"])
def test_versions_that_will_not_do(tmp_path: Path, find: str, stub: str, version: str) -> None:
    lists = FOUND.replace("usmp_build CONFIG", f"usmp_build {version} CONFIG")
    code, text = project(tmp_path, lists).try_to_configure(find, stub, *QUICK)
    assert code != 0
    assert f"version: {usmp_build.__version__}" in text


@pytest.mark.parametrize(
    "lists",
    [
        "include(FetchContent)\nFetchContent_Declare(usmp_build SOURCE_DIR [[ROOT]])\n"
        "FetchContent_MakeAvailable(usmp_build)\nfind_package(usmp_build REQUIRED)\n",
        "add_subdirectory([[ROOT]] usmp_build EXCLUDE_FROM_ALL)\n",
        "include([[ROOT/cmake/UsmpAddPlan.cmake]])\n",
    ],
    ids=["FetchContent", "add_subdirectory", "include"],
)
def test_the_source_tree_will_do(tmp_path: Path, lists: str) -> None:
    case = project(tmp_path, START + lists + "usmp_add_manifest(plan MANIFEST usmp.toml)\n")
    case.configure(PYTHON, *QUICK)
    assert case.build("--target", "plan_gen") == ["plan"]


def test_the_tool_tells_where_its_cmake_files_are() -> None:
    assert Path(call("--cmake-dir").out.strip()).resolve() == ROOT / "cmake"


def test_an_installed_package_takes_the_interpreter_of_its_environment(tmp_path: Path, tree: Path) -> None:
    """No more is said than where the package is; no other Python has it."""
    home = tmp_path / "a venv"
    venv.create(home, with_pip=False)
    site = next(home.glob("lib/python*/site-packages"))
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    shutil.copytree(tree / "usmp_build", site / "usmp_build", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(tree / "cmake", site / "usmp_build" / "cmake")
    case = project(tmp_path, FOUND + "usmp_add_manifest(plan MANIFEST usmp.toml)\n")
    case.configure(f"-Dusmp_build_DIR={site}/usmp_build/cmake", *QUICK)
    assert case.build("--target", "plan_gen") == ["plan"]
    assert f"{site}/usmp_build/pipeline.py".replace(" ", "\\ ") in stamp(case).with_suffix(".stamp.d").read_text()
    assert not list((site / "usmp_build").rglob("__pycache__"))


def test_another_usmp_build_plans_again(tmp_path: Path, tree: Path) -> None:
    """Even one that has lost a file."""
    other = shutil.copytree(tree, tmp_path / "tree")
    extra = other / "usmp_build" / "emitters" / "extra.py"
    extra.write_text("")
    case = project(tmp_path, FOUND + "usmp_add_manifest(plan MANIFEST usmp.toml)\n")
    case.configure(f"-Dusmp_build_DIR={other}/cmake", PYTHON, *QUICK)
    assert case.build("--target", "plan_gen") == ["plan"]
    extra.unlink()
    assert case.build("--target", "plan_gen") == ["plan"]
    assert case.build("--target", "plan_gen") == []
    template = other / "usmp_build" / "emitters" / "templates" / "pools.c.j2"
    template.write_text(template.read_text() + "/* new */\n")
    assert case.build("--target", "plan_gen") == ["plan"]
    assert "/* new */" in (case.generated / "p_pools.c").read_text()


@pytest.mark.parametrize(
    "variable", ["USMP_BUILD_PYTHON", "Python3_EXECUTABLE", "Python_EXECUTABLE", "PYTHON_EXECUTABLE"]
)
def test_an_interpreter_without_the_tool_is_an_error_with_a_cure(tmp_path: Path, tree: Path, variable: str) -> None:
    other = interpreter(tmp_path, "echo 'No module named usmp_build' >&2; exit 1")
    case = project(tmp_path, FOUND)
    code, text = case.try_to_configure(f"-Dusmp_build_DIR={tree}/cmake", f"-D{variable}={other}", *QUICK)
    assert code != 0
    assert f"{other} cannot run usmp_build {usmp_build.__version__} (No module named usmp_build)" in said(text)
    assert f'  "{other}" -m pip install "{tree}"\n' in text


def test_a_package_that_is_optional_may_be_missing(tmp_path: Path, find: str) -> None:
    lists = START + 'find_package(usmp_build QUIET)\nif(NOT usmp_build_FOUND)\nmessage("without it")\nendif()\n'
    other = interpreter(tmp_path, "exit 1")
    text = project(tmp_path, lists).configure(find, f"-DUSMP_BUILD_PYTHON={other}", *QUICK)
    assert "without it\n" in text
    assert "cannot run" not in text


def test_another_version_of_the_tool_is_refused(tmp_path: Path, find: str) -> None:
    other = interpreter(tmp_path, "echo 'usmp_build 0.0.1'")
    code, text = project(tmp_path, FOUND).try_to_configure(find, f"-DUSMP_BUILD_PYTHON={other}", *QUICK)
    assert code != 0
    assert f"cannot run usmp_build {usmp_build.__version__} (usmp_build 0.0.1)" in said(text)


def stamp(case: Project) -> Path:
    return case.binary / "CMakeFiles" / "plan.usmp.stamp"


def test_the_folder_and_the_path_have_no_say(tmp_path: Path, find: str) -> None:
    """Neither a module in the folder where the build runs, nor other tools of this name."""
    case = project(tmp_path, FOUND + "usmp_add_manifest(plan MANIFEST usmp.toml)\n")
    fake = write_project(
        tmp_path / "fake", {"usmp_build/__init__.py": "raise SystemExit(7)\n", "usmp-build": "#!/bin/sh\nexit 7\n"}
    )
    (fake / "usmp-build").chmod(0o755)
    shutil.copytree(fake / "usmp_build", case.binary / "usmp_build")
    env = os.environ | {"PYTHONPATH": str(fake), "PATH": f"{fake}{os.pathsep}{os.environ['PATH']}"}
    case = Project(case.source, case.binary, case.generator, env)
    case.configure(find, PYTHON, *QUICK)
    assert case.build("--target", "plan_gen") == ["plan"]
