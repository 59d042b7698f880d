"""Reads pools in the flags of the RFC of USMP, which TVMC never had: `--usmp-workspace-pool-dtcm="target=c;size=9"`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from usmp_build.document.suggest import quoted, suggestion
from usmp_build.errors import Diagnostic, UsageError
from usmp_build.manifest.tvmc.pools import TvmcPool, known_targets, read_number
from usmp_build.manifest.tvmc.words import RFC, Flag, Words

_FAMILIES: Mapping[str, Literal["rw", "ro"]] = {
    f"{RFC}workspace-pool": "rw",
    f"{RFC}parameter-pool": "ro",
    f"{RFC}constant-pool": "ro",
}
"""The beginning of flags: with "s" they name pools, with "-POOL" they say what a pool is.  TVM later said constants."""
_HELP = 'write {}-{}="target=c,accel;size=1000"'


def rfc_pools(words: Words, defined_targets: Sequence[str]) -> Iterator[TvmcPool]:
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


def check_rfc_flags(words: Words) -> None:
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


def _pool(flag: Flag, name: str, access: Literal["rw", "ro"], defined_targets: Sequence[str]) -> TvmcPool:
    """Read "target=c:rw,accel:ro;size=1000", where ":rw" may be missing."""
    options = dict.fromkeys(part.strip() for part in flag.value.split(";") if part.strip())
    pairs = {key.strip(): value.strip() for key, _, value in (option.partition("=") for option in options)}
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
