"""Firmwares drawn at random: a few small nets, pools, places, and what manifests may ask for.

A third of them have nets whose layers run row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.support import row_nets
from tests.support.cli import manifest
from tests.support.drawn_nets import drawn

_ALGORITHMS = ["auto", "auto", "auto", "greedy_by_size", "greedy_by_conflicts", "hill_climb", "exact"]
_KINDS = ["CONV_2D", "CONV_2D", "*"]


@dataclass(frozen=True)
class Firmware:
    """A manifest but for the limits of its pools, and its models."""

    before: str
    """What stands before the pools."""
    pools: dict[str, str]
    """The lines of each pool's table, without its size."""
    behind: str
    """What stands after the pools."""
    models: dict[str, bytes]

    def written(self, folder: Path, limits: dict[str, int]) -> Path:
        """Write models and manifest, with these limits of pools in bytes."""
        for name, data in self.models.items():
            (folder / f"{name}.tflite").write_bytes(data)
        tables = (
            f"[pools.{name}]\n{lines}" + (f"size = {limits[name]}\n" if name in limits else "")
            for name, lines in self.pools.items()
        )
        return manifest(folder, self.before + "".join(tables) + self.behind)


def firmware(seed: int) -> Firmware:
    """Draw a firmware of one to three models in one to three workspace pools."""
    r = Random(seed)
    names = [f"m{index}" for index in range(r.choice([1, 1, 2, 2, 3]))]
    workspaces = [f"w{index}" for index in range(r.choice([1, 1, 2, 2, 3]))]
    constants = [f"c{index}" for index in range(r.choice([1, 1, 2]))]
    together = [r.sample(names, 2)] if len(names) > 1 and r.random() < 0.4 else []
    lines = [f"concurrent = {together}\n".replace("'", '"')] if together else []
    pools = {name: 'access = "rw"\n' + _speed(r) for name in workspaces}
    pools |= dict.fromkeys(constants, 'access = "ro"\n')
    behind = [_model(r, name, workspaces) for name in names]
    algorithm = r.choice(_ALGORITHMS)
    rounds = "options = { rounds = 100 }\n" if algorithm == "hill_climb" else ""
    behind.append(f'[plan]\nalgorithm = "{algorithm}"\n{rounds}' + ("overlap = false\n" if r.random() < 0.1 else ""))
    models = {name: drawn(r.randrange(1 << 30), (1, 4)) for name in names}
    if seed % 3 == 2:
        models = {name: row_nets.drawn(seed + index, (2, 5), (4, 9)) for index, name in enumerate(names)}
        behind[-1] = "[plan]\nrows = true\n"
    return Firmware("".join(lines) + '[project]\nname = "p"\n', pools, "".join(behind), models)


def _speed(r: Random) -> str:
    return f"clock_frequency_hz = 100_000_000\nread_bandwidth_bytes_per_cycle = {r.choice([1, 2, 8])}\n" * (
        r.random() < 0.3
    )


def _model(r: Random, name: str, workspaces: list[str]) -> str:
    """Draw the tables of a model."""
    lines = [f'[models.{name}]\npath = "{name}.tflite"\n']
    chosen = workspaces
    if name != "m0" and r.random() < 0.3:  # somebody must be able to use each pool
        chosen = r.sample(workspaces, r.randint(1, len(workspaces)))
        lines.append(f"workspace_pools = {chosen}\n".replace("'", '"'))
    if r.random() < 0.2:
        lines.append(f'inputs = "{r.choice(["preserved", "reserved"])}"\n')
    if r.random() < 0.15:
        lines.append('outputs = "reserved"\n')
    if r.random() < 0.15:
        lines.append('order = "file"\n')
    if r.random() < 0.2:
        lines.append('goal = "balanced"\n')
    if r.random() < 0.35:
        lines.append(f'[[models.{name}.place]]\noperators = "{r.choice(_KINDS)}"\npools = ["{r.choice(chosen)}"]\n')
    return "".join(lines)
