"""Compiler caches: C that was compiled in one build tree is not compiled again in another one."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.bazel import need_bazel, written
from tests.support.cli import succeed
from tests.support.cmake import GENERATORS, PYTHON, Project, need_cmake
from tests.support.files import write_files
from tests.support.processes import environment, output
from tests.support.tools import need

PLANNED = """
cmake_minimum_required(VERSION 3.22)
project(test C)
find_package(usmp_build CONFIG REQUIRED)
usmp_add_manifest(plan MANIFEST usmp.toml)
add_executable(app main.c)
target_link_libraries(app PRIVATE usmp::digits)
"""
CHECKED_IN = """
cmake_minimum_required(VERSION 3.22)
project(test C)
add_subdirectory(generated)
add_executable(app main.c)
target_link_libraries(app PRIVATE usmp::digits)
"""
MAKEFILE = """
include generated/usmp.mk
CPPFLAGS += $(TEST_CPPFLAGS)
app: main.o $(TEST_OBJECTS)
	$(CC) $(filter %.o,$^) $(TEST_LDLIBS) -o $@
"""
BAZEL = """
load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
cc_binary(name = "app", srcs = ["main.c"], deps = ["//generated:digits"])
"""
MANIFEST = '[project]\nname = "test"\n[plan]\nrows = false\n[models.digits]\npath = "DATA/digits.tflite"\n'
MAIN = '#include "digits.h"\nint main(void) { return digits_run() == USMP_OK ? 0 : 1; }\n'
FILES = 4
"""How many C files there are: the model, pools, kernels and main.c."""


@dataclass(frozen=True)
class Cache:
    """A cache of its own, in the environment of builds."""

    env: Mapping[str, str]

    def hits_and_misses(self) -> tuple[int, int]:
        """How often C was in the cache, and how often it had to be compiled."""
        lines = output(["ccache", "--print-stats"], env=self.env).splitlines()
        counts = dict(line.split("\t") for line in lines)
        hits = int(counts["direct_cache_hit"]) + int(counts["preprocessed_cache_hit"])
        return hits, int(counts["cache_miss"])


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """An empty cache, told that paths below the test's folder are not to matter."""
    need("ccache")
    ours = {"CCACHE_DIR": str(tmp_path / "cache"), "CCACHE_BASEDIR": str(tmp_path), "CCACHE_NOHASHDIR": "1"}
    return Cache(environment("CCACHE_", "CMAKE_") | ours)


def source(folder: Path, lists: str) -> Path:
    """Write a project, and generate files into it if it has them checked in."""
    write_files(folder, {"CMakeLists.txt": lists, "Makefile": MAKEFILE, "usmp.toml": MANIFEST, "main.c": MAIN})
    if lists == CHECKED_IN:
        succeed("generate", folder / "usmp.toml", "--out", folder / "generated")
    return folder


@pytest.mark.parametrize(
    ("lists", "generator"),
    [*((PLANNED, generator) for generator in GENERATORS), (CHECKED_IN, "Ninja")],
    ids=[*(f"planned-{generator}" for generator in GENERATORS), "checked in-Ninja"],
)
def test_another_build_tree_compiles_nothing(
    tmp_path: Path, find: str, cache: Cache, lists: str, generator: str
) -> None:
    need_cmake(generator)
    for place, counts in (("here", (0, FILES)), ("over there", (FILES, FILES))):
        folder = source(tmp_path / place, lists)
        project = Project(folder, folder / "build", generator, env=cache.env)
        project.configure(find, PYTHON, "-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_BUILD_TYPE=Debug")
        assert "link app" in project.build()
        assert cache.hits_and_misses() == counts


def test_another_folder_of_make_compiles_nothing(tmp_path: Path, cache: Cache) -> None:
    need("make")
    for place, counts in (("here", (0, FILES)), ("over there", (FILES, FILES))):
        folder = source(tmp_path / place, CHECKED_IN)
        output(["make", "app", "CC=ccache cc", "CFLAGS=-g"], folder, cache.env)
        assert cache.hits_and_misses() == counts


def test_another_workspace_compiles_nothing(tmp_path: Path) -> None:
    """A checked-in folder; of what Bazel plans itself test_bazel.py has the same."""
    need_bazel()
    steps = []
    for place in ("here", "there/and/further"):
        source(tmp_path / place / "app", CHECKED_IN)
        with written(tmp_path / place, tmp_path / "cache", {"BUILD.bazel": BAZEL}) as workspace:
            steps.append(workspace.bazel("build", "//:app").steps)
    first, second = steps
    assert {"Compiling generated/digits.c", "Linking app"} <= {step.message for step in first}
    assert {step.message for step in first} == {step.message for step in second}
    assert not any(step.was_cached for step in first)
    assert all(step.was_cached for step in second)
