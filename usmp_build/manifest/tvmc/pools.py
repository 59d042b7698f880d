"""Reads the workspace pools of a TVMC command line: names, targets that reach them, sizes and speeds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from usmp_build.document.suggest import plain, quoted, suggestion
from usmp_build.errors import Diagnostic, UsageError
from usmp_build.frozen import frozen
from usmp_build.manifest.tvmc.words import Flag, Words
from usmp_build.units import MAX_BYTES, show_bytes

POOLS = "--workspace-pools"
_TARGETS = f"{POOLS}-targets"
_BURSTS = f"{POOLS}-target-burst-bytes"
_NUMBERS: Mapping[str, tuple[str, int]] = {
    f"{POOLS}-size-hint-bytes": ("size", 1),
    f"{POOLS}-clock-frequency-hz": ("clock_frequency_hz", 1),
    f"{POOLS}-read-bandwidth-bytes-per-cycle": ("read_bandwidth_bytes_per_cycle", 1),
    f"{POOLS}-write-bandwidth-bytes-per-cycle": ("write_bandwidth_bytes_per_cycle", 1),
    f"{POOLS}-read-latency-cycles": ("read_latency_cycles", 0),
    f"{POOLS}-write-latency-cycles": ("write_latency_cycles", 0),
}
"""Flag → the manifest's word, and the least value; -1 is TVM's "not known", or "no limit"."""
FLAGS = frozenset([POOLS, _TARGETS, _BURSTS, *_NUMBERS])
_NO_FLAG = f"{POOLS}-is-internal"
"""A field of TVM's pools that only its compiler sets: TVMC has no flag for it."""


@frozen
class TvmcPool:
    """A pool of TVM."""

    name: str
    targets: tuple[str, ...]
    words: Mapping[str, int]
    """Word of the manifest → number: its size in bytes, and its speed."""
    bursts: Mapping[str, int]
    """Target → bytes."""
    access: Literal["rw", "ro"] = "rw"
    """Of workspaces, and of constants."""
    readers: frozenset[str] = frozenset()
    """Those of its targets that do not write."""


def read_pools(words: Words, defined_targets: Sequence[str]) -> tuple[TvmcPool, ...]:
    """Return the pools in the order of `--workspace-pools`; of several values for a pool, the last one counts.

    `defined_targets` is empty where they are not known.  Raises UsageError (U225 to U228).
    """
    _check_flags(words)
    text = words.last(POOLS)
    names = tuple(dict.fromkeys(text.split(","))) if text else ()
    if "" in names:
        help_ = f"names stand between commas: {POOLS}=dtcm,sram"
        raise UsageError(Diagnostic("U226", f"{POOLS}={quoted(text)} has a pool without a name", help=help_))
    targets: dict[str, tuple[str, ...]] = {}
    numbers: dict[str, dict[str, int]] = {name: {} for name in names}
    bursts: dict[str, dict[str, int]] = {name: {} for name in names}
    for flag in words.flags:
        if flag.name not in FLAGS or flag.name == POOLS:
            continue
        pool, value = _of_pool(flag, names)
        if flag.name == _TARGETS:
            targets[pool] = known_targets(flag, value.split(","), defined_targets)
        elif flag.name == _BURSTS:
            target, _, number = value.rpartition(":")
            bursts[pool][known_targets(flag, [target], defined_targets)[0]] = read_number(flag, number, 1)
        else:
            word, least = _NUMBERS[flag.name]
            numbers[pool][word] = read_number(flag, value, least)
    return tuple(_pool(name, targets, numbers[name], bursts[name]) for name in names)


def read_number(flag: Flag, text: str, least: int) -> int:
    """Return the number at the end of a flag; -1 stands for none.  Raises UsageError (U228)."""
    digits = text.removeprefix("-")
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= len(str(MAX_BYTES))
    if is_number and (int(text) == -1 or least <= int(text) <= MAX_BYTES):
        return int(text)
    help_ = f"write a whole number from {least} to {show_bytes(MAX_BYTES)}, or -1 for none"
    raise UsageError(Diagnostic("U228", f"{quoted(flag)} has no valid number", help=help_))


def _check_flags(words: Words) -> None:
    for flag in words.flags:
        if flag.name.startswith(POOLS) and flag.name not in {*FLAGS, _NO_FLAG}:
            help_ = suggestion(flag.name, sorted(FLAGS), "there are")
            raise UsageError(Diagnostic("U225", f"TVMC has no flag {quoted(flag.name)}", help=help_))


def _pool(
    name: str, targets: Mapping[str, tuple[str, ...]], numbers: Mapping[str, int], bursts: Mapping[str, int]
) -> TvmcPool:
    if name not in targets:
        help_ = f"add for example {_TARGETS}={plain(name)}:c"
        raise UsageError(Diagnostic("U226", f"pool {quoted(name)} of {POOLS} has no targets", help=help_))
    for target in bursts:
        if target not in targets[name]:
            message = f"{_BURSTS} names target {quoted(target)}, which does not reach pool {quoted(name)}"
            help_ = f"add the target to {_TARGETS}, or leave the burst out"
            raise UsageError(Diagnostic("U227", message, help=help_))
    return TvmcPool(name, targets[name], _given(numbers), _given(bursts))


def _given(numbers: Mapping[str, int]) -> dict[str, int]:
    """Return the numbers without -1, which stands for none."""
    return {word: number for word, number in numbers.items() if number != -1}


def _of_pool(flag: Flag, names: Collection[str]) -> tuple[str, str]:
    """Split "pool:value"."""
    pool, colon, value = flag.value.partition(":")
    if not colon or not value:
        help_ = f"write {flag.name}=POOL:VALUE"
        raise UsageError(Diagnostic("U226", f"{quoted(flag)} gives no pool a value", help=help_))
    if pool not in names:
        help_ = suggestion(pool, names, f"pools of {POOLS}") if names else f"add {POOLS}={plain(pool)}"
        message = f"{quoted(flag)} names pool {quoted(pool)}, which {POOLS} does not name"
        raise UsageError(Diagnostic("U226", message, help=help_))
    return pool, value


def known_targets(flag: Flag, names: Sequence[str], defined_targets: Sequence[str]) -> tuple[str, ...]:
    """Return the names of targets without repetitions.  Raises UsageError (U227) for one that is not defined."""
    for name in names:
        if not name:
            help_ = f"write {flag.name}=POOL:TARGET" + (":BYTES" if flag.name == _BURSTS else "")
            raise UsageError(Diagnostic("U227", f"{quoted(flag)} names no target", help=help_))
        if defined_targets and name not in defined_targets:
            message = f"{quoted(flag)} names target {quoted(name)}, which --target does not name"
            raise UsageError(Diagnostic("U227", message, help=suggestion(name, defined_targets, "targets of --target")))
    return tuple(dict.fromkeys(names))
