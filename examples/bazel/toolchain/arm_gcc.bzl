"""The arm-none-eabi-gcc of this machine as a toolchain.  A hermetic one would bring the compiler along."""

_BUILD = """\
load("@rules_cc//cc/toolchains:cc_toolchain.bzl", "cc_toolchain")
load(":arm_gcc_config.bzl", "arm_gcc_config")

filegroup(name = "none")

arm_gcc_config(
    name = "config",
    folder = "{folder}",
    includes = {includes},
)

cc_toolchain(
    name = "cc",
    all_files = ":none",
    compiler_files = ":none",
    dwp_files = ":none",
    linker_files = ":none",
    objcopy_files = ":none",
    strip_files = ":none",
    toolchain_config = ":config",
)

toolchain(
    name = "toolchain",
    target_compatible_with = [
        "@platforms//cpu:arm",
        "@platforms//os:none",
    ],
    toolchain = ":cc",
    toolchain_type = "@bazel_tools//tools/cpp:toolchain_type",
)
"""

# Without a compiler there is no toolchain, which matters to nobody who builds for the host.
_NO_COMPILER = """\
toolchain_type(name = "of_no_one")

filegroup(name = "none")

toolchain(
    name = "toolchain",
    toolchain = ":none",
    toolchain_type = ":of_no_one",
)
"""

def _arm_gcc_impl(repository):
    repository.file("WORKSPACE", "workspace(name = \"%s\")\n" % repository.name)
    gcc = repository.which("arm-none-eabi-gcc")
    if not gcc:
        repository.file("BUILD.bazel", _NO_COMPILER)
        return
    repository.symlink(Label("//toolchain:arm_gcc_config.bzl"), "arm_gcc_config.bzl")
    repository.file("BUILD.bazel", _BUILD.format(
        folder = gcc.dirname,
        includes = _include_folders(repository, gcc),
    ))

def _include_folders(repository, gcc):
    """Returns where the compiler looks for headers of its own: those that no rule declares."""
    said = repository.execute([gcc, "-mcpu=cortex-m55", "-mfloat-abi=hard", "-E", "-v", "-xc", "/dev/null"]).stderr
    listed = said.partition("#include <...> search starts here:")[2].partition("End of search list")[0]
    folders = [repository.path(line.strip()) for line in listed.split("\n") if line.strip()]
    return [str(folder) for folder in folders] + [str(folder.realpath) for folder in folders]

arm_gcc = repository_rule(
    implementation = _arm_gcc_impl,
    configure = True,
    environ = ["PATH"],
    local = True,
)
