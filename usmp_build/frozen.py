"""Frozen dataclasses that are imported fast.

A command imports some 300 of them, and `dataclasses.dataclass` compiles six methods for each, which takes a quarter of
the time of `plan` for a small model.  Here it compiles `__init__` alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:  # it is for the type checker alone, and errors are reported where no package is installed

    def dataclass_transform(**_: object) -> Callable[[object], object]:
        """Return what leaves a decorator as it is."""
        return lambda decorator: decorator


_Class = TypeVar("_Class", bound=type)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def frozen(declared: _Class) -> _Class:
    """Return the class as a dataclass that is equal, hashed and shown by its fields, and has slots where it can.

    The type checker refuses assignments to fields; nothing refuses them at run time.
    """
    slots = not any(isinstance(value, cached_property) for value in vars(declared).values())
    cls: Any = dataclasses.dataclass(eq=False, repr=False, slots=slots)(declared)
    fields = dataclasses.fields(cls)
    compared = _attributes([field.name for field in fields if field.compare])
    hashed = _attributes([field.name for field in fields if (field.compare if field.hash is None else field.hash)])
    shown = [field.name for field in fields if field.repr]

    def is_equal(self: Any, other: object) -> bool:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def text(self: Any) -> str:
        values = (f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{self.__class__.__qualname__}({', '.join(values)})"

    methods = {"__eq__": is_equal, "__hash__": lambda self: hash(hashed(self)), "__repr__": text}
    for name in methods.keys() - vars(cls).keys():
        setattr(cls, name, methods[name])
    return cast("_Class", cls)


def _attributes(names: list[str]) -> Callable[[Any], Any]:
    """Return the function that takes these attributes of an object."""
    return attrgetter(*names) if names else lambda _: ()
