"""The files of a Bazel workspace with one plan of two models."""

from tests.support.tree import text_file

BUILD = """\
load("@rules_cc//cc:cc_library.bzl", "cc_library")
load("@rules_cc//cc:cc_test.bzl", "cc_test")
load("@usmp_build//bazel:defs.bzl", "usmp_library", "usmp_model", "usmp_plan")

usmp_model(
    name = "digits",
    src = "models/digits.tflite",
    workspace_pools = ["sram"],
)

# A model that the build makes, at the same time as another, under another name.
genrule(
    name = "made",
    srcs = ["models/odd_even.tflite"],
    outs = ["made.tflite"],
    cmd = "cp $< $@",
)

usmp_model(
    name = "parity_model",
    src = ":made",
    concurrent_with = ["digits"],
    constant_pools = ["weights"],
    model_name = "parity",
)

usmp_plan(
    name = "reader",
    copts = ["-DOF_THE_PLAN"],
    defines = ["NDEBUG"],
    manifest = "usmp.toml",
    models = [
        ":digits",
        ":parity_model",
    ],
    pool_bytes = ["weights"],
)

usmp_library(
    name = "parity",
    models = [":parity_model"],
    plan = ":reader",
)

cc_test(
    name = "parity_test",
    srcs = ["parity_test.c"],
    features = ["layering_check"],
    deps = [":parity"],
)

# These names are that of the plan with that of a model.
cc_library(
    name = "reader_digits",
    srcs = ["named.c"],
)

usmp_plan(
    name = "reader_parity",
    manifest = "-src.toml",
    models = [":digits"],
    project = "reader",
)

filegroup(
    name = "weights",
    srcs = [":reader"],
    output_group = "pool_bytes",
)
"""

MANIFEST = """\
[project]
name = "reader"

[pools.tcm]
access = "rw"

[pools.sram]
access = "rw"

[pools.flash]
access = "ro"

[pools.weights]
access = "ro"
owner = "application"
"""

ANOTHER = """\
load("@usmp_build//bazel:defs.bzl", "usmp_model")

# In no plan; there another model is called so.
usmp_model(
    name = "parity",
    src = "parity.tflite",
    visibility = ["//visibility:public"],
)
"""

PARITY = text_file("bazel_files_parity.c")

FILES = {
    "BUILD.bazel": BUILD,
    "usmp.toml": MANIFEST,
    "-src.toml": MANIFEST.partition("[pools.weights]")[0],  # begins like an option
    "another/BUILD.bazel": ANOTHER,
    "parity_test.c": PARITY,
    "named.c": "int named;\n",
}
