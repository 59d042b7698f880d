"""A program with all that its C may have, and the functions that it calls, in C."""

import json
from pathlib import Path
from typing import Any

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

FUNCTIONS = """
#include <stdlib.h>
#include "p.h"

void *q_allocate(size_t size, size_t alignment) { return alignment <= 8 ? malloc(size) : NULL; }
void q_release(void *memory) { free(memory); }

void p_widen(const void *x, usmp_i16 *y)
{
    const uint8_t *const bytes = (const uint8_t *)x;

    for (int round = 0; round < 4; ++round) {
        usmp_i16 *part = p_widen_map_buffers().part + round % 2 * P_WIDEN_PART_STRIDE / 2;

        for (int i = 0; i < 4; ++i) {
            part[i] = bytes[4 * round + i];
        }
        p_twice(part);
        for (int i = 0; i < 4; ++i) {
            y[4 * round + i] = part[i];
        }
    }
}

void p_twice(void *x)
{
    usmp_i16 *const values = (usmp_i16 *)x;
    const struct p_twice_buffers buffers = p_twice_map_buffers();
    usmp_i16 *const copy = buffers.copy + P_TWICE_COPY_STRIDE / 2;

    for (int i = 0; i < 4; ++i) {
        copy[i] = values[i];
        values[i] = (int16_t)(2 * copy[i]);
    }
}

void p_add(void *to, const uint8_t *weights, const float *nothing)
{
    for (int i = 0; i < 16 && nothing == NULL; ++i) {
        ((usmp_i16 *)to)[i] = (int16_t)(((usmp_i16 *)to)[i] + weights[i % 4]);
    }
}

void p_sum(const usmp_i16 *x, void *y)
{
    int32_t *const lazy = (int32_t *)q_allocate(4 * sizeof *lazy, sizeof *lazy);

    for (int i = 0; i < 4; ++i) {
        lazy[i] = *p_sum_map_buffers().start + x[i] + x[4 + i] + x[8 + i] + x[12 + i];
    }
    for (int i = 0; i < 4; ++i) { /* from here on y may lie where x was */
        ((usmp_i32 *)y)[i] = lazy[i];
    }
    q_release(lazy);
}
"""

MAIN = """
#include <stdio.h>
#include <string.h>
#include "p.h"

int main(void)
{
    uint8_t bytes[16];
    int32_t sums[4];

    for (int i = 0; i < 16; ++i) {
        bytes[i] = (uint8_t)(17 * i);
    }
#ifdef IN_POOL
    memcpy(p_map_inputs().x, bytes, sizeof bytes);
    if (p_run() != USMP_OK) {
        return 1;
    }
    memcpy(sums, p_map_outputs().y, sizeof sums);
#else
    const struct p_inputs inputs = { bytes };
    const struct p_outputs outputs = { sums };
    if (p_run(&inputs, &outputs) != USMP_OK) {
        return 1;
    }
#endif
    printf("%d %d %d %d\\n", (int)sums[0], (int)sums[1], (int)sums[2], (int)sums[3]);
    return 0;
}
"""

SUMS = [100 + sum(2 * 17 * i + 6 * (i % 4 + 1) for i in range(first, 16, 4)) for first in range(4)]
"""What MAIN prints."""
