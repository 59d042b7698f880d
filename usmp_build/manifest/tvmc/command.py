"""Reads what a TVMC command line says about memory: pools, targets, algorithm, inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Literal

from usmp_build.document.suggest import quoted, suggestion
from usmp_build.errors import Diagnostic, UsageError
from usmp_build.frozen import frozen
from usmp_build.manifest.kinds import MOST_ALIGNMENT
from usmp_build.manifest.tvmc.pools import FLAGS, TvmcPool, known_targets, read_number, read_pools
from usmp_build.manifest.tvmc.targets import instructions, target_names
from usmp_build.manifest.tvmc.words import RFC, Flag, Words, read_words
from usmp_build.request import Isa
from usmp_build.units import is_power_of_two

_TARGET, _MODULE, _PASS = "--target", "--module-name", "--pass-config"
_ALIGNMENTS = {"--executor-aot-workspace-byte-alignment": "rw", "--executor-aot-constant-byte-alignment": "ro"}
_TAKEN_OVER = frozenset([*FLAGS, *_ALIGNMENTS, _TARGET, _MODULE])
_OF_PASSES = ("tir.usmp.enable", "tir.usmp.algorithm", "tir.usmp.use_workspace_io")
"""Pass options that are translated."""
_OTHERS = ("--output", "-o", "--output-format", "-f", "--executor", "--runtime", "--opt-level", "-O")
_ALGORITHMS = ("greedy_by_size", "greedy_by_conflicts", "hill_climb")

_FAMILIES: Mapping[str, Literal["rw", "ro"]] = {
    f"{RFC}workspace-pool": "rw",
    f"{RFC}parameter-pool": "ro",
    f"{RFC}constant-pool": "ro",
}
"""The beginning of flags: with "s" they name pools, with "-POOL" they say what a pool is.  TVM later said constants."""
_HELP = 'write {}-{}="target=c,accel;size=1000"'


@frozen
class Command:
    """The translated part of a command line, by TVM's names."""

    pools: tuple[TvmcPool, ...] = ()
    targets: tuple[str, ...] = ()
    """All targets named by `--target` and by pools."""
    isa: Isa = Isa.PORTABLE
    """What options of the processor's targets say that it has."""
    algorithm: str = "auto"
    io: str = "application"
    alignments: Mapping[str, int] = field(default_factory=dict)
    """Access of pools → bytes."""
    models: tuple[str, ...] = ()
    """Files of models."""
    module: str = ""
    others: tuple[Flag, ...] = ()
    """Flags without a meaning here."""


def read_command(text: str) -> Command:
    """Read a command line of TVMC, or some of its flags.

    Raises UsageError (U225 to U229) where TVMC would refuse the line, and where it would ignore a flag because its pool
    is undefined.
    """
    words = read_words(text, _TAKEN_OVER | {_PASS, *_OTHERS})
    given = words.last(_TARGET)
    named_targets = target_names(given) if given else ()
    pools = _pools(words, named_targets)
    isa, of_isa = instructions(words)
    passes = _passes(words)
    return Command(
        pools=pools,
        targets=tuple(dict.fromkeys([*named_targets, *(target for pool in pools for target in pool.targets)])),
        isa=isa,
        algorithm=_algorithm(passes),
        io="pool" if _is_on(passes, "tir.usmp.use_workspace_io") else "application",
        alignments={access: _alignment(flag, words) for flag, access in _ALIGNMENTS.items() if words.last(flag)},
        models=words.files,
        module=words.last(_MODULE),
        others=tuple(flag for flag in words.flags if flag not in of_isa and not _is_taken_over(flag)),
    )


def _pools(words: Words, named_targets: tuple[str, ...]) -> tuple[TvmcPool, ...]:
    """Return the pools, as TVMC writes them and as the RFC does.  Raises UsageError (U225 to U228)."""
    _check_rfc_flags(words)
    pools = (*read_pools(words, named_targets), *_rfc_pools(words, named_targets))
    names = [pool.name for pool in pools]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            message = f"two flags name a pool {quoted(name)}"
            raise UsageError(Diagnostic("U226", message, help="a pool is of workspaces, or of constants: name it once"))
    return pools


def _is_taken_over(flag: Flag) -> bool:
    if flag.name == _PASS:
        return flag.value.partition("=")[0] in _OF_PASSES
    return flag.name in _TAKEN_OVER or flag.name.startswith(RFC)


def _alignment(name: str, words: Words) -> int:
    flag = Flag(name, words.last(name))
    number = read_number(flag, flag.value, 1)
    if is_power_of_two(number) and number <= MOST_ALIGNMENT:
        return number
    help_ = f"write a power of two up to {MOST_ALIGNMENT}"
    raise UsageError(Diagnostic("U228", f"{quoted(flag)} is not an alignment", help=help_))


def _passes(words: Words) -> dict[str, str]:
    pairs = (flag.value.partition("=") for flag in words.flags if flag.name == _PASS)
    return {key: value for key, _, value in pairs}


def _is_on(passes: Mapping[str, str], key: str) -> bool:
    value = passes.get(key, "0").lower()
    if value in ("0", "1", "false", "true"):
        return value in ("1", "true")
    message = f'"{_PASS} {key}" of TVMC is {quoted(value)}'
    raise UsageError(Diagnostic("U229", message, help=f"write {key}=1 or {key}=0"))


def _algorithm(passes: Mapping[str, str]) -> str:
    name = passes.get("tir.usmp.algorithm", "auto")
    if "tir.usmp.custom_algorithm" in passes:
        return "auto"
    if name in (*_ALGORITHMS, "auto"):
        return name
    message = f"tir.usmp.algorithm of TVMC names {quoted(name)}, which does not exist"
    raise UsageError(Diagnostic("U229", message, help=suggestion(name, _ALGORITHMS, "there are")))


def _rfc_pools(words: Words, defined_targets: Sequence[str]) -> Iterator[TvmcPool]:
    """Yield workspaces, then constant pools, each in the order of the flag that names them.

    `defined_targets` is empty where they are not known.  Raises UsageError (U225 to U228).
    """
    for family, access in _FAMILIES.items():
        text = words.last(f"{family}s")
        names = dict.fromkeys(text.split(",") if text else ())
        if "" in names:
            message = f"{family}s={quoted(text)} has a pool without a name"
            raise UsageError(Diagnostic("U226", message, help=f"names stand between commas: {family}s=dtcm,sram"))
        for name in names:
            flag = Flag(f"{family}-{name}", words.last(f"{family}-{name}"))
            yield _pool(flag, name, access, defined_targets)


def _check_rfc_flags(words: Words) -> None:
    """Raise UsageError (U225) for flags that the RFC does not have, and U226 for those of pools that nothing names."""
    named = {f"{family}-{name}": family for family in _FAMILIES for name in words.last(f"{family}s").split(",")}
    known = {*named, *(f"{family}s" for family in _FAMILIES)}
    for flag in words.flags:
        if not flag.name.startswith(RFC) or flag.name in known:
            continue
        family = next((family for family in _FAMILIES if flag.name.startswith(f"{family}-")), "")
        if family:
            pool = quoted(flag.name.removeprefix(f"{family}-"))
            message = f"{quoted(flag)} is of pool {pool}, which {family}s does not name"
            raise UsageError(Diagnostic("U226", message, help=f"add the pool to {family}s"))
        message = f"USMP's RFC has no flag {quoted(flag.name)}"
        raise UsageError(Diagnostic("U225", message, help=suggestion(flag.name, sorted(known), "there are")))


def _pairs(value: str) -> dict[str, str]:
    options = dict.fromkeys(part.strip() for part in value.split(";") if part.strip())
    return {key.strip(): value.strip() for key, _, value in (option.partition("=") for option in options)}


def _pool(flag: Flag, name: str, access: Literal["rw", "ro"], defined_targets: Sequence[str]) -> TvmcPool:
    """Read "target=c:rw,accel:ro;size=1000", where ":rw" may be missing."""
    pairs = _pairs(flag.value)
    family = flag.name.removesuffix(f"-{name}")
    if not pairs.keys() <= {"target", "size"} or "" in pairs.values() or "target" not in pairs:
        message = f"{quoted(flag)} does not say which targets reach pool {quoted(name)}, and perhaps its size"
        raise UsageError(Diagnostic("U226", message, help=_HELP.format(family, name)))
    reaches = [reach.partition(":") for reach in pairs["target"].split(",")]
    if any(how not in ("", "rw", "ro") for _, _, how in reaches):
        message = f"{quoted(flag)} has a target that neither reads and writes, nor reads"
        raise UsageError(
            Diagnostic("U226", message, help=f"write target:rw or target:ro; {_HELP.format(family, name)}")
        )
    targets = known_targets(flag, [target for target, _, _ in reaches], defined_targets)
    size = read_number(flag, pairs.get("size", "-1"), 1)
    readers = frozenset(target for target, _, how in reaches if how == "ro" and access == "rw")
    return TvmcPool(name, targets, {"size": size} if size != -1 else {}, {}, access, readers)
