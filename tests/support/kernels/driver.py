"""Runs `Kernel` declarations: the loops that generated code has around kernels, over a shared library of all of them.

Every buffer stands between guard bytes, and starts full of garbage unless it is given; a guard or an input that
changes is an error.
"""

import ctypes
import random
import struct
import subprocess
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.planned import Shared
from usmp_build.interfaces.kernels import (
    Absent,
    Derived,
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Parameters,
    Pieces,
    Reduce,
    Rows,
    Scratch,
)
from usmp_build.ir.graph import Subgraph, Tensor
from usmp_build.kernels import sources
from usmp_build.kernels.sources import functions

HEADERS = Path(__file__).parent
"""The folder of `usmp.h`, as kernels include it where nothing is generated."""
PREFIX = "case"


def build(folder: Path, *flags: str, names: Iterable[str] | None = None) -> Path:
    """Compile kernels into a shared library: those of these names, or all."""
    c = sources.choose(functions() if names is None else names, PREFIX)
    source = folder / "kernels.c"
    source.write_text(f'#include "usmp.h"\n\n{c.header}\n\n{c.source}\n', encoding="utf-8")
    target = folder / "kernels.so"
    command = ["gcc", "-std=c99", "-shared", "-fPIC", f"-I{HEADERS}", *flags, str(source), "-o", str(target), "-lm"]
    subprocess.run(command, check=True)
    return target


def optimized(flag: str, shared: Shared) -> Path:
    """Return what `build` makes with a flag such as -O2: once in a run of tests."""
    return shared(f"kernels{flag}", lambda folder: build(folder, flag))


class Runner:
    """Kernels of a shared library, called as they declare.

    With a guard of 0 bytes each buffer is a block of the C library's heap and nothing more, so that a sanitizer sees
    where it ends.
    """

    def __init__(self, path: Path, guard: int = 64) -> None:
        self._library = ctypes.CDLL(str(path))
        self._guard = guard
        self._garbage = random.Random(7)

    def run(
        self, graph: Subgraph, kernel: Kernel, inputs: Sequence[NDArray[Any]], distance: int | None = None
    ) -> list[NDArray[Any]]:
        """Run the only operator of a graph; `inputs` are those that are not constant, in the graph's order.

        With a distance, the only output and the first input share a block: the output begins that many bytes before
        the input.
        """
        op = graph.operators[0]
        given = dict(zip(graph.inputs, inputs, strict=True))
        results = {Output(p): graph.tensors[t] for p, t in enumerate(op.outputs)}
        tensors: dict[Operand, Tensor] = {Input(p): graph.tensors[t] for p, t in enumerate(op.inputs) if t is not None}
        tensors |= results
        contents: dict[Operand, bytes] = {}
        for p, t in enumerate(op.inputs):
            if t is not None:
                tensor = graph.tensors[t]
                data = bytes(tensor.size) if tensor.is_variable else tensor.data
                contents[Input(p)] = given[t].tobytes() if data is None else data
        contents |= {Derived(p): constant.data for p, constant in enumerate(kernel.constants)}
        contents |= {Scratch(p): self._garbage.randbytes(request.size) for p, request in enumerate(kernel.scratch)}
        contents |= {output: self._garbage.randbytes(result.size) for output, result in results.items()}
        if distance is not None:
            before, behind = max(distance, 0), max(0, results[Output(0)].size - distance)
            contents[Output(0)] = self._garbage.randbytes(before) + contents[Input(0)] + bytes(behind)
        buffers = {operand: _Buffer(data, self._guard) for operand, data in contents.items()}
        places = {operand: buffer.address for operand, buffer in buffers.items()} | {Absent(): 0}
        start = 0
        if distance is not None:
            start = max(0, -distance)
            places[Input(0)] = places[Output(0)] + max(distance, 0)
            places[Output(0)] += start
        for call in kernel.calls:
            self._call(call, places, tensors)
        for operand, buffer in buffers.items():
            may_change = isinstance(operand, Output | Scratch) or operand in map(Input, kernel.updates)
            buffer.check(f"{op.kind}: {operand}", may_change=may_change)
        return [
            np.frombuffer(buffers[output].content(), result.dtype.numpy, result.elements, start).reshape(result.shape)
            for output, result in results.items()
        ]

    def _call(self, call: KernelCall, places: dict[Operand, int], tensors: dict[Operand, Tensor]) -> None:
        arguments = [places[operand] for operand in call.operands]
        parameters = [] if call.parameters is None else [_packed(call.parameters)]
        if isinstance(call.form, Pieces):
            self._pieces(call, call.form, parameters, arguments, tensors)
            return
        if not isinstance(call.form, Rows | Reduce):
            self._function(call.function, *parameters, *arguments)
            return
        widths = [tensors[operand].dtype.bits // 8 for operand in (call.operands[0], call.operands[-1])]
        pitches = [call.form.input_row_elements * widths[0], call.form.output_row_elements * widths[1]]
        if isinstance(call.form, Rows):
            self._rows(call, call.form, parameters, arguments, pitches)
        else:
            self._reduce(call, call.form, parameters, arguments, pitches)

    def _pieces(
        self,
        call: KernelCall,
        form: Pieces,
        parameters: list[bytes],
        places: list[int],
        tensors: dict[Operand, Tensor],
    ) -> None:
        steps = [
            pitch * tensors[operand].dtype.bits // 8 if pitch else 0
            for operand, pitch in zip(call.operands, form.pitches, strict=True)
        ]
        for number in _counting(form.count, call):
            pieces = (place + number * step for place, step in zip(places, steps, strict=True))
            self._function(call.function, *parameters, *pieces)

    def _rows(
        self, call: KernelCall, form: Rows, parameters: list[bytes], places: list[int], pitches: list[int]
    ) -> None:
        source, *others, target = places
        for image in _counting(form.images, call):
            for y in _counting(form.rows, call):
                needed = [form.first_row(y) + k * form.dilation for k in range(form.window)]
                first = source + image * form.input_rows * pitches[0]
                rows = [first + row * pitches[0] if 0 <= row < form.input_rows else 0 for row in needed]
                pointers = (ctypes.c_void_p * form.window)(*rows)
                output = target + (image * form.rows + y) * pitches[1]
                self._function(
                    call.function, *parameters, ctypes.addressof(pointers), *[y] * form.numbered, *others, output
                )

    def _reduce(
        self, call: KernelCall, form: Reduce, parameters: list[bytes], places: list[int], pitches: list[int]
    ) -> None:
        name, at = call.function, call.operands.index(Scratch(0))
        source, target, scratch = places[0], places[-1], places[at]
        for image in _counting(form.images, call):
            self._function(f"{name}_begin", *parameters, scratch)
            for y in range(form.rows):
                row = source + (image * form.rows + y) * pitches[0]
                self._function(f"{name}_row", *parameters, row, *[y] * form.numbered, *places[1 : at + 1])
            self._function(f"{name}_finish", *parameters, *places[at:-1], target + image * pitches[1])

    def _function(self, name: str, *arguments: int | bytes) -> None:
        function = getattr(self._library, f"{PREFIX}_{name}")
        function.restype = None
        function(*(a if isinstance(a, bytes) else ctypes.c_void_p(a) for a in arguments))


def _counting(count: int, call: KernelCall) -> range:
    return range(count)[:: -1 if call.backward else 1]


_malloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(("malloc", ctypes.CDLL(None)))
_free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(("free", ctypes.CDLL(None)))


class _Buffer:
    """A block of the C library's heap: guard, data, guard."""

    def __init__(self, data: bytes, guard: int) -> None:
        self._data = data
        self._guard = bytes(range(0xA0, 0xA0 + guard))
        self._block = _malloc(len(data) + 2 * guard)
        ctypes.memmove(self._block, self._guard + data + self._guard, len(data) + 2 * guard)

    def __del__(self) -> None:
        _free(self._block)

    @property
    def address(self) -> int:
        return int(self._block) + len(self._guard)

    def content(self) -> bytes:
        return ctypes.string_at(self.address, len(self._data))

    def check(self, name: str, *, may_change: bool) -> None:
        size = len(self._guard)
        before, behind = ctypes.string_at(self._block, size), ctypes.string_at(self.address + len(self._data), size)
        assert before == behind == self._guard, f"{name}: a byte outside was written"
        assert may_change or self.content() == self._data, f"{name}: an input was written"


def _packed(parameters: Parameters) -> bytes:
    values = [*chain(*(value if isinstance(value, tuple) else (value,) for _, value in parameters.fields))]
    return struct.pack("=" + "".join("f" if isinstance(value, float) else "i" for value in values), *values)
