"""The manifest's keys for a pool; model.py has all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from usmp_build.manifest import kinds
from usmp_build.manifest.phrases import Hexadecimal
from usmp_build.manifest.table import Table, key


class Pool(Table):
    """A piece of memory that the planner may fill.

    The order of the tables is the order of preference of models that do not say which pools they use; where bandwidths
    are given, the faster pool comes first.
    Without any `rw` pool there is one called `workspace`, without any `ro` pool one called `constants`, both as large
    as needed. The section of `constants` is `.rodata.usmp.<project>.constants`, which linker scripts without a
    rule for it put with the other constants.
    """

    pattern = ("pools", "*")
    heading = "[pools.<name>]"

    access: kinds.Access = key(
        "", '"rw": a workspace pool, for what changes. "ro": a constant pool, for weights.', "rw"
    )
    size: kinds.Size | None = key(
        "size", "A hard limit: a plan that needs more is an error.", "64 KiB", None, "as large as needed"
    )
    budget: kinds.Size | None = key(
        "size",
        "A line below the limit: a plan that needs more is made, with a warning.",
        "48 KiB",
        None,
        "no warning",
    )
    reserve: kinds.SizeOrNothing = key("size", "Bytes of `size` to keep free for others.", "4 KiB", 0)
    alignment: kinds.Alignment = key(
        "power of two",
        "Alignment of the pool's base, in bytes; 65536 at the most. The linker fragment enforces it for `ro` pools.",
        16,
        16,
    )
    region: kinds.Region | None = key(
        "name",
        "The region of the linker script's MEMORY that the pool lies in.",
        "DTCM",
        None,
        "the linker script places the section",
    )
    load_region: kinds.Region | None = key(
        "name",
        "Where the image holds an `ro` pool that is used elsewhere: start-up code copies it to `region`.",
        "FLASH",
        None,
        "it is used where it is loaded",
    )
    section: kinds.Section | None = key(
        "section name",
        "The section of the pool's array. Each pool has its own.",
        ".usmp.doorbell.dtcm",
        None,
        '".usmp.<project>.<pool>"',
    )
    origin: kinds.Count | None = key(
        "address",
        "The pool's address, where it is known; a multiple of `alignment`. The linker fragment places it there.",
        Hexadecimal(0x20000000),
        None,
        "the linker decides",
    )
    owner: Literal["generated", "application"] = key(
        "",
        '"generated": the generated code has the array. "application": the caller passes a pointer to it.',
        "generated",
        "generated",
    )
    targets: kinds.Reach | None = key(
        "list of targets, or table target → access",
        'The targets that reach the pool, and how: `{ cpu = "rw", npu = "ro" }`. A list means "rw" for each.',
        {"cpu": "rw", "npu": "ro"},
        None,
        "all targets",
    )
    attributes: kinds.Attributes = key(
        "list of attributes",
        '"dma": DMA reads and writes it. "cacheable": the processor caches it.',
        ["dma", "cacheable"],
        (),
        "none",
    )
    cache_line: kinds.Alignment | None = key(
        "power of two",
        "Bytes of a cache line, in an `rw` pool with both attributes: what DMA may touch has lines of its own.",
        32,
        None,
        "no cache that DMA bypasses",
    )
    clock_frequency_hz: kinds.Positive | None = key(
        "whole number",
        "Clock of the memory. All pools with a bandwidth have one, or none.",
        480_000_000,
        None,
        "not known",
    )
    read_bandwidth_bytes_per_cycle: kinds.Positive | None = key(
        "whole number",
        "Bytes read in a clock cycle.",
        8,
        None,
        "as many as are written; without either, the order of pools counts",
    )
    write_bandwidth_bytes_per_cycle: kinds.Positive | None = key(
        "whole number", "Bytes written in a clock cycle.", 8, None, "as many as are read"
    )
    read_latency_cycles: kinds.Count | None = key(
        "whole number", "Cycles before the first byte of a burst is read.", 2, None, "as for writing, else 0"
    )
    write_latency_cycles: kinds.Count | None = key(
        "whole number", "Cycles before the first byte of a burst is written.", 1, None, "as for reading, else 0"
    )
    target_burst_bytes: Mapping[kinds.Reference, kinds.Positive] = key(
        "table target → whole number",
        "Bytes that each target moves in a burst: it waits once for them.",
        {"npu": 16},
        {},
        "1 for each",
    )
    dims: Literal[1, 2, 3, 4, 5, 6] = key(
        "",
        "1: plain memory. 2: banked memory: each row of a tensor lies wherever pages are free, and a table points to "
        "the rows. More: the same, for tensors of as many physical axes, the last of which is a row.",
        2,
        1,
    )
    page_bytes: kinds.Size | None = key(
        "size",
        "Bytes of a page, where `dims` is more than 1: a multiple of 4 and of `alignment`. `size` and `reserve` are "
        "whole pages.",
        "2 KiB",
        None,
        "no pages",
    )
