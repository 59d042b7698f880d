"""The rule usmp_linker_script."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":linking.bzl", "linker_inputs")
load(":providers.bzl", "UsmpPlanInfo")

def _usmp_linker_script_impl(ctx):
    script = ctx.file.script
    projects = [plan[UsmpPlanInfo].project for plan in ctx.attr.plans]
    required = ["-Wl,--defsym=__usmp.{0}=__usmp.INCLUDE_{0}.ld".format(project) for project in projects]
    own = linker_inputs(ctx.label, [script] + ctx.files.includes, ["-T" + script.path] + required)
    plans = [plan[UsmpPlanInfo].linking for plan in ctx.attr.plans]
    return [
        cc_common.merge_cc_infos(cc_infos = plans + [own]),
        DefaultInfo(files = depset([script])),
    ]

usmp_linker_script = rule(
    implementation = _usmp_linker_script_impl,
    doc = "A linker script that INCLUDEs the linker fragments of plans.  Programs that depend on it are linked with " +
          "it, and again when a fragment changes.",
    attrs = {
        "includes": attr.label_list(
            doc = "Other linker scripts that the script INCLUDEs by their bare names.",
            allow_files = True,
        ),
        "plans": attr.label_list(
            doc = "The plans whose `<project>.ld` and `<project>_copy_table.ld` the script INCLUDEs.",
            allow_empty = False,
            mandatory = True,
            providers = [UsmpPlanInfo],
        ),
        "script": attr.label(
            doc = "The linker script.",
            allow_single_file = True,
            mandatory = True,
        ),
    },
    provides = [CcInfo],
)
