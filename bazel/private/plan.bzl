"""The rule usmp_plan."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "CC_TOOLCHAIN_ATTRS", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":compile.bzl", "compile_library", "processor")
load(":generate.bzl", "generate", "write_page")
load(":linking.bzl", "linker_inputs")
load(":names.bzl", "model_files", "plan_files")
load(":providers.bzl", "UsmpModelInfo", "UsmpPlanInfo")
load(":toolchain.bzl", "TOOLCHAIN_TYPE")

def _usmp_plan_impl(ctx):
    models = _models(ctx)
    project = ctx.attr.project or ctx.label.name
    files = _declare(ctx, plan_files(project, ctx.attr.pool_bytes))
    files_of = {model.name: _declare(ctx, model_files(model.name)) for model in models}
    groups = _groups([files] + files_of.values())
    plan_json = files["plan_json"][0]
    generate(
        ctx,
        manifest = ctx.file.manifest,
        models = models,
        outputs = groups["all_generated"],
        plan_json = plan_json,
        pool_bytes = ctx.attr.pool_bytes,
        processor = processor(ctx),
        project = project,
    )
    page = ctx.actions.declare_file(_within(ctx, "report.html"))
    write_page(ctx, ctx.file.manifest, models, processor(ctx), page)
    linking = linker_inputs(ctx.label, files["linker_fragment"] + files["copy_table"])
    library = _compile_plan(ctx, project, files, files_of, linking)
    plan = UsmpPlanInfo(
        copy_table = files["copy_table"][0],
        library = library,
        linker_fragment = files["linker_fragment"][0],
        linking = linking,
        model_libraries = {name: _compile_model(ctx, name, files_of[name], library) for name in files_of},
        models = {model.name: model for model in models},
        plan_json = plan_json,
        pool_bytes = depset(files["pool_bytes"]),
        project = project,
    )
    return [
        plan,
        library,
        DefaultInfo(files = depset([plan_json])),
        OutputGroupInfo(report = depset([page]), **{name: depset(groups[name]) for name in groups}),
    ]

def _models(ctx):
    """Returns the models, sorted by name, so that the order of labels does not matter."""
    labels = {}
    found = {}
    for target in ctx.attr.models:
        model = target[UsmpModelInfo]
        if model.name in found:
            fail("%s: %s and %s are both called \"%s\"; say model_name" %
                 (ctx.label, labels[model.name], target.label, model.name))
        labels[model.name] = target.label
        found[model.name] = model
    return [found[name] for name in sorted(found)]

def _declare(ctx, names):
    """Returns Files for names: what they are → list.

    Several plans of a package may have files of the same name.
    """
    return {kind: [ctx.actions.declare_file(_within(ctx, name)) for name in names[kind]] for kind in names}

def _within(ctx, name):
    """Returns the name of a file, or library, in a folder with the name of the rule: no other rule has it."""
    return "%s/%s" % (ctx.label.name, name)

def _groups(declared):
    """Returns the output groups: one for each kind of file, and one with all files."""
    groups = {}
    for files in declared:
        for kind in files:
            groups[kind] = groups.get(kind, []) + files[kind]
    groups["all_generated"] = [file for kind in groups for file in groups[kind]]
    return groups

def _compile_plan(ctx, project, files, files_of, linking):
    """Returns the library with pools, constants and kernels, once for all models.

    The constants of models have the types that headers of the models declare.
    """
    return compile_library(
        ctx,
        deps = [linking] + [dep[CcInfo] for dep in ctx.attr.deps],
        folder = files["plan_json"][0].dirname,
        headers = files["hdrs"] + [file for file in files["pool_bytes"] if file.extension == "inc"],
        name = _within(ctx, project + "-shared"),  # no model has such a name
        private_headers = [header for model in files_of.values() for header in model["hdrs"]],
        sources = files["srcs"],
    )

def _compile_model(ctx, name, files, library):
    """Returns the library of a model, which needs that of the plan.  It is compiled where somebody links it."""
    return compile_library(
        ctx,
        deps = [library],
        folder = files["srcs"][0].dirname,
        headers = files["hdrs"],
        name = _within(ctx, name),
        sources = files["srcs"],
    )

_ATTRS = {
    "copts": attr.string_list(
        doc = "More flags for the compiler, for the generated C alone.",
    ),
    "defines": attr.string_list(
        doc = "Definitions for the generated C and for all who include it: `USMP_HOOK`, `NDEBUG`.",
    ),
    "deps": attr.label_list(
        doc = "Libraries that kernels call: with `kernels = \"cmsis-nn\"`, CMSIS-NN.",
        providers = [CcInfo],
    ),
    "linkopts": attr.string_list(
        default = ["-lm"],
        doc = "Flags for linking programs with it.  Operators on floating-point numbers need -lm; whether there are " +
              "any, only planning finds out, and the rule must name its flags before.",
    ),
    "manifest": attr.label(
        doc = "The manifest: usmp.toml.",
        allow_single_file = [".toml"],
        mandatory = True,
    ),
    "models": attr.label_list(
        doc = "The usmp_model()s that are planned together: these, and no others of the manifest.  Their order does " +
              "not matter.",
        allow_empty = False,
        mandatory = True,
        providers = [UsmpModelInfo],
    ),
    "pool_bytes": attr.string_list(
        doc = "The names of the manifest's constant pools with `owner = \"application\"`, of which there are files.",
    ),
    "project": attr.string(
        doc = "The name of the project in the manifest; by default the name of the rule.",
    ),
}

usmp_plan = rule(
    implementation = _usmp_plan_impl,
    doc = "Plans the memory of all its models together, and compiles what is generated.  As a dependency of C it " +
          "is the library of pools, constants and kernels; usmp_library() adds models.",
    attrs = dict(_ATTRS, **CC_TOOLCHAIN_ATTRS),
    fragments = ["cpp"],
    provides = [CcInfo, UsmpPlanInfo],
    toolchains = [TOOLCHAIN_TYPE] + use_cc_toolchain(),
)
