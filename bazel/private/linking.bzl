"""What linker scripts need, as CcInfo without code: flags, and the files that they mean."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def linker_inputs(owner, scripts, flags = []):
    """Lets INCLUDE find linker scripts, and links again when one of them changes.

    Args:
      owner: label of the rule
      scripts: list of Files
      flags: list of strings, more flags for the linker

    Returns:
      CcInfo without code
    """
    folders = {script.dirname or ".": None for script in scripts}  # each once, in their order
    inputs = cc_common.create_linker_input(
        owner = owner,
        additional_inputs = depset(scripts),
        # Compilers hand a plain -L on before any script; "-Wl,-L" would have to stand before "-Wl,-T".
        user_link_flags = depset(["-L" + folder for folder in folders] + flags),
    )
    return CcInfo(linking_context = cc_common.create_linking_context(linker_inputs = depset([inputs])))
