"""The rule usmp_model."""

load(":providers.bzl", "UsmpModelInfo")

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OTHERS = "0123456789_"

def _usmp_model_impl(ctx):
    name = ctx.attr.model_name or ctx.label.name
    if name[0] not in _LETTERS or name.strip(_LETTERS + _OTHERS):
        fail("%s: \"%s\" becomes part of C identifiers: a letter, then letters, digits and underscores; " %
             (ctx.label, name) + "say model_name")
    model = UsmpModelInfo(
        concurrent_with = ctx.attr.concurrent_with,
        constant_pools = ctx.attr.constant_pools,
        file = ctx.file.src,
        name = name,
        workspace_pools = ctx.attr.workspace_pools,
    )
    return [model, DefaultInfo(files = depset([ctx.file.src]))]

usmp_model = rule(
    implementation = _usmp_model_impl,
    doc = "A model file under the name that it has in the manifest.  It is planned where a usmp_plan() names it.",
    attrs = {
        "concurrent_with": attr.string_list(
            doc = "Models of the same plan that may run at the same time, beside those of the manifest.",
        ),
        "constant_pools": attr.string_list(
            doc = "Pools for its constants, most preferred first; goes before the manifest.",
        ),
        "model_name": attr.string(
            doc = "Its name in the manifest and in C; by default the name of the rule.",
        ),
        "src": attr.label(
            doc = "The model: `.tflite`, or another kind of file that usmp_build reads.  Goes before the manifest's " +
                  "`path`, and may be made by another rule.",
            allow_single_file = True,
            mandatory = True,
        ),
        "workspace_pools": attr.string_list(
            doc = "Pools for its activations, most preferred first; goes before the manifest.",
        ),
    },
    provides = [UsmpModelInfo],
)
