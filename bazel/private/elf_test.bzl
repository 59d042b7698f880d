"""The rule usmp_elf_test."""

load(":providers.bzl", "UsmpPlanInfo")
load(":toolchain.bzl", "TOOLCHAIN_TYPE", "find_toolchain")

_SCRIPT = """\
#!/bin/sh
exec './{generator}' check --elf='{image}' -- '{plan}'
"""

# The check runs where the generator does.  Without a group of its own, Bazel 9 would look for a machine that is like the
# board.  Bazel 4 runs tests where it builds; to it groups are an experiment.
_GROUPS = {
    "exec_groups": {"test": exec_group(toolchains = [TOOLCHAIN_TYPE])},
} if hasattr(config_common, "toolchain_type") else {}

def _usmp_elf_test_impl(ctx):
    toolchain = find_toolchain(ctx.exec_groups["test"] if _GROUPS else ctx)
    generator = toolchain.generator.executable
    plan = ctx.attr.plan[UsmpPlanInfo].plan_json
    image = ctx.file.binary
    paths = {
        "generator": generator.short_path,
        "image": image.short_path,
        "plan": plan.short_path,
    }
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        content = _SCRIPT.format(**{key: paths[key].replace("'", "'\\''") for key in paths}),
        is_executable = True,
        output = script,
    )
    runfiles = ctx.runfiles(files = [generator, image, plan])
    return [DefaultInfo(executable = script, runfiles = runfiles.merge(toolchain.runfiles))]

usmp_elf_test = rule(
    implementation = _usmp_elf_test_impl,
    doc = "Passes when the linked image is as planned: every pool in its region, of its size, alone there.",
    attrs = {
        "binary": attr.label(
            doc = "The linked image, an ELF file: a cc_binary().",
            allow_single_file = True,
            mandatory = True,
        ),
        "plan": attr.label(
            doc = "The usmp_plan() of which the image has models.",
            mandatory = True,
            providers = [UsmpPlanInfo],
        ),
    },
    test = True,
    toolchains = [TOOLCHAIN_TYPE],
    **_GROUPS
)
