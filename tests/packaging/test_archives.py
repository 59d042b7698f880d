"""Wheels and source archives: what is in them, and that anybody who builds them gets the same bytes."""

import sys
import tarfile
import time
import zipfile
from pathlib import Path

import usmp_build
from tests.support.archives import EPOCH, Builder, need_build_tools
from tests.support.processes import far_from_us, output
from tests.support.tree import ROOT, tracked

NAME = f"usmp_build-{usmp_build.__version__}"
BESIDE = ("checker/", "cmake/", "docs/errors/", "schemas/", "bazel/", "BUILD.bazel", "MODULE.bazel", "WORKSPACE")
"""What a wheel has inside of the package, and the source tree beside it."""

SHARED = ("examples/digits/", "tests/data/digits.tflite", "tests/data/odd_even.tflite")
"""What the demo needs."""

METADATA = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")


def members(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def expected() -> set[str]:
    """Every file that a wheel holds but for the core."""
    files = tracked()
    return (
        {name for name in files if name.startswith("usmp_build/")}
        | {f"usmp_build/{name}" for name in files if name.startswith(BESIDE)}
        | {f"usmp_build/share/{name}" for name in files if name.startswith(SHARED)}
        | {f"{NAME}.dist-info/{name}" for name in METADATA}
    )


def test_a_wheel_holds_every_file_of_the_package_the_core_and_no_other(wheel: Path) -> None:
    assert wheel.name.startswith(f"{NAME}-py3-none-")  # fits every Python
    (core,) = members(wheel) - expected()
    assert expected() <= members(wheel)
    assert core.startswith("_usmp_build_core.")


def test_a_source_archive_holds_the_files_that_git_knows(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.removeprefix(f"{NAME}/") for name in archive.getnames()}
    assert names == tracked() | {"PKG-INFO"}


def test_every_file_is_dated_as_asked(sdist: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as built, tarfile.open(sdist) as source:
        assert {member.date_time for member in built.infolist()} == {time.gmtime(int(EPOCH))[:6]}
        assert {member.mtime for member in source} == {int(EPOCH)}


def test_a_source_archive_is_enough_to_test(elsewhere: Builder) -> None:
    chosen = ("tests/architecture/test_docs.py", "tests/unit/manifest")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen]
    output(command, elsewhere.source, far_from_us())


def test_a_source_archive_built_from_a_source_archive_is_the_same(
    sdist: Path, elsewhere: Builder, tmp_path: Path
) -> None:
    assert elsewhere.sdist(tmp_path).read_bytes() == sdist.read_bytes()


def test_a_wheel_is_compiled_to_the_same_bytes_anywhere(wheel: Path, elsewhere: Builder, tmp_path: Path) -> None:
    again = elsewhere.wheel(tmp_path)
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


def test_without_a_compiler_it_says_what_to_do(tmp_path: Path) -> None:
    need_build_tools()
    done = Builder(ROOT, env={"CXX": str(tmp_path / "no-compiler")}).build("--wheel", tmp_path / "out")
    assert done.code != 0
    assert "install a compiler, such as g++, or take a wheel built elsewhere" in " ".join((done.out + done.err).split())
