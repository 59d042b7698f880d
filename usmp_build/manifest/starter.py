"""The manifest that `usmp-build init` writes: it works as it is, and shows in comments what can be added.

Lines of TOML are commented out with `#` alone, remarks with `# `: whoever removes a `#` has a valid manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from textwrap import wrap

from usmp_build.errors import printable
from usmp_build.frozen import frozen
from usmp_build.manifest.clashes import file_problem
from usmp_build.manifest.kinds import LONGEST_NAME, name_problem
from usmp_build.manifest.phrases import toml
from usmp_build.naming import c_identifier, model_files, plan_files


@frozen
class StarterModel:
    """What a starter manifest says of a model."""

    name: str
    path: str
    """Relative to the manifest."""
    about: Sequence[str] = ()
    """Remarks, a line each: inputs, outputs, the size of the weights."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Tensors that are inputs or outputs, and what they are called in C unless the manifest says otherwise."""


@frozen
class StarterMemory:
    """What a starter manifest says of memory, where that is known."""

    tables: str
    """Of pools and targets, as TOML."""
    remarks: Sequence[str] = ()
    """Text for the head of the manifest."""
    io: str = "pool"
    algorithm: str = "auto"


def starter(models: Sequence[StarterModel], project: str, memory: StarterMemory | None = None) -> str:
    """Return the text of a manifest for some models.  Names are expected to be good: see `fitting_names`."""
    memory = memory or _UNKNOWN
    head = _HEAD.format(
        project=project, remarks="".join(["\n#" if memory.remarks else "", *map(_remark, memory.remarks)])
    )
    tail = _TAIL.format(algorithm=toml(memory.algorithm))
    tables = (_model(model, memory.io) for model in models or [_NO_MODEL])
    return "\n".join([head, memory.tables, *tables, tail])


def fitting_names(texts: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Make names for a manifest of any texts, such as names of files; none is like another, or like one of `taken`.

    >>> fitting_names(["kws-large.v2", "int", "string", "KWS_large_v2"], ["doorbell"])
    ['kws_large_v2', 'int_', 'model_string', 'KWS_large_v2_2']
    """
    used = dict.fromkeys(["usmp.h", *(file.lower() for name in taken for file in plan_files(name))], 1)
    return [_fitting(text, "model", used, model_files) for text in texts]


def fitting_labels(texts: Iterable[str], kind: str, taken: Iterable[str] = ()) -> list[str]:
    """The same for names that are no names of files; those that are good already stay as they are.

    >>> fitting_labels(["sram", "SRAM", "ethos-u", "usmp_x"], "pool", ["constants"])
    ['sram', 'SRAM_2', 'ethos_u', 'pool_usmp_x_']
    """
    used = dict.fromkeys((name.lower() for name in taken), 1)
    return [_fitting(text, kind, used, lambda name: (name,)) for text in texts]


def _fitting(text: str, kind: str, used: dict[str, int], taking: Callable[[str], Iterable[str]]) -> str:
    """Make a name of a text.

    `taking` says what a name occupies, which is noted in `used`, as is the last number that was given to a base.
    """
    longest = LONGEST_NAME - 16
    base = text if len(text) <= longest and not name_problem(text) else c_identifier(text, longest)
    if name_problem(base) or (kind == "model" and file_problem(base)):
        base = f"{kind}_{base}"
    name, number = base, used.get(base.lower(), 1)
    while not used.keys().isdisjoint(word.lower() for word in taking(name)):
        number += 1
        name = f"{base}_{number}"
    used.update((word.lower(), 1) for word in taking(name))
    used[base.lower()] = number
    return name


_WIDTH = 114
"""Characters of a line of a remark."""

_HEAD = """\
#:schema ./usmp.schema.json
# The models of the firmware, and the memory that they may use. docs/manifest.md explains every word.{remarks}

[project]
name = "{project}"  # the prefix of what is generated for all models together
"""

_POOLS = """\
# Pools are the memory that may be used, most preferred first. Without any, there is one for what changes and one for
# weights, each as large as needed.

#[pools.dtcm]
#access = "rw"        # tensors, scratch, state
#size = "64 KiB"      # a hard limit
#reserve = "4 KiB"    # of it, kept free for others
#region = "DTCM"      # as MEMORY in the linker script calls it

#[pools.sram]
#access = "rw"        # what does not fit into dtcm

#[pools.flash]
#access = "ro"        # weights
"""

_MODEL = """\
[models.{name}]{about}
path = {path}
{names}{io}
"""

_IO = {
    "pool": '#io = "application"  # inputs and outputs are arrays of the caller; by default they live in the pools',
    "application": 'io = "application"  # inputs and outputs are arrays of the caller; "pool": they live in the pools',
}

_TAIL = """\
[plan]
algorithm = {algorithm}    # `usmp-build plugins` lists the others
"""

_NO_MODEL = StarterModel("", "")
_UNKNOWN = StarterMemory(_POOLS)


def _model(model: StarterModel, io: str) -> str:
    if model is _NO_MODEL:
        return '# Every model has a table.\n\n#[models.kws]\n#path = "models/kws.tflite"  # relative to this file\n'
    about = "".join(f"\n# {_on_a_line(line)}" for line in model.about)
    names = f"#names = {toml(dict(model.names))}  # in C\n" if model.names else ""
    return _MODEL.format(name=model.name, about=about, path=toml(model.path), names=names, io=_IO[io])


def _remark(text: str) -> str:
    lines = wrap(_on_a_line(text), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n# - " + "\n#   ".join(lines)


def _on_a_line(text: str) -> str:
    return printable(text).replace("\n", " ")
