"""The rule usmp_library."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":providers.bzl", "UsmpModelInfo", "UsmpPlanInfo")

def _usmp_library_impl(ctx):
    plan = ctx.attr.plan[UsmpPlanInfo]
    for target in ctx.attr.models:
        model = target[UsmpModelInfo]
        if model.name not in plan.model_libraries:
            fail("%s: the models of %s have no \"%s\"; add \"%s\" to its models" %
                 (ctx.label, ctx.attr.plan.label, model.name, target.label))
        if model != plan.models[model.name]:
            fail("%s: %s calls another model \"%s\", not \"%s\"; say model_name" %
                 (ctx.label, ctx.attr.plan.label, model.name, target.label))
    names = [target[UsmpModelInfo].name for target in ctx.attr.models] or plan.model_libraries.keys()

    # Direct: who depends on this library may include their headers, and the plan's, also under layering_check.
    libraries = [plan.library] + [plan.model_libraries[name] for name in names]
    return [cc_common.merge_cc_infos(direct_cc_infos = libraries)]

usmp_library = rule(
    implementation = _usmp_library_impl,
    doc = "Models of a plan as a dependency of C: their headers, their code, and the library of the plan.",
    attrs = {
        "models": attr.label_list(
            doc = "Which models; by default all of the plan.",
            providers = [UsmpModelInfo],
        ),
        "plan": attr.label(
            doc = "The usmp_plan() that has these models.",
            mandatory = True,
            providers = [UsmpPlanInfo],
        ),
    },
    provides = [CcInfo],
)
