"""The manifest's keys: the kind of their values, their meaning, and what happens without them.

This, with the table of pools in pool_table.py, is the only place that says so: messages, the JSON schema,
docs/manifest.md and the starter manifest repeat it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr

from usmp_build.document.source import Source
from usmp_build.manifest import kinds
from usmp_build.manifest.locate import Node, Places
from usmp_build.manifest.pool_table import Pool
from usmp_build.manifest.table import Table, key
from usmp_build.request import REWRITES


class Project(Table):
    """The name of the plan as a whole."""

    pattern = ("project",)
    heading = "[project]"

    name: kinds.Name = key("name", "Prefix of the files and symbols that concern all models together.", "doorbell")


class TargetRule(Table):
    """What a target demands of the operands of the operators that it runs.

    It says at least one of `pools`, `scratch` and `alignment`. Of several rules for an operand, all hold.
    """

    pattern = ("targets", "*", "rules", "*")
    heading = "[[targets.<name>.rules]]"

    operators: kinds.Pattern = key("pattern", "The operators of this kind.", "CONV_2D", "*", "all")
    operands: kinds.Operands | None = key(
        "list of operands",
        'Of these operators: "inputs", "outputs" (tensors that a run computes), "constants", "scratch", or tensors by '
        'position: "input 0", "output 1". `pools` and `alignment` apply to them.',
        ["constants"],
        None,
        "all",
    )
    pools: kinds.References | None = key(
        "list of pools", "The only pools that these operands may be in.", ["npu_sram"], None, "any that it reaches"
    )
    scratch: kinds.Size | None = key(
        "size",
        'Bytes that each of the operators needs while it runs, for `kernels = "extern"`. Other kernels declare theirs.',
        "2 KiB",
        None,
        "none",
    )
    alignment: kinds.Alignment | None = key(
        "power of two", "Alignment of these operands, in bytes.", 16, None, "that of their elements"
    )


class Target(Table):
    """A processor that runs operators.

    The one called `cpu` is there without being declared, and runs what is not placed elsewhere.
    """

    pattern = ("targets", "*")
    heading = "[targets.<name>]"

    kernels: kinds.Plugin = key(
        "name",
        'The kernel library. "reference": C, bit for bit what TensorFlow Lite Micro computes. "cmsis-nn": calls of '
        '[CMSIS-NN](targets.md#cmsis-nn), which the application links. "extern": the application supplies the kernels. '
        "Plug-ins add others.",
        "reference",
        "reference",
    )
    isa: kinds.Instructions | None = key(
        '`"portable"`, `"scalar"`, `"dsp"`, `"mve"`',
        "The instructions that kernels are made for: any C compiler's, one product at a time, Arm's DSP extension, "
        "Helium. C for others compiles and runs everywhere, too, only slower.",
        "portable",
        None,
        'what [the build](targets.md#instructions) says, else `"portable"`',
    )
    copies: Literal["memcpy", "extern"] = key(
        "",
        'What copies tensors to and from its memory. "memcpy": the generated code, on the processor that runs it. '
        '"extern": a function of the application, which may use DMA.',
        "memcpy",
        "memcpy",
    )
    rules: Annotated[tuple[TargetRule, ...], Field(strict=False)] = key(
        "list of tables", "What it demands of memory; see `[[targets.<name>.rules]]`.", [], (), "nothing"
    )


class Place(Table):
    """An exception to a model's settings: it moves operators or tensors elsewhere.

    It selects by exactly one of `operators`, `tensors`, `scope` and `range`, and says at least one of the others.
    Where several select the same, the last one holds.
    """

    pattern = ("models", "*", "place", "*")
    heading = "[[models.<name>.place]]"

    operators: kinds.Pattern | None = key("pattern", "The operators of this kind.", "CONV_2D", None)
    tensors: kinds.Pattern | None = key("pattern", "The tensors whose names match.", "conv*/Relu", None)
    scope: kinds.Pattern | None = key(
        "pattern", "The tensors for which the compiler of a program chose this memory.", "global.vtcm", None
    )
    range: kinds.Range | None = key(
        "list of two whole numbers", "Operators by position in the model: the first and the last.", [3, 7], None
    )
    target: kinds.Reference | None = key("target", "The target that runs them.", "npu", None, "unchanged")
    pools: kinds.References | None = key(
        "list of pools", "Their pools, most preferred first.", ["sram"], None, "unchanged"
    )
    operands: kinds.Operands | None = key(
        "list of operands",
        "The operands that `pools` applies to, as in a target's rules.",
        ["outputs"],
        None,
        "outputs and scratch",
    )
    kernels: kinds.Plugin | None = key("name", "The kernel library that runs them.", "extern", None, "unchanged")
    axis_separators: kinds.Counts | None = key(
        "list of whole numbers",
        "Axes before which a tensor's shape is cut, for banked memory: what follows a cut is a row.",
        [3],
        None,
        "unchanged",
    )


class Model(Table):
    """A model, and what it may use.  Its name is the prefix of its files and symbols."""

    pattern = ("models", "*")
    heading = "[models.<name>]"

    path: kinds.Path | None = key(
        "path",
        "The model file, relative to the manifest.",
        "models/kws.tflite",
        None,
        "from the build system; an error without it",
    )
    sha256: kinds.Digest | None = key(
        "64 hexadecimal digits", "Digest that the file must have.", "0" * 64, None, "not checked"
    )
    workspace_pools: kinds.References | None = key(
        "list of pools",
        "Pools for tensors, most preferred first: what does not fit into one goes to the next.",
        ["dtcm", "sram"],
        None,
        'every "rw" pool, in the order of the manifest',
    )
    constant_pools: kinds.References | None = key(
        "list of pools",
        "Pools for weights, most preferred first.",
        ["flash"],
        None,
        'every "ro" pool, in the order of the manifest',
    )
    budget: kinds.Size | None = key(
        "size",
        "Bytes of workspace that the model should need alone; if it needs more, `plan` and `report` warn.",
        "20 KiB",
        None,
        "no warning",
    )
    io: Literal["pool", "application"] = key(
        "",
        'Where inputs and outputs live. "pool": in the workspace pools. "application": in arrays of the caller.',
        "pool",
        "pool",
    )
    inputs: Literal["consumed", "preserved", "reserved", "rows"] = key(
        "",
        '"consumed": a run may overwrite them. "preserved": they are intact after the run, until another model runs. '
        '"reserved": nothing else uses their memory between runs either, so DMA may fill it. For inputs in pools. '
        '"rows": the largest one arrives row by row, and is never in memory as a whole; others are consumed.',
        "consumed",
        "consumed",
    )
    outputs: Literal["run", "reserved", "rows"] = key(
        "",
        '"run": they are valid until any model runs again, but for those that may run at the same time. "reserved": '
        "until this model runs again; filling its inputs leaves them intact. For outputs in pools. "
        '"rows": a function of the application gets each row of the largest one as soon as it is complete; others are '
        'as with "run".',
        "run",
        "run",
    )
    names: Mapping[str, kinds.Name] = key(
        "table tensor → name",
        "C names of inputs and outputs, by the name that the model gives the tensor.",
        {"serving_default_x:0": "audio"},
        {},
        "the name in the model's signature, else the tensor's",
    )
    goal: Literal["ram", "balanced", "speed"] | None = key(
        '`"ram"`, `"balanced"`, `"speed"`',
        'What this model\'s plan is optimized for. "ram": the least memory. "balanced": that too, but no rewrite that '
        "makes an operator do more.",
        "balanced",
        None,
        "that of `[plan]`",
    )
    rewrites: kinds.Switches = key(
        "table rewrite → true or false",
        "Rewrites to apply to this model, or not.",
        {"constant_channels": True},
        {},
        "as `[plan]` says",
    )
    order: Literal["free", "file"] = key(
        "",
        '"free": operators run in whichever order takes the least memory. "file": in the order of the model file.',
        "free",
        "free",
    )
    recompute: kinds.Percent | None = key(
        "percentage",
        "How many more multiplications this model may take to need less memory.",
        "10 %",
        None,
        "that of `[plan]`",
    )
    place: Annotated[tuple[Place, ...], Field(strict=False)] = key(
        "list of tables", "Exceptions; see `[[models.<name>.place]]`.", [], (), "none"
    )


class Connection(Table):
    """An output of one model that is an input of another: one buffer without a copy, where the types agree.

    An output may feed several inputs, an input has one source ([models-together.md](models-together.md)).
    """

    pattern = ("connections", "*")
    heading = "[[connections]]"

    from_: kinds.Port = key(
        "model.output", "The output, by its name in C or in the model.", "detector.boxes", alias="from"
    )
    to: kinds.Port = key("model.input", "The input. The application does not fill it.", "classifier.image")


class Plan(Table):
    """How the plan is made."""

    pattern = ("plan",)
    heading = "[plan]"

    algorithm: kinds.Plugin = key(
        "name",
        'The algorithm: "auto", "greedy_by_size", "greedy_by_conflicts", "hill_climb", "exact", or a plug-in.',
        "auto",
        "auto",
    )
    options: Mapping[str, Any] = key("table", "Options of the algorithm.", {"attempts": 100}, {}, "its defaults")
    layout_copies: bool = key(
        "true or false",
        "In banked memory: whether to copy a tensor that two operators need in rows of different lengths.",
        True,
        False,
    )
    goal: Literal["ram", "balanced", "speed"] = key(
        "",
        'What plans are optimized for. "ram": the least memory. "balanced": that too, but nothing that makes an '
        "operator do more: constant channels stay that fill a block of four, convolutions do not read their windows "
        "pixel by pixel, and no row moves to make room.",
        "ram",
        "ram",
    )
    rewrites: kinds.Switches = key(
        "table rewrite → true or false",
        "The exact rewrites that are applied to models: " + ", ".join(f'"{name}"' for name in REWRITES) + " "
        "([rewrites.md](rewrites.md)).",
        {"constant_channels": False},
        {},
        "all are",
    )
    overlap: bool = key(
        "true or false",
        "Whether an operator may write over the parts of its inputs that it has already read.",
        True,
        True,
    )
    rows: bool = key(
        "true or false",
        "Whether layers may run row by row where that takes fewer bytes, so that a tensor never exists as a whole "
        "([ram.md](ram.md)).",
        False,
        True,
    )
    recompute: kinds.Percent = key(
        "percentage",
        "With `rows`: how many more multiplications each model may take to need less memory "
        "([ram.md](ram.md#what-is-computed-again)).",
        "10 %",
        0,
        "`0 %`: nothing is computed twice",
    )


class Manifest(Table):
    """Lists stand at the top, before all tables."""

    heading = "The manifest"
    _places: Places = PrivateAttr()

    concurrent: kinds.Groups = key(
        "list of lists of models",
        "Groups of models that may be alive at the same time. All others exclude each other, and share memory.",
        [["kws", "vad"]],
        (),
        "none",
    )
    project: Project = key("table", "See `[project]`.", {"name": "doorbell"})
    pools: Mapping[kinds.Name, Pool] = key(
        "table of tables", "See `[pools.<name>]`.", {}, {}, 'one "rw" pool and one "ro" pool, as large as needed'
    )
    targets: Mapping[kinds.Name, Target] = key(
        "table of tables", "See `[targets.<name>]`.", {}, {}, '"cpu", with its defaults'
    )
    models: Mapping[kinds.Name, Model] = key(
        "table of tables", "See `[models.<name>]`.", {}, {}, "those that the build system declares"
    )
    connections: Annotated[tuple[Connection, ...], Field(strict=False)] = key(
        "list of tables", "See `[[connections]]`.", [], (), "none"
    )
    plan: Plan = key("table", "See `[plan]`.", {}, Plan(), "its defaults")

    def model_post_init(self, context: object) -> None:
        """Keep the places of keys and values, which are the context of the validation."""
        nowhere = Places(Source("", ""), Node((0, 0), (0, 0)))
        self._places = context if isinstance(context, Places) else nowhere

    @property
    def places(self) -> Places:
        """Where each key and value stands."""
        return self._places


TABLES: tuple[type[Table], ...] = (Manifest, Project, Pool, Target, TargetRule, Model, Place, Connection, Plan)
"""All of them, in the order of the documentation."""
