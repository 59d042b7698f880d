"""A plugin of pytest that plants a fault: the module that it is in is compiled with one text in place of another.

USMP_FAULT is the fault, as JSON: the module, the old text and the new.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import os
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType


class _Planter(importlib.machinery.SourceFileLoader):
    """Loads a module with the fault."""

    def get_code(self, fullname: str) -> CodeType:
        """Compile the text, never what was compiled from it before."""
        source = self.get_source(fullname)
        assert source.count(_FAULT["old"]) == 1, f"the text to replace stands {source.count(_FAULT['old'])} times there"
        return compile(source.replace(_FAULT["old"], _FAULT["new"]), self.path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _FAULT["module"]:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = _Planter(fullname, spec.origin)
        return spec


_FAULT = json.loads(os.environ["USMP_FAULT"])
assert _FAULT["module"] not in sys.modules, "the module is already loaded"
sys.meta_path.insert(0, _Finder())
