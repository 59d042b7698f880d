"""How arm-none-eabi-gcc is called for a Cortex-M55."""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:cc_toolchain_config_lib.bzl", "feature", "flag_group", "flag_set", "tool_path")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/toolchains:cc_toolchain_config_info.bzl", "CcToolchainConfigInfo")

_CPU = ["-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"]

# GCC 12.2 must not make vectors by itself: it spells some of them wrong.
_COMPILE = ["-O2", "-fno-tree-vectorize", "-ffunction-sections", "-fdata-sections", "-fno-canonical-system-headers"]

_LINK = ["-nostartfiles", "--specs=rdimon.specs", "-Wl,--gc-sections"]

_TOOLS = ["ar", "cpp", "gcc", "gcov", "ld", "nm", "objcopy", "objdump", "strip"]

def _flags(name, actions, flags):
    flag_sets = [flag_set(actions = actions, flag_groups = [flag_group(flags = flags)])]
    return feature(name = name, enabled = True, flag_sets = flag_sets)

def _arm_gcc_config_impl(ctx):
    compile = [ACTION_NAMES.c_compile, ACTION_NAMES.assemble, ACTION_NAMES.preprocess_assemble]
    link = [ACTION_NAMES.cpp_link_executable]
    return cc_common.create_cc_toolchain_config_info(
        abi_libc_version = "none",
        abi_version = "eabi",
        compiler = "gcc",
        ctx = ctx,
        cxx_builtin_include_directories = ctx.attr.includes,
        features = [_flags("compile", compile, _CPU + _COMPILE), _flags("link", link, _CPU + _LINK)],
        host_system_name = "local",
        target_cpu = "arm",
        target_libc = "newlib",
        target_system_name = "arm-none-eabi",
        tool_paths = [tool_path(name = tool, path = "%s/arm-none-eabi-%s" % (ctx.attr.folder, tool)) for tool in _TOOLS],
        toolchain_identifier = "arm-none-eabi-gcc",
    )

arm_gcc_config = rule(
    implementation = _arm_gcc_config_impl,
    attrs = {
        "folder": attr.string(doc = "Where the tools are.", mandatory = True),
        "includes": attr.string_list(doc = "Where their headers are."),
    },
    provides = [CcToolchainConfigInfo],
)
