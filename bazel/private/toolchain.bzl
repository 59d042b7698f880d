"""The rule usmp_toolchain, and how rules find what was registered."""

load(":providers.bzl", "UsmpToolchainInfo")

TOOLCHAIN_TYPE = str(Label("//bazel:toolchain_type"))

def find_toolchain(ctx):
    """Returns the UsmpToolchainInfo for the execution platform of a rule, or of a group of it."""
    return ctx.toolchains[TOOLCHAIN_TYPE].usmp

def _usmp_toolchain_impl(ctx):
    command = ctx.attr.generator[DefaultInfo]
    usmp = UsmpToolchainInfo(generator = command.files_to_run, runfiles = command.default_runfiles)
    return [platform_common.ToolchainInfo(usmp = usmp), usmp]

usmp_toolchain = rule(
    implementation = _usmp_toolchain_impl,
    doc = """A generator for toolchain(toolchain_type = "@usmp_build//bazel:toolchain_type").""",
    attrs = {
        "generator": attr.label(
            doc = "A program with the command line of `usmp-build`, of the version of these rules.",
            cfg = "exec",
            executable = True,
            mandatory = True,
        ),
    },
    provides = [UsmpToolchainInfo],
)
