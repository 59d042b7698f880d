"""Plants a fault in a loaded module: it does what a changed text says, also where others have taken names from it.

As a plugin of pytest, it plants USMP_FAULT, which is JSON: the module, the old text and the new.
"""

import ast
import inspect
import json
import os
import sys
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from types import FunctionType, ModuleType
from typing import Any

_MEMBERS = (FunctionType, staticmethod, classmethod, property, cached_property)


def plant(module: ModuleType, changed: ast.Module | str) -> None:
    """Change functions and classes in place, and give constants to all modules that know them by the same name."""
    assert module.__file__ is not None
    before = dict(vars(module))
    exec(compile(changed, module.__file__, "exec"), vars(module))
    for name, old in before.items():
        new = vars(module)[name]
        if new is old or getattr(old, "__module__", module.__name__) != module.__name__:
            continue
        if isinstance(old, type) and isinstance(new, type):
            for member, value in _members(new):
                setattr(old, member, value)
        elif isinstance(inspect.unwrap(old), FunctionType):
            _become(old, new)
        else:
            for other in [*sys.modules.values()]:
                if vars(other).get(name) is old:
                    setattr(other, name, new)
            continue
        setattr(module, name, old)


def _members(of: type) -> Iterator[tuple[str, Any]]:
    """Yield what a class is made of; members of an enumeration are what others compare with, and stay."""
    for name, value in () if issubclass(of, Enum) else vars(of).items():
        if isinstance(value, _MEMBERS) or not (name.startswith("__") or inspect.isdatadescriptor(value)):
            yield name, value


def _become(old: Any, new: Any) -> None:
    """Let a function do what another one does, whoever has it, and forget what it remembers."""
    if hasattr(old, "cache_clear"):
        old.cache_clear()
    old, new = inspect.unwrap(old), inspect.unwrap(new)
    old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__


def _plant_text(module: ModuleType, old: str, new: str) -> None:
    assert module.__file__ is not None
    source = Path(module.__file__).read_text("utf-8")
    assert source.count(old) == 1, f"the text to replace stands {source.count(old)} times there"
    plant(module, source.replace(old, new))


if "USMP_FAULT" in os.environ:
    _FAULT = json.loads(os.environ["USMP_FAULT"])
    _plant_text(resolve_name(_FAULT["module"]), _FAULT["old"], _FAULT["new"])
