"""An installed wheel, and an editable installation: each finds all that belongs to it, far from the source tree."""

import tarfile
from pathlib import Path
from shlex import split

import usmp_build
from tests.support.cli import TWO_MODELS, call, manifest
from tests.support.environments import Environment
from tests.support.tree import ROOT
from tests.support.verbs import COMMANDS, prepare
from usmp_build.cli import VERBS

VERSION = f"usmp_build {usmp_build.__version__}\n"

ENTRY_POINTS = """
from importlib.metadata import entry_points
from importlib.resources import files

(console,) = (point for point in entry_points(group="console_scripts") if point.name == "usmp-build")
pipx = {point.name: point.load() for point in entry_points(group="pipx.run")}
assert pipx["usmp-build"] is pipx["usmp_build"] is console.load()
(root,) = (point for point in entry_points(group="cmake.root") if point.name == "usmp_build")
assert (files(root.load()) / "cmake" / "usmp_buildConfig.cmake").is_file()
"""
"""As pipx and scikit-build-core look for them."""


def test_the_command_runs_by_its_name_and_as_a_module(installed: Environment) -> None:
    assert installed.usmp("--version") == VERSION
    assert installed.passes("python", "-m", "usmp_build", "--version") == VERSION


def test_entry_points_lead_to_what_they_promise(installed: Environment) -> None:
    installed.passes("python", "-c", ENTRY_POINTS)


def test_schemas_and_templates_are_installed(installed: Environment, tmp_path: Path) -> None:
    assert installed.usmp("schema") == (ROOT / "schemas" / "usmp.schema.json").read_text(encoding="utf-8")
    place = manifest(tmp_path, TWO_MODELS)
    installed.usmp("generate", place, "--out", tmp_path / "installed")
    assert call("generate", place, "--out", tmp_path / "tree").code == 0
    assert contents(tmp_path / "installed") == contents(tmp_path / "tree")
    installed.usmp("report", tmp_path / "tree", "--out", tmp_path / "installed.html")
    assert call("report", tmp_path / "tree", "--out", tmp_path / "tree.html").code == 0
    assert (tmp_path / "installed.html").read_bytes() == (tmp_path / "tree.html").read_bytes()


def test_error_codes_are_explained(installed: Environment) -> None:
    assert installed.usmp("explain", "P502") == call("explain", "P502").out


def test_an_installed_package_names_folders_of_its_own_for_cmake_and_bazel(from_wheel: Environment) -> None:
    cmake, bazel = folders(from_wheel)
    assert (cmake, bazel) == (bazel / "cmake", from_wheel.packages.resolve() / "usmp_build")


def test_an_editable_installation_names_folders_of_the_source_tree(editable: Environment, source: Path) -> None:
    assert folders(editable) == [source.resolve() / "cmake", source.resolve()]


def folders(environment: Environment) -> list[Path]:
    """The folders for CMake and Bazel."""
    cmake, bazel = (Path(environment.usmp(option).strip()) for option in ("--cmake-dir", "--bazel-dir"))
    assert (cmake / "usmp_buildConfig.cmake").is_file()
    assert all((bazel / name).is_file() for name in ("MODULE.bazel", "WORKSPACE", "BUILD.bazel", "bazel/defs.bzl"))
    return [cmake, bazel]


def test_an_editable_installation_follows_the_source_tree(editable: Environment, source: Path) -> None:
    added = source / "usmp_build" / "added.py"
    added.write_text("ANSWER = 42\n")
    assert editable.passes("python", "-c", "from usmp_build.added import ANSWER; print(ANSWER)") == "42\n"


def test_an_editable_installation_leaves_no_file_in_the_source_tree(
    editable: Environment, source: Path, sdist: Path
) -> None:
    assert editable.python.exists()
    with tarfile.open(sdist) as archive:
        assert names(source) - {"usmp_build/added.py"} == {name.partition("/")[2] for name in archive.getnames()}


def test_every_verb_works_with_what_the_wheel_requires(bare: Environment) -> None:
    """The environment of README's first command, before the second one installs what tests need."""
    assert bare.run("python", "-c", "import pytest").code != 0
    for verb in VERBS:
        assert bare.usmp(verb, "--help").startswith(f"usage: usmp-build {verb} ")
    assert bare.run("usmp-build").err.startswith("usage: usmp-build ")
    prepare(bare.folder)
    for line in COMMANDS.splitlines():
        bare.usmp(*split(line))
    bare.check()


def test_an_installed_package_has_all_that_it_requires(from_wheel: Environment) -> None:
    from_wheel.check()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def names(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
