"""Writes tables of a manifest from a TVMC command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from usmp_build.document.suggest import plain, quoted
from usmp_build.manifest import defaults
from usmp_build.manifest.phrases import toml
from usmp_build.manifest.starter import StarterMemory, fitting_labels
from usmp_build.manifest.tvmc.command import Command
from usmp_build.manifest.tvmc.pools import TvmcPool
from usmp_build.manifest.tvmc.remarks import not_taken_over
from usmp_build.manifest.tvmc.targets import HOSTS

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
_TARGET = """\
[targets.{name}]
kernels = "extern"  # the application supplies them: docs/targets.md
# Nothing runs here until a place says so: [[models.NAME.place]] with operators = "CONV_2D", target = "{name}".
"""


def memory(command: Command, project: str) -> StarterMemory:
    """Return the pools and targets of a manifest equivalent to the command line."""
    targets = _targets(command)
    names = _pool_names(command)
    tables = [
        *(_pool(names[pool.name], pool, command, targets) for pool in command.pools),
        *_default_pool(command),
        _weights(command, project, names.values()),
        *(_target(name) for tvm, name in targets.items() if tvm not in HOSTS),
    ]
    remarks = [*_renamed("pool", names), *_renamed("target", targets), *_unreached(command)]
    return StarterMemory("\n".join(tables), [*remarks, *not_taken_over(command.others)], command.io, command.algorithm)


def _renamed(what: str, names: Mapping[str, str]) -> Iterator[str]:
    for tvm, name in names.items():
        if name not in (tvm, defaults.TARGET):
            yield f'TVM\'s {what} {quoted(tvm)} is called "{name}": names become parts of C identifiers, case ignored.'


def _unreached(command: Command) -> Iterator[str]:
    if command.pools and not any(target in HOSTS for pool in command.pools for target in pool.targets):
        cpu = defaults.TARGET
        yield f'No pool is reached by c or llvm: let "{cpu}" reach one, for it runs what is not placed elsewhere.'


def _targets(command: Command) -> dict[str, str]:
    """Return the name of a target in TVM → ours."""
    others = [name for name in command.targets if name not in HOSTS]
    ours = dict(zip(others, fitting_labels(others, "target", [defaults.TARGET]), strict=True))
    return {name: ours.get(name, defaults.TARGET) for name in command.targets}


def _pool_names(command: Command) -> dict[str, str]:
    names = [pool.name for pool in command.pools]
    return dict(zip(names, fitting_labels(names, "pool", [defaults.IMPLICIT_POOLS["ro"].name]), strict=True))


def _pool(name: str, pool: TvmcPool, command: Command, targets: Mapping[str, str]) -> str:
    reach = list(dict.fromkeys(targets[target] for target in pool.targets))
    lines = [f"[pools.{name}]", 'access = "rw"']
    lines += [f"{word} = {_size(number) if word == 'size' else number}" for word, number in pool.words.items()]
    lines += [f"alignment = {command.alignments['rw']}"] if "rw" in command.alignments else []
    if set(reach) != {defaults.TARGET, *targets.values()}:
        lines.append(f"targets = {toml(reach)}")
    lines += _bursts(pool, targets)
    lines.append('#owner = "application"  # as in TVM: the caller passes a pointer; without it, the array is generated')
    return "\n".join(lines) + "\n"


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
    if not command.pools and "rw" in command.alignments:
        name = defaults.IMPLICIT_POOLS["rw"].name
        yield f'[pools.{name}]\naccess = "rw"\nalignment = {command.alignments["rw"]}\n'


def _weights(command: Command, project: str, taken: Iterable[str]) -> str:
    implicit = defaults.IMPLICIT_POOLS["ro"]
    if "ro" in command.alignments:
        section = toml(implicit.section(project))
        return _ALIGNED_WEIGHTS.format(name=implicit.name, alignment=command.alignments["ro"], section=section)
    return _WEIGHTS.format(name=fitting_labels(["flash"], "pool", taken)[0])


def _target(name: str) -> str:
    return _TARGET.format(name=name)
