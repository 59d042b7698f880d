"""Makes tensors of declarations, and checks that types, extents and bytes agree."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from math import prod

from usmp_build.document.suggest import listed, quoted, suggestion
from usmp_build.frozen import frozen
from usmp_build.ir.graph import DType, Tensor
from usmp_build.textual.lines import MAX_DATA, Allowance
from usmp_build.textual.values import digest, from_digest
from usmp_build.units import MAX_BYTES, show_bytes

TYPES = {dtype.name.lower(): dtype for dtype in DType if dtype.bits}
_UNKNOWN = -1
"""An extent."""


class Disagreement(Exception):
    """A fault of a declaration: code, message, help, and the key that it concerns."""

    def __init__(self, code: str, message: str, help_: str, key: str) -> None:
        super().__init__(message)
        self.facts = (code, message, help_, key)


@frozen
class Declaration:
    """The declaration of a parameter, allocation or constant."""

    name: str
    dtype: str | None
    extents: tuple[int | str, ...] | None
    bytes: int | None
    axis_separators: tuple[int, ...] | None = None
    scope: str = ""


@frozen
class Sizes:
    """Makes tensors, with the upper bounds of extents that are given as text."""

    upper_bounds: Mapping[str, int]
    stand_ins: Allowance = field(default_factory=Allowance)
    """Bytes that may be allocated as placeholders for constants without data."""

    def parameter(self, declared: Declaration) -> Tensor:
        """Return a parameter, which need not have a size.  Raises Disagreement."""
        tensor = self.tensor(declared) if declared.dtype or declared.bytes is not None else None
        has_size = tensor is not None and _UNKNOWN not in tensor.shape
        return tensor if has_size and tensor else Tensor(declared.name, (), DType.VARIANT, memory_scope=declared.scope)

    def allocation(self, declared: Declaration) -> Tensor:
        """Return a tensor of known size.  Raises Disagreement."""
        return self._sized_tensor(declared, '; or let the application provide it: "on_demand": true')

    def _sized_tensor(self, declared: Declaration, way_out: str = "") -> Tensor:
        tensor = self.tensor(declared)
        if _UNKNOWN in tensor.shape:
            unknown = listed(e for e in declared.extents or () if isinstance(e, str) and e not in self.upper_bounds)
            message = f"the size of {quoted(declared.name)} is not known before the program runs: {unknown}"
            raise Disagreement("T265", message, f'state "upper_bounds" or "bytes"{way_out}', "extents")
        return tensor

    def tensor(self, declared: Declaration) -> Tensor:
        """Return a tensor; unknown extents are -1.  Raises Disagreement."""
        dtype = _dtype(declared)
        extents = declared.extents if declared.extents is not None else ("",)
        shape = tuple(e if isinstance(e, int) else self.upper_bounds.get(e, _UNKNOWN) for e in extents)
        if _UNKNOWN in shape and declared.bytes is not None:
            shape = (declared.bytes * 8 // dtype.bits,)
        separators, scope = declared.axis_separators, declared.scope
        tensor = Tensor(declared.name, shape, dtype, axis_separators=separators, memory_scope=scope)
        if _UNKNOWN in shape:
            return tensor
        if (prod(shape) * dtype.bits + 7) // 8 > MAX_BYTES:
            message = f"{quoted(declared.name)} is too large: at most {MAX_BYTES:,} bytes are supported"
            raise Disagreement("T265", message, "correct its extents", "extents")
        if declared.bytes is not None and declared.bytes != tensor.size:
            what = f"{dtype.name.lower()} {list(shape)} takes {tensor.size:,} bytes"
            message = f"{quoted(declared.name)} has {declared.bytes:,} bytes, but {what}"
            raise Disagreement("T265", message, 'correct one of the two, or leave "bytes" out', "bytes")
        return tensor

    def constant(self, declared: Declaration, data: str | None, owner: str) -> Tensor:
        """Return a constant; without data, one that has bytes like no other.  Raises Disagreement."""
        tensor = self._sized_tensor(declared)
        if data is None:
            if not self.stand_ins.spend(tensor.size):
                message = (
                    f"up to {quoted(declared.name)}, constants without data take over {show_bytes(MAX_DATA)} bytes"
                )
                help_ = 'correct its size, or plan without it: write null for it in "args", and leave it out of "reads"'
                raise Disagreement("T265", message, help_, "extents")
            stand_in = from_digest(digest(f"{owner}\n{declared.name}".encode("utf-8", "replace")), tensor.size)
            return replace(tensor, data=stand_in, is_withheld=True)
        bytes_ = _decoded(data, tensor.size)
        if bytes_ is None:
            message = f"the data of {quoted(declared.name)} are not {tensor.size:,} bytes in hexadecimal or base64"
            raise Disagreement("T266", message, 'correct them; without "data" it can be planned, too', "data")
        return replace(tensor, data=bytes_)


def _dtype(declared: Declaration) -> DType:
    name = declared.dtype or "uint8"
    if name not in TYPES:
        help_ = suggestion(name, TYPES, "types are")
        raise Disagreement("T262", f"there is no type {quoted(name)}", help_, "dtype")
    return TYPES[name]


def _decoded(data: str, size: int) -> bytes | None:
    """Return what hexadecimal digits or base64 stand for; None unless that is this many bytes."""
    for decode in (binascii.unhexlify, partial(base64.b64decode, validate=True)):
        with suppress(ValueError):
            decoded: bytes = decode(data)
            if len(decoded) == size:
                return decoded
    return None
