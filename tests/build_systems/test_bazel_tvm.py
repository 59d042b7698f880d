"""An ONNX model and a .tflite model in one plan by Bazel, whose Python has TVM: both are linked, and share memory."""

import json
from pathlib import Path

from tests.support.bazel import need_bazel, written
from tests.support.tvm import PYTHON, needs_tvm, write_models

BUILD = """
load("@rules_cc//cc:cc_test.bzl", "cc_test")
load("@usmp_build//bazel:defs.bzl", "usmp_library", "usmp_model", "usmp_plan")

usmp_model(
    name = "net",
    src = "quantized.onnx",
)

usmp_model(
    name = "digits",
    src = "models/digits.tflite",
)

usmp_plan(
    name = "plan",
    manifest = "usmp.toml",
    models = [
        ":digits",
        ":net",
    ],
    project = "reader",
)

usmp_library(
    name = "models",
    plan = ":plan",
)

cc_test(
    name = "net_test",
    srcs = ["net_test.c"],
    deps = [":models"],
)
"""
MAIN = """
#include <string.h>

#include "digits.h"
#include "net.h"

int main(void)
{
    memset(net_map_inputs().x, 3, NET_X_SIZE); /* the zero point */
    return net_run() != USMP_OK || net_map_outputs().y[0] != 3 || digits_run() != USMP_OK;
}
"""
MANIFEST = """
[project]
name = "reader"
[pools.sram]
access = "rw"
[pools.flash]
access = "ro"
"""


@needs_tvm
def test_an_onnx_model_is_built_and_runs(tmp_path: Path, bazel_cache: Path) -> None:
    need_bazel()
    files = {"BUILD.bazel": BUILD, "net_test.c": MAIN, "usmp.toml": MANIFEST}
    with written(tmp_path, bazel_cache, files, {"USMP_PYTHON": PYTHON}) as workspace:
        write_models(workspace.folder, "quantized")
        ran = workspace.bazel("test", "//:net_test", "--test_output=errors")
        assert "Compiling plan/net.c" in ran.done, ran.text
        workspace.bazel("build", "//:plan", "--output_groups=plan_json")
        plan = json.loads(workspace.built("plan/plan.json").read_text(encoding="utf-8"))
        assert [model["name"] for model in plan["models"]] == ["digits", "net"]
