"""The manifest that `usmp-build init` writes: it works as it is, and shows in comments what can be added.

Lines of TOML are commented out with `#` alone, remarks with `# `: whoever removes a `#` has a valid manifest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from usmp_build.errors import printable
from usmp_build.manifest.clashes import file_problem
from usmp_build.manifest.kinds import LONGEST_NAME, name_problem
from usmp_build.manifest.phrases import toml
from usmp_build.naming import c_identifier, model_files, plan_files


@dataclass(frozen=True, slots=True)
class StarterModel:
    """What a starter manifest says of a model."""

    name: str
    path: str
    """Relative to the manifest."""
    about: Sequence[str] = ()
    """Remarks, a line each: inputs, outputs, the size of the weights."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Tensors that are inputs or outputs, and what they are called in C unless the manifest says otherwise."""


def starter(models: Sequence[StarterModel], project: str) -> str:
    """Return the text of a manifest for some models.  Names are expected to be good: see `fitting_names`."""
    return "\n".join([_HEAD.format(project=project), *map(_model, models or [_NO_MODEL]), _TAIL])


def fitting_names(texts: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Make names for a manifest of any texts, such as names of files; none is like another, or like one of `taken`.

    >>> fitting_names(["kws-large.v2", "int", "string", "KWS_large_v2"], ["doorbell"])
    ['kws_large_v2', 'int_', 'model_string', 'KWS_large_v2_2']
    """
    used = {file.lower() for name in taken for file in plan_files(name)} | {"usmp.h"}
    result = []
    for text in texts:
        base = c_identifier(text, LONGEST_NAME - 16)
        if name_problem(base) or file_problem(base):
            base = f"model_{base}"
        name, number = base, 1
        while not used.isdisjoint(file.lower() for file in model_files(name)):
            number += 1
            name = f"{base}_{number}"
        used |= {file.lower() for file in model_files(name)}
        result.append(name)
    return result


_HEAD = """\
# The models of the firmware, and the memory that they may use. docs/manifest.md explains every word.

[project]
name = "{project}"  # the prefix of what is generated for all models together

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
{names}#io = "application"  # inputs and outputs are arrays of the caller; by default they live in the pools
"""

_TAIL = """\
[plan]
algorithm = "auto"    # `usmp-build plugins` lists the others
"""

_NO_MODEL = StarterModel("", "")


def _model(model: StarterModel) -> str:
    if model is _NO_MODEL:
        return '# Every model has a table.\n\n#[models.kws]\n#path = "models/kws.tflite"  # relative to this file\n'
    about = "".join(f"\n# {printable(line).replace(chr(10), ' ')}" for line in model.about)
    names = f"#names = {toml(dict(model.names))}  # in C\n" if model.names else ""
    return _MODEL.format(name=model.name, about=about, path=toml(model.path), names=names)
