"""Random firmwares whose models feed each other and keep data: they compute in C, in every order, what TensorFlow Lite
Micro computes of each by itself; and the independent checker calls their plans right.
"""

import json
import os
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from checker.main import check
from checker.model import Model
from tests.support.cli import succeed
from tests.support.firmwares import together
from tests.support.host_c import built
from tests.support.kernels import oracle_worker
from tests.support.processes import output
from tests.support.tools import few, needs_c, needs_oracle

COUNT = int(os.environ.get("USMP_CASES", "60")) // 2
Array = np.ndarray[Any, Any]


class Application:
    """Runs models in C, and by themselves, one after the other; what the manifest promises is looked at in between."""

    def __init__(self, plan: dict[str, Any], models: dict[str, bytes], manifest: str, seed: int) -> None:
        self._models, self._random = models, np.random.default_rng(seed)
        self._files = {name: Model(data) for name, data in models.items()}
        self._names = {record["name"]: (record["inputs"], record["outputs"]) for record in plan["models"]}
        self._words = {name: manifest.partition(f"[models.{name}]")[2].split("\n[")[0] for name in models}
        links = manifest.split("[[connections]]\n")[1:]
        ends = [[each.split('"')[1] for each in link.splitlines()[:2]] for link in links]
        self._source = {end: source for source, end in ends}
        self._value = dict[str, Array]()
        """Values that are promised to be in their places: of "model.port"."""
        self.lines, self.expected, self.runs = list[str](), list[str](), 0

    def run(self, name: str) -> None:
        """Fill the inputs of a model and run it, unless one comes from a model that has to run first."""
        inputs, outputs = self._names[name]
        sources = {port: self._source.get(f"{name}.{port}") for port in inputs}
        if any(source and source not in self._value for source in sources.values()):
            return
        given = []
        for port, t in zip(inputs, self._files[name].inputs, strict=True):
            source = sources[port]
            value = self._value[source] if source else self._filled(name, port, self._files[name].tensors[t].shape)
            given.append(value)
        for lost in [port for port in self._value if not self._is_kept(port, name)]:
            del self._value[lost]
        self._show()
        results = oracle_worker.run(self._models[name], given)  # here: nothing that is drawn makes it abort
        assert not isinstance(results, str), results
        self.lines.append(f"    if ({name}_run() != USMP_OK) return 1;")
        self.runs += 1
        for source in sources.values():
            if source and source in self._value and self._is_consumed(source, name):
                del self._value[source]
        for port, value in zip(inputs, given, strict=True):
            if not sources[port] and 'inputs = "consumed"' not in self._words[name]:
                self._value[f"{name}.{port}"] = value
        self._value |= {f"{name}.{port}": value for port, value in zip(outputs, results, strict=True)}
        self._show()

    def _filled(self, name: str, port: str, shape: Sequence[int]) -> Array:
        value = self._random.integers(-128, 128, shape, np.int8)
        numbers = ", ".join(map(str, value.ravel()))
        self.lines.append(f"    {{ static const int8_t given[] = {{{numbers}}};")
        self.lines.append(f"      memcpy({name}_map_inputs().{port}, given, sizeof given); }}")
        return value

    def _is_kept(self, port: str, name: str) -> bool:
        """Whether a value is still promised when the inputs of a model have been filled."""
        model, is_input = port.split(".")[0], port.split(".")[1] in self._names[port.split(".")[0]][0]
        if is_input:
            return model != name and 'inputs = "reserved"' in self._words[model]
        if 'outputs = "reserved"' in self._words[model]:
            return True
        return port in self._source.values() and model != name

    def _is_consumed(self, source: str, name: str) -> bool:
        readers = {end.split(".")[0] for end, other in self._source.items() if other == source}
        is_reserved = 'outputs = "reserved"' in self._words[source.split(".")[0]]
        return len(readers) == 1 and 'inputs = "consumed"' in self._words[name] and not is_reserved

    def _show(self) -> None:
        """Print all that is promised now."""
        for port, value in self._value.items():
            model, name = port.split(".")
            side = "inputs" if name in self._names[model][0] else "outputs"
            self.lines.append(f'    show("{port}", {model}_map_{side}().{name}, {value.size});')
            self.expected.append(f"{port} {value.astype(np.int8).tobytes().hex()}")

    def main(self) -> str:
        """Return the program."""
        headers = "".join(f'#include "{name}.h"\n' for name in self._models)
        return f"""#include <stdio.h>
#include <string.h>
{headers}
static void show(const char *port, const int8_t *values, int count) {{
    printf("%s ", port);
    for (int i = 0; i < count; ++i) printf("%02x", (unsigned)(uint8_t)values[i]);
    puts("");
}}
int main(void) {{
{chr(10).join(self.lines)}
    return 0;
}}
"""


def orders(names: Sequence[str], seed: int) -> Iterator[str]:
    """Yield every order of models, one after the other, at times a model twice."""
    draw = Random(seed)
    for order in permutations(sorted(names)):
        for name in order:
            yield from [name] * draw.choice([1, 1, 1, 2])


@needs_c
@needs_oracle
@pytest.mark.drawn("seed")
@pytest.mark.parametrize("seed", few(range(COUNT), 4))
def test_models_that_share_memory_compute_the_same_in_every_order(seed: int, tmp_path: Path) -> None:
    firmware = together(seed)
    path = firmware.written(tmp_path, {})
    succeed("generate", path, "--out", tmp_path / "out")
    plan = json.loads((tmp_path / "out" / "plan.json").read_text("utf-8"))
    files = [firmware.models[record["name"]] for record in plan["models"]]
    check(plan, [Model(data) for data in files])
    application = Application(plan, firmware.models, path.read_text("utf-8"), seed)
    for name in orders([*firmware.models], seed):
        application.run(name)
    program = built(tmp_path / "out", tmp_path, application.main())
    printed = output([program])
    assert printed.splitlines() == application.expected
    assert application.runs >= len(firmware.models)
