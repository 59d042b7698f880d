"""What a WORKSPACE needs for these rules; modules need nothing of it."""

load(":python.bzl", "usmp_python")
load(":stand_ins.bzl", "stand_ins")

def usmp_repositories(name = "usmp_build"):
    """Adds repositories, none of which is fetched, and registers the toolchains that plan.

    Args:
      name: what the WORKSPACE calls the repository of this file
    """
    stand_ins()
    if not native.existing_rule("usmp_build_pypi"):
        usmp_python(name = "usmp_build_pypi")
    native.register_toolchains("@usmp_build_pypi//:toolchain", "@%s//bazel:toolchain" % name)
