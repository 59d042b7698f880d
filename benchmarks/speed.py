"""The command: what placement by cost is worth, where the fast memory is too small for all.

    python -m benchmarks.speed models/*.tflite

For each model, and all of them in one plan: fast memory of some shares of what the model needs, and slow memory beside
it.  "first fit" is USMP's rule: the largest first, each into the first pool of its list that has room.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from usmp_build import pipeline
from usmp_build.files import DictFiles
from usmp_build.layout import Summary

_POOLS = """
[project]
name = "speed"

[pools.fast]
access = "rw"
size = {size}
clock_frequency_hz = 480_000_000
read_bandwidth_bytes_per_cycle = 8

[pools.slow]
access = "rw"
clock_frequency_hz = 240_000_000
read_bandwidth_bytes_per_cycle = 8
read_latency_cycles = 4
target_burst_bytes = {{ cpu = 32 }}

[plan]
rows = false
algorithm = "{algorithm}"
"""
_SHARES = (75, 50, 25, 10)
_ENOUGH = 1 << 40


def main(paths: Sequence[str]) -> int:
    """Print the table."""
    models = {Path(path).stem: Path(path).read_bytes() for path in paths}
    groups = [[name] for name in models] + ([list(models)] if len(models) > 1 else [])
    print("| model | fast bytes | share | least, us | first fit, us | more | ours, us | above the bound |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for group in groups:
        for line in rows({name: models[name] for name in group}):
            print(line)
    return 0


def rows(models: Mapping[str, bytes]) -> Iterator[str]:
    """Yield a row of Markdown for each share; `models` by name."""
    name = next(iter(models)) if len(models) == 1 else f"all {len(models)}"
    needed = next(pool.size for pool in _plan(models, _ENOUGH, "auto").pools if pool.name == "fast")
    for share in _SHARES:
        size = needed * share // 100
        ours, theirs = (_plan(models, size, algorithm).cost for algorithm in ("auto", "greedy_by_size"))
        more = f"{100 * (theirs.total - ours.total) / ours.total:.1f} %"
        above = "0" if ours.is_least else f"{100 * (ours.total - ours.bound) / ours.bound:.1f} %"
        cells = [f"{size:,}", f"{share} %", _us(ours.bound), _us(theirs.total), more, _us(ours.total), above]
        yield f"| {name} | {' | '.join(cells)} |"


def _plan(models: Mapping[str, bytes], size: int, algorithm: str) -> Summary:
    tables = "".join(f'[models.{name}]\npath = "{name}.tflite"\n' for name in models)
    text = _POOLS.format(size=size, algorithm=algorithm) + tables
    files = DictFiles({"usmp.toml": text.encode(), **{f"{name}.tflite": data for name, data in models.items()}})
    return pipeline.plan(pipeline.read("usmp.toml", files), files).summary


def _us(nanoseconds: int) -> str:
    return f"{nanoseconds / 1000:,.1f}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
