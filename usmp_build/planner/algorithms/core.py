"""Calls the compiled core: searches that would take Python a hundred times as long, as plain functions of C.

All numbers have 64 bits.  A list of lists goes over as one list, and where each begins and the last ends; what the
functions are is in `core/api.cpp`.
"""

from __future__ import annotations

import ctypes
import os
import sys
from array import array
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import usmp_build
from usmp_build.errors import Diagnostic, UsmpError
from usmp_build.planner.memory.timeline import Array

LARGEST = 1 << 50
"""The core multiplies sums of bytes or units by steps or sections, and by up to 1024 besides: the first product stays
below this."""
NO_PLACE = -(1 << 63)
"""In place of an offset that is free, as in core/offset.h."""
NO_LIMIT = (1 << 63) - 1
"""The limit of a pool that has none."""

Numbers: TypeAlias = "array[int]"
Argument: TypeAlias = "int | Numbers | Array | Object"

WHAT = "the compiled core of the planner"
"""How messages about it begin."""

_NAME = "_usmp_build_core"
"""The library is where Python looks for modules, though it is none: so it is found however it was installed."""
_PATH = "_USMP_BUILD_CORE"
"""The variable by which CMake names the library that it compiled for a source tree."""
_OUT_OF_MEMORY = -1


def numbers(values: Iterable[int]) -> Numbers:
    """Return a list for the core.  Raises UsmpError where a number takes more than 64 bits."""
    try:
        return array("q", values)
    except OverflowError:
        raise uncountable("a number of this problem takes more than 64 bits") from None


def uncountable(message: str) -> UsmpError:
    """Return the error for a problem whose numbers are too large."""
    return UsmpError(Diagnostic("P504", message, help="such a tensor is damaged, or counts something else"))


def rows(lists: Sequence[Sequence[int]]) -> tuple[Numbers, Numbers]:
    """Return where each list begins, and what is in all of them."""
    return numbers(accumulate(map(len, lists), initial=0)), numbers(chain.from_iterable(lists))


def triples(lists: Sequence[Sequence[tuple[int, int, int]]]) -> tuple[Numbers, Numbers]:
    """Return where each list begins, and the numbers of all its triples."""
    values = numbers(chain.from_iterable(chain.from_iterable(lists)))
    return numbers(accumulate(map(len, lists), initial=0)), values


class Object:
    """An object of the core: a strip, walks, a sweep, a first fit."""

    def __init__(self, kind: str, *arguments: Argument) -> None:
        self._kind = kind
        self.pointer = ctypes.c_void_p(_function(f"{kind}_new", ctypes.c_void_p)(*map(_passed, arguments)))
        if not self.pointer:
            raise MemoryError
        self._used = [each for each in arguments if isinstance(each, Object)]
        """Objects that this one refers to."""

    def __del__(self) -> None:
        """Free it."""
        if getattr(self, "pointer", None):
            _function(f"{self._kind}_delete")(self.pointer)


def call(name: str, *arguments: Argument) -> int:
    """Call a function of the core; lists may be filled in.  Raises MemoryError, and UsmpError as `numbers` does."""
    status: int = _function(name)(*map(_passed, arguments))
    if status == _OUT_OF_MEMORY:
        raise MemoryError
    return status


def _passed(argument: Argument) -> ctypes.c_int64 | ctypes.c_void_p:
    if isinstance(argument, int):
        return ctypes.c_int64(*numbers([argument]))  # c_int64 alone drops what is beyond 64 bits
    if isinstance(argument, Object):
        return argument.pointer
    address = argument.ctypes.data if isinstance(argument, np.ndarray) else argument.buffer_info()[0]
    return ctypes.c_void_p(address)


@cache
def _function(name: str, result: Any = ctypes.c_int) -> Any:
    function = _library()[f"usmp_{name}"]
    function.restype = result
    return function


@cache
def _library() -> ctypes.CDLL:
    """Load the core.  Raises UsmpError where it is not there, or another one."""
    path = library_path()
    if path is None:
        raise _unusable("is missing")
    try:
        library = ctypes.CDLL(path)
        version = _text(library, "usmp_version")
        if version != usmp_build.__version__:
            raise _unusable(f"is of version {version}, and this is {usmp_build.__version__}")
        sources = _text(library, "usmp_sources")
    except (OSError, AttributeError) as error:
        raise _unusable(f"cannot be loaded ({' '.join(str(error).split())})") from error
    folder = _source_folder()
    if folder and sources and sources != _hash(folder):
        raise _unusable(f'was compiled from other sources than those in "{folder}"')
    return library


def library_path() -> str | None:
    """Return the path of the library; None where there is none."""
    if named := os.environ.get(_PATH):
        return named
    spec = find_spec(_NAME)
    return spec.origin if spec else None


def _text(library: ctypes.CDLL, name: str) -> str:
    function = library[name]
    function.restype = ctypes.c_char_p
    text: bytes = function()
    return text.decode()


def _source_folder() -> Path | None:
    """Return the folder of the core's sources; None where we are installed without them."""
    folder = Path(usmp_build.__file__).resolve().parents[1] / "core"
    return folder if (folder / "api.cpp").is_file() else None


def _hash(folder: Path) -> str:
    """Return the hash of all sources, as core/CMakeLists.txt does."""
    sources = sorted(path for path in folder.iterdir() if path.suffix in {".cpp", ".h"})
    return sha256(b"".join(path.read_bytes() for path in sources).replace(b"\r", b"")).hexdigest()


def check() -> None:
    """Raise UsmpError, with the reason and the way out, where the core cannot be used."""
    _library()


def _unusable(why: str) -> UsmpError:
    folder = _source_folder()
    what = f'"{folder.parent}"' if folder else "--force-reinstall usmp_build"
    message = f"{WHAT} {why}"
    return UsmpError(Diagnostic("U244", message, help=f'run: "{sys.executable}" -m pip install {what}'))
