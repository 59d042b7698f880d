"""Bazel: what a plan's kernels call is in its `deps`."""

import shutil
from pathlib import Path

from tests.support.bazel import need_bazel, written
from tests.support.bazel_files import FILES, MANIFEST
from tests.support.cmsis_nn import stand_in
from tests.support.kernels.driver import HEADERS
from usmp_build.request import Isa

BUILD = """\
load("@rules_cc//cc:cc_library.bzl", "cc_library")
load("@rules_cc//cc:cc_test.bzl", "cc_test")
load("@usmp_build//bazel:defs.bzl", "usmp_library", "usmp_model", "usmp_plan")

cc_library(
    name = "cmsis-nn",
    srcs = [
        "arm/reference.h",
        "arm/stand_in.c",
        "arm/usmp.h",
    ],
    hdrs = ["arm/include/arm_nnfunctions.h"],
    includes = ["arm/include"],
)

usmp_model(
    name = "digits",
    src = "models/digits.tflite",
)

usmp_plan(
    name = "reader",
    manifest = "usmp.toml",
    models = [":digits"],
    pool_bytes = ["weights"],
    deps = [":cmsis-nn"],
)

usmp_library(
    name = "reader_library",
    plan = ":reader",
)

cc_test(
    name = "links_test",
    srcs = ["links_test.c"],
    deps = [":reader_library"],
)
"""
TEST = '#include "digits.h"\nint main(void) { return digits_run() != USMP_OK; }\n'


def test_a_plan_links_its_dependencies(tmp_path: Path, bazel_cache: Path) -> None:
    need_bazel()
    manifest = f'{MANIFEST}[targets.cpu]\nkernels = "cmsis-nn"\n'
    files = {**FILES, "BUILD.bazel": BUILD, "usmp.toml": manifest, "links_test.c": TEST}
    with written(tmp_path, bazel_cache, files) as workspace:
        arm = workspace.folder / "arm"
        (arm / "include").mkdir(parents=True)
        _, (source,) = stand_in(arm, Isa.PORTABLE)
        shutil.copyfile(source, arm / "stand_in.c")
        shutil.copyfile(source.parent / "arm_nnfunctions.h", arm / "include" / "arm_nnfunctions.h")
        shutil.copyfile(HEADERS / "usmp.h", arm / "usmp.h")
        ran = workspace.bazel("test", "//:links_test")
        assert "Linking links_test" in ran.done
