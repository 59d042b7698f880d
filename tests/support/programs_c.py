"""A program with all that its C may have, and the functions that it calls, in C."""

import json
from pathlib import Path
from typing import Any

from tests.support.tree import text_file

Item = dict[str, Any]


def alloc(name: str, dtype: str, extents: list[Any], *body: Item, **more: Any) -> Item:
    return {"op": "alloc", "var": name, "dtype": dtype, "extents": extents, "body": list(body), **more}


def const(name: str, dtype: str, extents: list[int], data: str | None, *body: Item) -> Item:
    return {"op": "alloc_const", "var": name, "dtype": dtype, "extents": extents, "data": data, "body": list(body)}


def loop(kind: str, extent: int | str | None, *body: Item, **more: Any) -> Item:
    return {"op": "for", "kind": kind, "extent": extent, "body": list(body), **more}


def branch(condition: str, then: list[Item], otherwise: list[Item] | None = None) -> Item:
    return {"op": "if", "condition": condition, "then": then, **({} if otherwise is None else {"else": otherwise})}


def store(buffer: str, *reads: str, **more: Any) -> Item:
    return {"op": "store", "buf": buffer, "reads": list(reads), **more}


def invoke(function: str, *arguments: str | None) -> Item:
    return {"op": "call", "fn": function, "args": list(arguments)}


def parameter(name: str, dtype: str | None = None, *extents: int) -> Item:
    return {"name": name, "dtype": dtype, "extents": list(extents)} if dtype else {"name": name}


def function(parameters: list[Item], *body: Item) -> Item:
    return {"params": parameters, "body": list(body)}


def program(folder: Path, main: Item, name: str = "p", **functions: Item) -> Path:
    """Write a program."""
    path = folder / f"{name}.program.json"
    path.write_text(json.dumps({"main": "main", "functions": {"main": main, **functions}}), encoding="utf-8")
    return path


PORTS = [parameter("x", "uint8", 16), parameter("y", "int32", 4)]

EVERYTHING = {
    "main": function(
        PORTS,
        const(
            "weights",
            "int8",
            [4],
            "01020304",
            alloc(
                "wide",
                "int16",
                [16],
                invoke("widen", "x", "wide"),
                loop("serial", 3, loop("unrolled", 2, invoke("add", "wide", "weights", None))),
                loop("serial", 5, alloc("unused", "int8", [7])),
                invoke("sum", "wide", "y"),
            ),
        ),
    ),
    # In 4 rounds, 2 at a time; each has its own memory, and so has the function that they call.
    "widen": function(
        [parameter("x"), parameter("y", "int16", 16)],
        loop(
            "parallel",
            4,
            alloc("part", "int16", [5], store("part", "x"), invoke("twice", "part"), store("y", "part")),
            workers=2,
        ),
    ),
    "twice": function([parameter("x")], alloc("copy", "int16", [4], store("copy", "x"), store("x", "copy"))),
    "add": function(
        [parameter("to"), parameter("weights", "uint8", 4), parameter("nothing", "float32", 1)], store("to", "weights")
    ),
    "sum": function(
        [parameter("x", "int16", 16), parameter("y")],
        const("start", "int32", [1], "64000000", alloc("lazy", "int32", ["n"], store("lazy", "x", "start"),
                                                       store("y", "lazy", whole=True), on_demand=True)),
    ),
}  # fmt: skip

FUNCTIONS = text_file("programs_c_functions.c")

MAIN = text_file("programs_c.c")

SUMS = [100 + sum(2 * 17 * i + 6 * (i % 4 + 1) for i in range(first, 16, 4)) for first in range(4)]
"""What MAIN prints."""
