"""Bazel's files beside what they repeat: names of generated files, packages, versions; and what buildifier says."""

import filecmp
import re
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest

import usmp_build
from tests.support.environments import empty
from tests.support.processes import Done, run
from tests.support.tools import need
from tests.support.tree import ROOT, copy
from usmp_build import naming

FILES = ("BUILD.bazel", "MODULE.bazel", "WORKSPACE", "bazel", "examples/bazel")
PAGE = (ROOT / "docs" / "build-systems.md").read_text(encoding="utf-8")
RULES = re.findall(r"(?m)^usmp_(\w+) = ", (ROOT / "bazel" / "defs.bzl").read_text(encoding="utf-8"))


def test_declared_files_are_the_generated_ones() -> None:
    rules = starlark("names.bzl")
    declared = chain.from_iterable(rules["plan_files"]("reader", ["weights", "scales"]).values())
    assert sorted(declared) == sorted(naming.plan_files("reader", ["weights", "scales"]))
    assert sorted(chain.from_iterable(rules["model_files"]("kws").values())) == sorted(naming.model_files("kws"))


def starlark(name: str) -> dict[str, Callable[..., dict[str, list[str]]]]:
    """The functions of a file, which is Starlark and Python."""
    functions: dict[str, Callable[..., dict[str, list[str]]]] = {}
    exec((ROOT / "bazel" / "private" / name).read_text(encoding="utf-8"), functions)
    return functions


def test_the_page_has_all_rules() -> None:
    assert sorted([*re.findall(r"(?m)^\| `usmp_(\w+)` \|", PAGE), "toolchain"]) == sorted(RULES)
    assert "usmp_toolchain(\n" in PAGE


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "toolchain"])
def test_the_page_has_all_attributes(rule: str) -> None:
    text = (ROOT / "bazel" / "private" / f"{rule}.bzl").read_text(encoding="utf-8")
    attributes = re.findall(r'(?m)^ +"(\w+)": attr\.', text)
    assert attributes
    (row,) = re.findall(rf"(?m)^\| `usmp_{rule}` \| (.*) \|$", PAGE)
    told = [name for item in row.split(" · ") for name in re.findall(r"`(\w+)`", item.partition(":")[0])]
    assert sorted(told) == sorted(attributes)


def test_the_page_has_all_output_groups() -> None:
    declared = starlark("names.bzl")
    groups = {*declared["plan_files"]("reader", []), *declared["model_files"]("kws"), "all_generated", "report"}
    rows = PAGE.partition("\n| output group of a plan | |\n|---|---|\n")[2].partition("\n\n")[0]
    told = [name for row in rows.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(told) == sorted(groups)


def test_packages_of_the_generator() -> None:
    """What pyproject.toml asks for is locked with hashes, given to the generator, and looked for in interpreters."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = text.partition("\ndependencies = [")[2].partition("]")[0]
    packages = re.findall(r'"([a-z0-9_-]+)', listed)
    assert len(packages) >= 4
    lock = (ROOT / "bazel" / "requirements.lock").read_text(encoding="utf-8")
    locked = re.findall(r"(?m)^([a-z0-9-]+)==\S+ [^\n]*\\\n    --hash=sha256:[0-9a-f]{64}", lock)
    assert set(packages) <= set(locked)
    assert set(re.findall(r"(?m)^([a-z0-9-]+)==", lock)) == set(locked)
    build = (ROOT / "BUILD.bazel").read_text(encoding="utf-8")
    assert re.findall(r'"@usmp_build_pypi//([a-z0-9_-]+)"', build) == sorted(packages)
    probe = (ROOT / "bazel" / "workspace" / "python.bzl").read_text(encoding="utf-8")
    assert f"_PACKAGES = {sorted(packages)}".replace("'", '"') in probe


def test_the_generator_says_where_modules_find_it(tmp_path: Path) -> None:
    """With MODULE.bazel an installed package has no sources, and the interpreter none of its modules."""
    python = empty(tmp_path / "venv").python
    message = "with MODULE.bazel, usmp_build must be the source tree or the sdist: docs/build-systems.md"
    expected = Done(1, "", f"{python} has no module usmp_build; {message}\n")
    assert run([python, ROOT / "bazel" / "generator.py"], tmp_path) == expected


def test_versions_agree() -> None:
    for module in ("MODULE.bazel", "examples/bazel/MODULE.bazel", "docs/build-systems.md"):
        text = (ROOT / module).read_text(encoding="utf-8")
        (version,) = re.findall(r'name = "usmp_build",\s+version = "([^"]+)"', text)
        assert version == usmp_build.__version__


@pytest.mark.parametrize(
    ("copy", "original"),
    [
        ("digits/digits.tflite", "tests/data/digits.tflite"),
        ("odd_even/odd_even.tflite", "tests/data/odd_even.tflite"),
        ("images.h", "examples/digits/images.h"),
    ],
)
def test_what_the_example_has_copies_of(copy: str, original: str) -> None:
    """Files outside of a workspace have no labels."""
    assert filecmp.cmp(ROOT / "examples" / "bazel" / copy, ROOT / original, shallow=False)


def test_buildifier_is_content(tmp_path: Path) -> None:
    need("buildifier")
    folder = copy(tmp_path / "copy", *FILES)  # for Bazel leaves links in workspaces
    assert run(["buildifier", "-mode=check", "-lint=warn", "-r", "."], folder) == Done(0, "", "")
