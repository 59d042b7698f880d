"""The actions that plan: one call of the generator for all models of a plan, and one that writes its page."""

load(":toolchain.bzl", "find_toolchain")

def generate(ctx, project, manifest, models, pool_bytes, processor, plan_json, outputs):
    """Plans, and writes the generated files.

    The command line is made of Files, not of their paths, so that Bazel may map paths; it is in a file, so that there
    may be any number of models.

    Args:
      ctx: of a rule with our toolchain
      project: the name that the manifest must give the project
      manifest: File
      models: list of UsmpModelInfo
      pool_bytes: the constant pools of the application that the manifest must have, by name
      processor: the compiler's option for it, or None
      plan_json: File, one of the outputs
      outputs: list of Files, all in the folder of plan_json: everything that is generated
    """
    args = _args(ctx, "generate")
    args.add("--quiet")
    args.add(project, format = "--expect-project=%s")
    args.add_all(pool_bytes, format_each = "--expect-pool-bytes=%s")
    args.add_all([plan_json], format_each = "--out=%s", map_each = _folder)
    _run(ctx, args, manifest, models, processor, outputs, "UsmpPlan", "Planning the memory of %s")

def write_page(ctx, manifest, models, processor, page):
    """Plans, and other manifests, too, and writes a page for browsers.

    Args:
      ctx: of a rule with our toolchain
      manifest: File
      models: list of UsmpModelInfo
      processor: the compiler's option for it, or None
      page: File, the output
    """
    args = _args(ctx, "report")
    args.add(page, format = "--out=%s")
    _run(ctx, args, manifest, models, processor, [page], "UsmpReport", "Reporting the memory of %s")

def _folder(file):
    return file.dirname

def _args(ctx, verb):
    args = ctx.actions.args()
    args.use_param_file("@%s", use_always = True)
    args.set_param_file_format("multiline")
    args.add(verb)
    return args

def _run(ctx, args, manifest, models, processor, outputs, mnemonic, message):
    args.add(processor or "portable", format = "--isa=%s")
    for model in models:
        args.add(model.file, format = "--model=" + model.name + "=%s")
        _add_names(args, "--workspace-pools", model.name, model.workspace_pools)
        _add_names(args, "--constant-pools", model.name, model.constant_pools)
        _add_names(args, "--concurrent", model.name, model.concurrent_with)
    args.add("--")  # the name of the manifest may begin with a dash
    args.add(manifest)
    ctx.actions.run(
        arguments = [args],
        executable = find_toolchain(ctx).generator,
        execution_requirements = {"supports-path-mapping": "1"},
        inputs = [manifest] + [model.file for model in models],
        mnemonic = mnemonic,
        outputs = outputs,
        progress_message = message % ", ".join([model.name for model in models]),
    )

def _add_names(args, option, model, names):
    if names:
        args.add_joined(names, format_joined = option + "=" + model + "=%s", join_with = ",")
