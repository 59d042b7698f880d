"""Repositories that Bazel 4 would fetch, made of what it has built in.

Our rules and BUILD files load `cc_library` and the like from rules_cc, and `py_binary` from rules_python, where newer
Bazels have them.  Bazel 4 has them itself, so here a file of each repository gives a rule of Bazel's another name.
Bazel's own BUILD files ask for rules_cc and rules_java, and `bazel test` for remote_coverage_tools.
"""

def _stand_in_impl(repository):
    repository.file("WORKSPACE", "workspace(name = \"%s\")\n" % repository.name)
    for package in {path.rpartition("/")[0]: None for path in repository.attr.files}:
        repository.file("BUILD.bazel" if not package else package + "/BUILD.bazel", repository.attr.build)
    for path, text in repository.attr.files.items():
        repository.file(path, text)

_stand_in = repository_rule(
    implementation = _stand_in_impl,
    doc = "A repository of a few files.",
    attrs = {
        "build": attr.string(doc = "The text of each BUILD file."),
        "files": attr.string_dict(doc = "Paths → texts.", mandatory = True),
    },
)

def _native(rules):
    return "".join(["%s = native.%s\n" % (rule, rule) for rule in rules])

_CC_RULES = ["cc_binary", "cc_import", "cc_library", "cc_test"]

_CC_TOOLCHAIN_RULES = ["cc_toolchain", "cc_toolchain_suite"]

# What the BUILD file of Bazel's own toolchains for Java loads, which Bazel reads whatever is built.
_JAVA_RULES = ["java_import", "java_runtime", "java_toolchain"]

_PY_RULES = ["py_binary", "py_library", "py_runtime", "py_test"]

_FIND_CC_TOOLCHAIN = """\
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

CC_TOOLCHAIN_ATTRS = {"_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain")}

def find_cc_toolchain(ctx):
    return find_cpp_toolchain(ctx)

def use_cc_toolchain(mandatory = True):
    return ["@bazel_tools//tools/cpp:toolchain_type"]
"""

_TOOLCHAIN_CONFIG = """\
load(
    "@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl",
    _feature = "feature",
    _flag_group = "flag_group",
    _flag_set = "flag_set",
    _tool_path = "tool_path",
)

feature = _feature
flag_group = _flag_group
flag_set = _flag_set
tool_path = _tool_path
"""

_ACTION_NAMES = """\
load("@bazel_tools//tools/build_defs/cc:action_names.bzl", _ACTION_NAMES = "ACTION_NAMES")

ACTION_NAMES = _ACTION_NAMES
"""

# A file cannot say `CcInfo = CcInfo`.
_GLOBALS = """\
bazel_cc_common = cc_common
bazel_cc_info = CcInfo
bazel_cc_toolchain_config_info = CcToolchainConfigInfo
"""

_GLOBAL = """\
load("//private:globals.bzl", "bazel_{name}")

{public} = bazel_{name}
"""

_RULES_CC = {
    "cc/action_names.bzl": _ACTION_NAMES,
    "cc/cc_toolchain_config_lib.bzl": _TOOLCHAIN_CONFIG,
    "cc/common/cc_common.bzl": _GLOBAL.format(name = "cc_common", public = "cc_common"),
    "cc/common/cc_info.bzl": _GLOBAL.format(name = "cc_info", public = "CcInfo"),
    "cc/defs.bzl": _native(_CC_RULES + _CC_TOOLCHAIN_RULES),
    "cc/find_cc_toolchain.bzl": _FIND_CC_TOOLCHAIN,
    "cc/toolchains/cc_toolchain.bzl": _native(["cc_toolchain"]),
    "cc/toolchains/cc_toolchain_config_info.bzl": _GLOBAL.format(
        name = "cc_toolchain_config_info",
        public = "CcToolchainConfigInfo",
    ),
    "private/globals.bzl": _GLOBALS,
}

def _each(folder, rules):
    return {"%s/%s.bzl" % (folder, rule): _native([rule]) for rule in rules}

# `bazel test` asks for the first, also where nothing is covered; `bazel coverage` for both, which then fail.
_COVERAGE = "".join(["""
filegroup(
    name = "%s",
    srcs = ["none.sh"],
    visibility = ["//visibility:public"],
)
""" % name for name in ["coverage_report_generator", "lcov_merger"]])

def stand_ins():
    """Adds the repositories that the WORKSPACE has not added before."""
    _add("rules_cc", dict(_RULES_CC, **_each("cc", _CC_RULES)))
    _add("rules_java", {"java/defs.bzl": _native(_JAVA_RULES)})
    _add("rules_python", dict({"python/defs.bzl": _native(_PY_RULES)}, **_each("python", _PY_RULES)))
    _add("remote_coverage_tools", {"none.sh": "#!/bin/sh\necho no remote_coverage_tools >&2\nexit 1\n"}, build = _COVERAGE)

def _add(name, files, **kwargs):
    if not native.existing_rule(name):
        _stand_in(name = name, files = files, **kwargs)
