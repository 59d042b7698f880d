"""Compiling generated C: a static library, as CcInfo, for a processor."""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def compile_library(ctx, name, sources, headers, folder, deps, private_headers = []):
    """Compiles generated files.

    Args:
      ctx: of a rule with `copts`, `defines` and `linkopts`, and a toolchain for C
      name: of the library
      sources: list of Files to compile
      headers: list of Files for users of the library
      folder: where the headers are, relative to the execution root
      deps: list of CcInfo
      private_headers: list of Files that the sources include, too

    Returns:
      CcInfo of the library
    """
    toolchain = find_cc_toolchain(ctx)
    features = _features(ctx, toolchain)
    compilation, objects = cc_common.compile(
        actions = ctx.actions,
        cc_toolchain = toolchain,
        compilation_contexts = [dep.compilation_context for dep in deps],
        defines = ctx.attr.defines,
        feature_configuration = features,
        includes = [folder],
        name = name,
        private_hdrs = private_headers,
        public_hdrs = headers,
        srcs = sources,
        user_compile_flags = ctx.attr.copts,
    )
    linking, _ = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        cc_toolchain = toolchain,
        compilation_outputs = objects,
        disallow_dynamic_library = True,
        feature_configuration = features,
        linking_contexts = [dep.linking_context for dep in deps],
        name = name,
        user_link_flags = ctx.attr.linkopts,
    )
    return CcInfo(compilation_context = compilation, linking_context = linking)

def processor(ctx):
    """Returns the last option that tells the compiler for which processor, or architecture, it compiles C.

    Args:
      ctx: of a rule with `copts`, and a toolchain for C

    Returns:
      -mcpu=..., -march=... or --cpu=...; None where there is none
    """
    toolchain = find_cc_toolchain(ctx)
    features = _features(ctx, toolchain)
    variables = cc_common.create_compile_variables(
        cc_toolchain = toolchain,
        feature_configuration = features,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.conlyopts + ctx.attr.copts,
    )
    flags = cc_common.get_memory_inefficient_command_line(
        action_name = ACTION_NAMES.c_compile,
        feature_configuration = features,
        variables = variables,
    )
    options = [flag for flag in flags if flag.startswith(("-mcpu=", "-march=", "--cpu="))]
    return options[-1] if options else None

def _features(ctx, toolchain):
    return cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
