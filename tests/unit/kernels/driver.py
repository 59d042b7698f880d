"""Runs `Kernel` declarations: the loops that generated code has around kernels, over a shared library of all of them.

Every buffer stands between guard bytes and begins full of garbage; a guard that changed is an error.
"""

from __future__ import annotations

import ctypes
import random
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from usmp_build.interfaces.kernels import (
    Derived,
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Parameters,
    Reduce,
    Rows,
    Scratch,
)
from usmp_build.ir.graph import Subgraph, Tensor
from usmp_build.kernels.reference import library
from usmp_build.kernels.reference.sources import functions

HERE = Path(__file__).parent
PREFIX = "case"
_GUARD = 64


def build(folder: Path, *flags: str) -> Path:
    """Compile all kernels into a shared library."""
    c = library.sources(functions(), PREFIX)
    source = folder / "kernels.c"
    source.write_text(f'#include "usmp.h"\n\n{c.header}\n\n{c.source}\n')
    target = folder / "kernels.so"
    command = ["gcc", "-std=c99", "-shared", "-fPIC", f"-I{HERE}", *flags, str(source), "-o", str(target), "-lm"]
    subprocess.run(command, check=True)
    return target


class Runner:
    """Kernels of a shared library, called by their declarations."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._garbage = random.Random(7)

    def run(self, graph: Subgraph, kernel: Kernel, inputs: Sequence[NDArray[np.generic]]) -> NDArray[np.generic]:
        """Run the only operator of a graph; `inputs` are those that are not constant, in the graph's order."""
        op = graph.operators[0]
        given = dict(zip(graph.inputs, inputs, strict=True))
        buffers: dict[Operand, _Buffer] = {}
        for position, index in enumerate(op.inputs):
            if index is not None:
                tensor = graph.tensors[index]
                data = tensor.data if tensor.data is not None else given[index].tobytes()
                buffers[Input(position)] = self._buffer(len(data), data)
        for position, constant in enumerate(kernel.constants):
            buffers[Derived(position)] = self._buffer(len(constant.data), constant.data)
        for position, request in enumerate(kernel.scratch):
            buffers[Scratch(position)] = self._buffer(request.size)
        result = graph.tensors[op.outputs[0]]
        buffers[Output(0)] = self._buffer(result.size)
        widths = {Output(0): _width(result)}
        widths |= {Input(p): _width(graph.tensors[i]) for p, i in enumerate(op.inputs) if i is not None}
        for call in kernel.calls:
            self._call(call, buffers, widths)
        for operand, buffer in buffers.items():
            buffer.check(f"{op.kind}: {operand}", may_change=isinstance(operand, Output | Scratch))
        return np.frombuffer(buffers[Output(0)].content(), result.dtype.numpy).reshape(result.shape)

    def _buffer(self, size: int, data: bytes | None = None) -> _Buffer:
        return _Buffer(self._garbage.randbytes(size) if data is None else data, self._garbage.randbytes(_GUARD))

    def _call(self, call: KernelCall, buffers: dict[Operand, _Buffer], widths: dict[Operand, int]) -> None:
        parameters = [] if call.parameters is None else [_packed(call.parameters)]
        places = [buffers[operand].address for operand in call.operands]
        widest = (widths[call.operands[0]], widths[call.operands[-1]])
        match call.form:
            case Rows():
                self._rows(call.function, call.form, parameters, places, widest)
            case Reduce():
                self._reduce(call.function, call.form, parameters, places, widest)
            case _:
                self._function(call.function, *parameters, *places)

    def _rows(self, name: str, form: Rows, parameters: list[bytes], places: list[int], widths: tuple[int, int]) -> None:
        source, *others, target = places
        for image in range(form.images):
            for y in range(form.rows):
                needed = [y * form.stride - form.before + k * form.dilation for k in range(form.window)]
                pitch = form.input_pitch * widths[0]
                rows = [
                    source + (image * form.input_rows + row) * pitch if 0 <= row < form.input_rows else 0
                    for row in needed
                ]
                pointers = (ctypes.c_void_p * form.window)(*rows)
                output = target + (image * form.rows + y) * form.output_pitch * widths[1]
                self._function(name, *parameters, ctypes.addressof(pointers), *others, output)

    def _reduce(
        self, name: str, form: Reduce, parameters: list[bytes], places: list[int], widths: tuple[int, int]
    ) -> None:
        source, scratch, target = places
        for image in range(form.images):
            self._function(f"{name}_begin", *parameters, scratch)
            for y in range(form.rows):
                row = source + (image * form.rows + y) * form.input_pitch * widths[0]
                self._function(f"{name}_row", *parameters, row, scratch)
            output = target + image * form.output_pitch * widths[1]
            self._function(f"{name}_finish", *parameters, scratch, output)

    def _function(self, name: str, *arguments: int | bytes) -> None:
        function = getattr(self._library, f"{PREFIX}_{name}")
        function.restype = None
        function(*(a if isinstance(a, bytes) else ctypes.c_void_p(a) for a in arguments))


class _Buffer:
    """Bytes of the C library's heap, between guards; behind them lies whatever a sanitizer puts there."""

    def __init__(self, data: bytes, guard: bytes) -> None:
        self._before, self._data, self._guard = data, bytes(data), guard
        self._memory = ctypes.create_string_buffer(guard + data + guard, len(data) + 2 * len(guard))

    @property
    def address(self) -> int:
        return ctypes.addressof(self._memory) + len(self._guard)

    def content(self) -> bytes:
        return self._memory.raw[len(self._guard) : -len(self._guard)]

    def check(self, name: str, *, may_change: bool) -> None:
        raw, size = self._memory.raw, len(self._guard)
        assert raw[:size] == raw[-size:] == self._guard, f"{name}: a byte outside was written"
        assert may_change or self.content() == self._data, f"{name}: an input was written"


def _width(tensor: Tensor) -> int:
    return max(1, tensor.dtype.bits // 8)


def _packed(parameters: Parameters) -> bytes:
    values = [value for _, value in parameters.fields]
    return struct.pack("=" + "".join("f" if isinstance(value, float) else "i" for value in values), *values)
