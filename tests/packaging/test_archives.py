"""Wheels and source archives: what is in them, and that anybody who builds them gets the same bytes."""

from __future__ import annotations

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

METADATA = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "licenses/core/LICENSES.txt")


def members(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def expected() -> set[str]:
    """Every file that a wheel without core holds."""
    files = tracked()
    return (
        {name for name in files if name.startswith("usmp_build/")}
        | {f"usmp_build/{name}" for name in files if name.startswith(BESIDE)}
        | {f"usmp_build/share/{name}" for name in files if name.startswith(SHARED)}
        | {f"{NAME}.dist-info/{name}" for name in METADATA}
    )


def test_a_wheel_without_core_holds_every_file_of_the_package_and_no_other(pure_wheel: Path) -> None:
    assert pure_wheel.name == f"{NAME}-py3-none-any.whl"
    assert members(pure_wheel) == expected()


def test_a_wheel_with_core_holds_one_file_more(core_wheel: Path, pure_wheel: Path) -> None:
    (core,) = members(core_wheel) - members(pure_wheel)
    assert core.startswith("_usmp_build_core.")
    assert "none-any" not in core_wheel.name


def test_a_source_archive_holds_the_files_that_git_knows(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.removeprefix(f"{NAME}/") for name in archive.getnames()}
    assert names == tracked() | {"PKG-INFO"}


def test_every_file_is_dated_as_asked(sdist: Path, core_wheel: Path) -> None:
    with zipfile.ZipFile(core_wheel) as wheel, tarfile.open(sdist) as source:
        assert {member.date_time for member in wheel.infolist()} == {time.gmtime(int(EPOCH))[:6]}
        assert {member.mtime for member in source} == {int(EPOCH)}


def test_a_source_archive_is_enough_to_test(elsewhere: Builder) -> None:
    chosen = ("tests/architecture/test_docs.py", "tests/unit/manifest")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen]
    output(command, elsewhere.source, far_from_us())


def test_a_source_archive_made_of_a_source_archive_is_the_same(sdist: Path, elsewhere: Builder, tmp_path: Path) -> None:
    assert elsewhere.sdist(tmp_path).read_bytes() == sdist.read_bytes()


def test_a_wheel_made_of_the_source_archive_is_the_same(pure_wheel: Path, elsewhere: Builder, tmp_path: Path) -> None:
    assert elsewhere.wheel(tmp_path, core=False).read_bytes() == pure_wheel.read_bytes()


def test_the_core_is_compiled_to_the_same_bytes_anywhere(core_wheel: Path, elsewhere: Builder, tmp_path: Path) -> None:
    wheel = elsewhere.wheel(tmp_path, core=True)
    assert wheel.name == core_wheel.name
    assert wheel.read_bytes() == core_wheel.read_bytes()


def test_without_a_compiler_the_wheel_is_the_one_without_core(pure_wheel: Path, tmp_path: Path) -> None:
    need_build_tools()
    without = Builder(ROOT, env={"CXX": str(tmp_path / "no-compiler")})
    assert without.wheel(tmp_path, core=True).read_bytes() == pure_wheel.read_bytes()
