"""Reads and writes the type, quantization and bytes of a tensor in the textual form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from usmp_build.ir.graph import DType, Quantization, Tensor
from usmp_build.textual.lines import Line
from usmp_build.textual.values import (
    digest,
    from_digest,
    quote,
    read_float,
    read_numbers,
    spell_float,
    spell_numbers,
    spell_runs,
)

T = TypeVar("T")
_SMALL = 64
"""Most bytes of a constant that is never withheld."""
_MAX_RANK = 64
_TYPES = {dtype.name.lower(): dtype for dtype in DType}


def spell_type(tensor: Tensor) -> str:
    """Spell a tensor without its name and bytes."""
    words = [f"{tensor.dtype.name.lower()}[{','.join(map(str, tensor.shape))}]"]
    if tensor.quantization is not None:
        words += _spell_quantization(tensor.quantization)
    if tensor.axis_separators is not None:
        words.append(f"separators=[{', '.join(map(str, tensor.axis_separators))}]")
    if tensor.memory_scope:
        words.append(f"scope={quote(tensor.memory_scope)}")
    if tensor.is_variable:
        words.append("variable")
    if tensor.resource:
        words.append(f"resource={quote(tensor.resource)}")
    if tensor.is_withheld:
        words.append("withheld")
    return " ".join(words)


def _spell_quantization(quantization: Quantization) -> Iterator[str]:
    scales = [spell_float(scale) for scale in quantization.scales]
    zeros = [str(zero) for zero in quantization.zero_points]
    yield f"scale={scales[0]}" if len(scales) == 1 else f"scales={spell_runs(scales)}"
    yield f"zero={zeros[0]}" if len(zeros) == 1 else f"zeros={spell_runs(zeros)}"
    if quantization.axis:
        yield f"axis={quantization.axis}"


def spell_data(tensor: Tensor, data: bytes, full: bool) -> str:
    """Spell the bytes of a constant; "hex" if they follow on lines of their own."""
    numbers = spell_numbers(data, tensor.dtype) if len(data) <= _SMALL else None
    if numbers is not None:
        return spell_runs(numbers)
    if tensor.dtype.bits and len(data) == tensor.size and not any(data):
        return "zeros"
    if len(data) > _SMALL and not full:
        return f"bytes {len(data)} sha256:{digest(data)}"
    return "hex"


def read_type(line: Line, name: str) -> Tensor:
    """Read what `spell_type` wrote: the tensor without its bytes."""
    word = line.take("word", "a type, for example int8")
    if word.text not in _TYPES:
        raise line.unknown("type", word, _TYPES)
    bracket = line.peek()
    shape = tuple(line.items(lambda: line.integer("a dimension")))
    if len(shape) > _MAX_RANK:
        cure = f"write a shape of at most {_MAX_RANK}"
        raise line.error("T304", f"{len(shape)} dimensions are too many", cure, bracket)
    quantization = _read_quantization(line)
    separators = line.items(lambda: line.integer("a separator")) if line.accept_key("separators") else None
    scope = line.string("a memory scope") if line.accept_key("scope") else ""
    is_variable = line.accept("variable")
    resource = line.string("the name of a variable") if line.accept_key("resource") else ""
    is_withheld = line.accept("withheld")
    axis_separators = None if separators is None else tuple(separators)
    return Tensor(
        name,
        shape,
        _TYPES[word.text],
        quantization,
        None,
        is_variable,
        axis_separators,
        is_withheld,
        resource,
        memory_scope=scope,
    )


def _read_quantization(line: Line) -> Quantization | None:
    scales = _one_or_more(line, "scale", lambda: read_float(line.take("number", "a scale").text))
    if scales is None:
        return None
    zeros = _one_or_more(line, "zero", lambda: line.integer("a zero point"))
    axis = line.integer("an axis") if line.accept_key("axis") else 0
    return Quantization(tuple(scales), (0,) * len(scales) if zeros is None else tuple(zeros), axis)


def _one_or_more(line: Line, word: str, item: Callable[[], T]) -> list[T] | None:
    """Read `word=x` or `words=[x, y]`; None if the line continues otherwise."""
    if line.accept_key(word):
        return [item()]
    return line.items(item) if line.accept_key(f"{word}s") else None


def read_data(line: Line, tensor: Tensor) -> bytes | None:
    """Read what `spell_data` wrote; None if lines of hexadecimal digits follow."""
    start = line.peek()
    if start.text == "[":
        return _read_numbers(line, tensor)
    form = line.take("word", "a list of numbers, zeros, hex or bytes").text
    if form == "hex":
        return None
    if form == "zeros":
        if not tensor.dtype.bits:
            message = f"{tensor.dtype.name.lower()} has no size of its own"
            raise line.error("T309", message, "spell the bytes out after `hex`", start)
        line.spend(tensor.size, start)
        return bytes(max(0, tensor.size))
    if form == "bytes":
        return _read_withheld(line)
    raise line.unknown("form of data", start, ["bytes", "hex", "zeros"])


def _read_numbers(line: Line, tensor: Tensor) -> bytes:
    start = line.peek()
    numbers = line.items(lambda: line.take("number", "a number").text)
    try:
        return read_numbers(numbers, tensor.dtype)
    except ValueError as error:
        raise line.error("T309", str(error), "spell the bytes out after `hex`", start) from None


def _read_withheld(line: Line) -> bytes:
    token = line.peek()
    size = line.integer("a number of bytes")
    if size < 0:
        raise line.error("T304", "a number of bytes cannot be negative", "write the size of the constant", token)
    line.spend(size, token)
    return from_digest(line.take("digest", "a digest, for example sha256:9f86d081884c").text.partition(":")[2], size)
