"""Writes tables of a manifest from a TVMC command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from usmp_build.document.suggest import plain, quoted
from usmp_build.manifest import defaults
from usmp_build.manifest.phrases import toml
from usmp_build.manifest.starter import StarterMemory, fitting_labels
from usmp_build.manifest.tvmc.command import Command
from usmp_build.manifest.tvmc.pools import TvmcPool
from usmp_build.manifest.tvmc.targets import CMSIS_NN, PROCESSOR
from usmp_build.manifest.tvmc.words import Flag
from usmp_build.request import Isa

_WEIGHTS = """\
# TVMC has no flags for constant pools: there is one, as large as needed. A pool of your own looks like this:

#[pools.{name}]
#access = "ro"
#region = "FLASH"
"""
_ALIGNED_WEIGHTS = """\
[pools.{name}]
access = "ro"
alignment = {alignment}
section = {section}  # linker scripts that know nothing of it put it with other constants
"""
_EXTERN = """\
[targets.{name}]
kernels = "extern"  # the application supplies them: docs/targets.md
# Nothing runs here until a place says so: [[models.NAME.place]] with operators = "CONV_2D", target = "{name}".
"""

_C = "the interface is always C: for each model a function that runs it, and structs of pointers"
_KERNELS = "kernels and their compiler flags are chosen here by [targets.*] and by the build system"
_OUTPUT = "`usmp-build generate --out FOLDER` writes C, headers, a linker fragment and CMake targets"
_WHY: Mapping[str, str] = MappingProxyType(
    {
        "--executor-aot-unpacked-api": _C,
        "--executor-aot-interface-api": _C,
        "--executor-aot-link-params": "weights are always part of the image",
        "--executor": "all code is made ahead of time",
        "--runtime": "there is no run-time library",
        "--output": _OUTPUT,
        "--dump-code": "`usmp-build inspect STAGE` shows what lies between the model and C",
        "--input-shapes": "shapes are those of the model",
        "--model-format": "the file's name says what it is",
        "--opt-level": "there are no levels: rewrites are exact, and always made",
        "--disabled-pass": "there are no passes to leave out",
        "--tuning-records": "kernels are not tuned",
        "--target": _KERNELS,
        "--cross-compiler": _KERNELS,
        "--desired-layout": "tensors keep the layout that the model gives them",
        "--workspace-pools-is-internal": 'TVMC has no such flag; here owner = "generated" or "application" says it',
    }
)
"""The beginning of a flag → why; the longest beginning counts."""
_SHORT = {"-o": "--output", "-f": "--output", "-O": "--opt-level"}
_WHY_OF_PASSES: Mapping[str, str] = MappingProxyType(
    {
        "tir.usmp.custom_algorithm": "make it a plug-in (docs/maintainers/algorithms.md), and name it in [plan]",
        "tir.disable_storage_rewrite": "nothing places buffers before the planner does",
        "tir.disable_vectorize": "vectors are the compiler's business",
    }
)
_ELSE = "nothing here corresponds to it"


def memory(command: Command, project: str) -> StarterMemory:
    """Return the pools and targets of a manifest equivalent to the command line."""
    targets = _targets(command)
    names = _pool_names(command)
    tables = [
        *(_pool(names[pool.name], pool, command, targets) for pool in command.pools),
        *_default_pool(command),
        *_weights(command, project, names.values()),
        *_processor(command),
        *(_EXTERN.format(name=name) for tvm, name in targets.items() if tvm not in PROCESSOR),
    ]
    remarks = [*_renamed("pool", names), *_renamed("target", targets), *_unreached(command), *_merged(command)]
    return StarterMemory("\n".join(tables), [*remarks, *_not_taken_over(command.others)], command.io, command.algorithm)


def _renamed(what: str, names: Mapping[str, str]) -> Iterator[str]:
    for tvm, name in names.items():
        if name not in (tvm, defaults.TARGET):
            yield f'TVM\'s {what} {quoted(tvm)} is called "{name}": names become parts of C identifiers, case ignored.'


def _unreached(command: Command) -> Iterator[str]:
    reached = [target in PROCESSOR for pool in command.pools if pool.access == "rw" for target in pool.targets]
    if reached and not any(reached):
        cpu = defaults.TARGET
        yield f'No pool is reached by c or llvm: let "{cpu}" reach one, for it runs what is not placed elsewhere.'


def _merged(command: Command) -> Iterator[str]:
    """Yield which pools CMSIS-NN reaches, and the processor's other kernels do not, or the other way round."""
    hosts = {target for target in command.targets if target in PROCESSOR}
    pools = [pool.name for pool in command.pools if 0 < len(hosts.intersection(pool.targets)) < len(hosts)]
    if CMSIS_NN in hosts and pools:
        names = ", ".join(map(plain, pools))
        cpu = defaults.TARGET
        yield f'TVM\'s {CMSIS_NN} is "{cpu}" here, with other kernels: "{cpu}" reaches the pools of both ({names}).'


def _targets(command: Command) -> dict[str, str]:
    """Return the name of a target in TVM → ours."""
    others = [name for name in command.targets if name not in PROCESSOR]
    ours = dict(zip(others, fitting_labels(others, "target", [defaults.TARGET]), strict=True))
    return {name: ours.get(name, defaults.TARGET) for name in command.targets}


def _pool_names(command: Command) -> dict[str, str]:
    names = [pool.name for pool in command.pools]
    return dict(zip(names, fitting_labels(names, "pool", [defaults.IMPLICIT_POOLS["ro"].name]), strict=True))


def _pool(name: str, pool: TvmcPool, command: Command, targets: Mapping[str, str]) -> str:
    reach = list(dict.fromkeys(targets[target] for target in pool.targets))
    lines = [f"[pools.{name}]", f'access = "{pool.access}"']
    lines += [f"{word} = {_size(number) if word == 'size' else number}" for word, number in pool.words.items()]
    lines += [f"alignment = {command.alignments[pool.access]}"] if pool.access in command.alignments else []
    if pool.readers:
        lines.append(f"targets = {toml(_reach(pool, targets))}")
    elif set(reach) != {defaults.TARGET, *targets.values()}:
        lines.append(f"targets = {toml(reach)}")
    lines += _bursts(pool, targets)
    lines.append('#owner = "application"  # as in TVM: the caller passes a pointer; without it, the array is generated')
    return "\n".join(lines) + "\n"


def _reach(pool: TvmcPool, targets: Mapping[str, str]) -> dict[str, str]:
    """Return how targets reach a pool; of several that are one here, one that writes decides."""
    writers = {targets[target] for target in pool.targets if target not in pool.readers}
    return {targets[target]: "rw" if targets[target] in writers else "ro" for target in pool.targets}


def _size(size: int) -> str:
    return f'"{size >> 10} KiB"' if size % 1024 == 0 else str(size)


def _bursts(pool: TvmcPool, targets: Mapping[str, str]) -> Iterator[str]:
    """Yield burst sizes; where several targets of TVM are one here, the last one counts."""
    ours = {targets[target]: size for target, size in pool.bursts.items()}
    for target, size in pool.bursts.items():
        if ours[targets[target]] != size:
            yield f'# {plain(target)} is "{targets[target]}", too; TVM has {size} bytes for it.'
    if ours:
        yield f"target_burst_bytes = {toml(ours)}"


def _default_pool(command: Command) -> Iterator[str]:
    """Yield the implicit workspace pool where the command line gives its alignment."""
    if not any(pool.access == "rw" for pool in command.pools) and "rw" in command.alignments:
        name = defaults.IMPLICIT_POOLS["rw"].name
        yield f'[pools.{name}]\naccess = "rw"\nalignment = {command.alignments["rw"]}\n'


def _weights(command: Command, project: str, taken: Iterable[str]) -> Iterator[str]:
    if any(pool.access == "ro" for pool in command.pools):
        return
    implicit = defaults.IMPLICIT_POOLS["ro"]
    if "ro" in command.alignments:
        section = toml(implicit.section(project))
        yield _ALIGNED_WEIGHTS.format(name=implicit.name, alignment=command.alignments["ro"], section=section)
    else:
        yield _WEIGHTS.format(name=fitting_labels(["flash"], "pool", taken)[0])


def _processor(command: Command) -> Iterator[str]:
    lines = ['kernels = "cmsis-nn"  # where it has them: docs/targets.md'] if CMSIS_NN in command.targets else []
    lines += [f'isa = "{command.isa.value}"'] if command.isa is not Isa.PORTABLE else []
    if lines:
        yield "\n".join([f"[targets.{defaults.TARGET}]", *lines, ""])


def _not_taken_over(flags: Sequence[Flag]) -> Iterator[str]:
    """Yield a line for each reason, with the flags that have no meaning here."""
    reasons: dict[str, list[str]] = {}
    for flag in dict.fromkeys(flags):
        reasons.setdefault(_why(flag), []).append(str(flag))
    for why, names in reasons.items():
        yield f"Not taken over: {', '.join(names)}; {why}."


def _why(flag: Flag) -> str:
    if flag.name == "--pass-config":
        return _WHY_OF_PASSES.get(flag.value.partition("=")[0], _ELSE)
    name = _SHORT.get(flag.name, flag.name)
    fitting = [start for start in _WHY if name.startswith(start)]
    return _WHY[max(fitting, key=len)] if fitting else _ELSE
