"""The names of generated files: they follow from the names of project and models alone."""

from __future__ import annotations


def plan_files(project: str) -> tuple[str, ...]:
    """Return the files that a plan has once."""
    return (
        "plan.json",
        "usmp-targets.cmake",
        "usmp.h",
        f"{project}.h",
        f"{project}.ld",
        f"{project}_kernels.c",
        f"{project}_kernels.h",
        f"{project}_pools.c",
        f"{project}_shared_constants.h",
    )


def model_files(model: str) -> tuple[str, ...]:
    """Return the files that each model has."""
    return (f"{model}.c", f"{model}.h", f"{model}_constants.h")
