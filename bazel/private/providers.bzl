"""What the rules tell each other, and rules of users."""

UsmpModelInfo = provider(
    doc = "A model, and what its usmp_model() says beside the manifest.",
    fields = {
        "concurrent_with": "list of names: models that may run at the same time",
        "constant_pools": "list of names of pools, most preferred first; empty: what the manifest says",
        "file": "File: the model, or program",
        "name": "string: its name in the manifest, in C and in names of files",
        "workspace_pools": "list of names of pools, most preferred first; empty: what the manifest says",
    },
)

UsmpPlanInfo = provider(
    doc = "A plan: the memory of all of its models.",
    fields = {
        "copy_table": "File: entries to INCLUDE in the copy table of a linker script",
        "library": "CcInfo: pools, constants and kernels of all models; headers of the plan",
        "linker_fragment": "File: output sections to INCLUDE in a linker script",
        "linking": "CcInfo: lets linker scripts find both of them; no code",
        "model_libraries": "dict, name of a model → CcInfo: the model, and the library of the plan",
        "models": "dict, name of a model → UsmpModelInfo",
        "plan_json": "File: the plan for other programs, `usmp-build check` among them",
        "pool_bytes": "depset of Files: .bin and .inc of constant pools of the application",
        "project": "string: the manifest's project, which is the prefix of files and symbols",
    },
)

UsmpToolchainInfo = provider(
    doc = "What plans and checks.",
    fields = {
        "generator": "FilesToRunProvider: the command usmp-build, for actions",
        "runfiles": "runfiles of the command, for tests that call it",
    },
)
