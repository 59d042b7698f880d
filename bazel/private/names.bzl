"""Names of the generated files: they follow from names in the manifest alone, so they can be declared.

usmp_build/naming.py is where they come from; a test compares.
"""

def plan_files(project, pool_bytes):
    """Names the files that a plan has once.

    Args:
      project: the name of the project
      pool_bytes: names of the constant pools of the application

    Returns:
      dict, what they are → list of names
    """
    return {
        "build_files": [
            "BUILD.bazel",
            "CMakeLists.txt",
            "library.json",
            "library.properties",
            "meson.build",
            "usmp-targets.cmake",
            "usmp.bzl",
            "usmp.mk",
        ],
        "copy_table": [project + "_copy_table.ld"],
        "hdrs": ["usmp.h", "usmp_regions.h"] + [project + end for end in [".h", "_guard.h", "_kernels.h", "_shared_constants.h"]],
        "linker_fragment": [project + ".ld"],
        "plan_json": ["plan.json"],
        "pool_bytes": ["%s_%s.%s" % (project, pool, end) for pool in pool_bytes for end in ["bin", "inc"]],
        "srcs": [project + "_kernels.c", project + "_pools.c"],
    }

def model_files(model):
    """Returns the files of a model: what they are → list of names."""
    return {
        "hdrs": [model + ".h", model + "_constants.h"],
        "srcs": [model + ".c"],
    }
