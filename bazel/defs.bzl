"""Rules that plan the memory of all ML models of a firmware, and build the C that comes of it.

docs/build-systems.md explains them.
"""

load("//bazel/private:elf_test.bzl", _usmp_elf_test = "usmp_elf_test")
load("//bazel/private:library.bzl", _usmp_library = "usmp_library")
load("//bazel/private:linker_script.bzl", _usmp_linker_script = "usmp_linker_script")
load("//bazel/private:model.bzl", _usmp_model = "usmp_model")
load("//bazel/private:plan.bzl", _usmp_plan = "usmp_plan")
load(
    "//bazel/private:providers.bzl",
    _UsmpModelInfo = "UsmpModelInfo",
    _UsmpPlanInfo = "UsmpPlanInfo",
    _UsmpToolchainInfo = "UsmpToolchainInfo",
)
load("//bazel/private:toolchain.bzl", _usmp_toolchain = "usmp_toolchain")

usmp_elf_test = _usmp_elf_test
usmp_library = _usmp_library
usmp_linker_script = _usmp_linker_script
usmp_model = _usmp_model
usmp_plan = _usmp_plan
usmp_toolchain = _usmp_toolchain

UsmpModelInfo = _UsmpModelInfo
UsmpPlanInfo = _UsmpPlanInfo
UsmpToolchainInfo = _UsmpToolchainInfo
