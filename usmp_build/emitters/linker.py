"""Linker fragments to `INCLUDE` in the user's own script: an output section for each pool, and what start-up copies."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.bundle import OutputFile
from usmp_build.emitters.render import render
from usmp_build.layout import Layout


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield the fragments."""
    summary = layout.summary
    yield OutputFile(f"{summary.project}.ld", render("plan.ld.j2", summary=summary, objects=_objects(layout)))
    yield OutputFile(f"{summary.project}_copy_table.ld", render("copy_table.ld.j2", summary=summary))


def _objects(layout: Layout) -> dict[str, list[str]]:
    """Return the C objects that must be in each pool's section.

    Constants of a pool without a region may stay with those of the program, where scripts place `.rodata.*` as a whole.
    """
    workspaces = {pool.name: [pool.symbol] for pool in layout.summary.pools if pool.access == "rw"}
    constants = {
        pool.name: [group.symbol for group in layout.constants if group.pool.name == pool.name and pool.region]
        for pool in layout.summary.pools
        if pool.access == "ro"
    }
    return workspaces | constants
