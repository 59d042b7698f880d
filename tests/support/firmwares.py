"""Firmwares drawn at random: a few small nets, pools, places, and what manifests may ask for.

A third of them have nets whose layers run row by row.
"""

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from random import Random

from checker.model import Model
from tests.support import row_nets
from tests.support.cli import manifest
from tests.support.drawn_nets import drawn, drawn_like
from tests.support.net import Value

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


def together(seed: int) -> Firmware:
    """Draw two or three models that share what lives between runs; in half of the firmwares some feed others.

    Any of them may run at the same time as another one, and inputs and outputs may be kept.
    """
    r = Random(f"together {seed}")
    names = r.sample("abcd", r.choice([2, 3, 3]))
    models, outputs, links = dict[str, bytes](), list[tuple[str, int, Value]](), list[tuple[str, int, str, int]]()
    for name in names:
        fed = r.sample(outputs, min(len(outputs), r.choice([1, 1, 2]))) if seed % 2 else []
        links += [(source, k, name, position) for position, (source, k, _) in enumerate(fed)]
        models[name], output_shape = drawn_like(r.randrange(1 << 30), [value for *_, value in fed], (1, 4))
        outputs += [(name, k, value) for k, value in enumerate(output_shape) if len(value.shape) == 4]
    strangers = [pair for pair in combinations(names, 2) if not any({*pair} == {a, b} for a, _, b, _ in links)]
    concurrent = [list(r.choice(strangers))] if strangers and r.random() < 0.4 else []
    first = f"concurrent = {concurrent}\n".replace("'", '"') if concurrent else ""
    tables = [f'[models.{name}]\npath = "{name}.tflite"\n{_kept(r)}' for name in names]
    ports = {name: Model(data) for name, data in models.items()}
    tables += [
        f'[[connections]]\nfrom = "{a}.t{ports[a].outputs[k]}"\nto = "{b}.t{ports[b].inputs[position]}"\n'
        for a, k, b, position in links
    ]
    tables.append(f"[plan]\nrows = {r.choice(['true', 'false'])}\n")
    pools = dict.fromkeys(["w0", "w1"][: r.choice([1, 1, 2])], 'access = "rw"\n')
    return Firmware(first + '[project]\nname = "p"\n', pools, "".join(tables), models)


def _kept(r: Random) -> str:
    """Draw what a model keeps between runs."""
    inputs, outputs = r.choice(["consumed", "consumed", "preserved", "reserved"]), r.choice(["run", "run", "reserved"])
    return f'inputs = "{inputs}"\noutputs = "{outputs}"\n'


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
