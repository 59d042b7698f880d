"""A process with TVM: reads a model from standard input, and writes its program and C to standard output, as JSON.

    usmp_build.importers.tvm.worker SUFFIX

Of a model without a program it writes why not.  In a process of its own, nothing that TVM prints, changes or dies of
reaches the command.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import Any

from usmp_build.importers.tvm.refusal import Refusal, TooDeep

_FEW = 8
"""Operators that are fused where more of them would be too deep an expression."""
_CALLS = 4_000
"""Python's calls in each other, which the main thread's stack has room for: TVM's own are a few hundred."""


def program_of(data: bytes, suffix: str) -> dict[str, Any]:
    """Return `program`, `code` (the C of its functions by name) and, where TVM has one, its `compiler_plan`.

    Raises Refusal.
    """
    from usmp_build.importers.tvm.front_ends import relax_module
    from usmp_build.importers.tvm.lowering import lower

    module, results = relax_module(data, suffix)
    with suppress(TooDeep):
        return _program(lower(module), results)
    return _program(lower(module, _FEW), results)


def _program(lowered: Any, results: list[str]) -> dict[str, Any]:
    from tvm import tirx

    from usmp_build.importers.tvm.compiler_plan import compiler_plan
    from usmp_build.importers.tvm.main_function import MainFunction
    from usmp_build.importers.tvm.prim_function import PrimFunction

    calls, loops = lowered
    reader = MainFunction(calls["main"], results)
    main, outputs = reader.read()
    functions, code = {"main": main, **reader.functions}, reader.code
    for name, function in sorted(loops.functions.items(), key=lambda item: item[0].name_hint):
        if isinstance(function, tirx.PrimFunc):
            try:
                functions[name.name_hint], code[name.name_hint] = PrimFunction(function).read()
            except Refusal as refusal:
                raise type(refusal)(f"function {name.name_hint}: {refusal}", refusal.help_) from None
    answer = {"program": {"main": "main", "functions": functions, "outputs": outputs}, "code": code}
    with suppress(Exception):  # of TVM's many kinds; nothing but the comparison is missing then
        answer["compiler_plan"] = compiler_plan(calls, loops)
    return answer


def without_torch() -> None:
    """Keep TVM from loading PyTorch, which it does where it can: that takes seconds, and nothing here needs it."""
    sys.modules.setdefault("torch", None)  # type: ignore[arg-type]


def _main(suffix: str) -> None:
    answer_to = os.dup(1)
    os.dup2(2, 1)  # what TVM prints is no answer
    without_torch()
    sys.setrecursionlimit(_CALLS)
    try:
        answer = program_of(sys.stdin.buffer.read(), suffix)
    except Refusal as refusal:
        answer = {"refusal": str(refusal), "help": refusal.help_}
    except RecursionError:
        message = f"operators are nested, or stand in a row, more deeply than {_CALLS:,} calls of Python can follow"
        answer = {"refusal": message, "help": "split the model"}
    except Exception as error:  # of TVM's many kinds, each is about the model
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        answer = {"refusal": f"{type(error).__name__}: {lines[-1] if lines else 'no reason given'}", "help": ""}
    with os.fdopen(answer_to, "w", encoding="utf-8") as out:
        json.dump(answer, out)


if __name__ == "__main__":
    _main(*sys.argv[1:])
