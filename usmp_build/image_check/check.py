"""Compares plan, image and map file: what is wrong, what could not be checked, and where the pools are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from usmp_build.errors import Diagnostic
from usmp_build.frozen import frozen
from usmp_build.image_check.evidence import Evidence
from usmp_build.image_check.image import Extent, Image
from usmp_build.image_check.image_findings import image_findings, other_plans
from usmp_build.image_check.map_file import MapFile
from usmp_build.image_check.pool_findings import pool_findings
from usmp_build.image_check.start import start_findings
from usmp_build.layout import PlanRecord


@frozen
class LinkedPool:
    """A pool that has a section, or an object in one of the program."""

    name: str
    section: str
    extent: Extent
    region: str
    """Empty if the pool names none."""


@frozen
class ImageReport:
    """The result of a check."""

    wrong: tuple[Diagnostic, ...]
    unchecked: tuple[str, ...]
    """What the files do not show, in sentences."""
    linked: tuple[LinkedPool, ...]
    """In the order of the plan."""


def check(plan: PlanRecord, image: Image, map_: MapFile | None = None) -> ImageReport:
    """Compare the plan with the linked image."""
    pools = [Evidence(plan, pool, image, map_) for pool in plan.pools]
    wrong = [finding for evidence in pools for finding in pool_findings(evidence)]
    filled = [evidence for evidence in pools if evidence.pool.size]
    wrong += image_findings(filled, plan, image, map_)
    wrong += start_findings(filled, image, map_)
    linked = tuple(pool for evidence in pools if (pool := _linked(evidence)) is not None)
    return ImageReport(tuple(wrong), tuple(_unchecked(pools, image, plan.project)), linked)


def _linked(evidence: Evidence) -> LinkedPool | None:
    """Return where a pool is in one piece; constants may be in several."""
    extents, section = evidence.extents, evidence.section
    if len(extents) != 1 or (section is None and not evidence.pool.is_workspace):
        return None
    section = section or evidence.image.section_at(extents[0].start)
    return LinkedPool(evidence.pool.name, section.name, extents[0], evidence.pool.region) if section else None


def _unchecked(pools: Sequence[Evidence], image: Image, project: str) -> Iterator[str]:
    if not image.symbols:
        yield "the image is stripped: what else is in the sections of pools, and who placed them, is not checked"
    for evidence in pools:
        yield from _unchecked_pool(evidence)
    for name in other_plans(pools, image, project):
        yield f"section {name} is of another plan: check the image with that one, too"


def _unchecked_pool(evidence: Evidence) -> Iterator[str]:
    pool = evidence.pool
    if not pool.size:
        yield f'pool "{pool.name}" is empty: nothing is planned in it'
    elif evidence.section is None:
        if evidence.is_passed:
            yield f'pool "{pool.name}" has no section: the application has its array, wherever it is'
        elif evidence.objects():
            if pool.access == "ro":
                yield f'pool "{pool.name}" has no section of its own: its constants are with those of the program'
        elif evidence.shown:
            yield f'pool "{pool.name}" is not in the image: none of its objects is linked'
        else:
            yield f'pool "{pool.name}" has no section of its own: it is not checked'
    else:
        if (
            evidence.image.symbols
            and evidence.start_symbol() is None
            and not evidence.objects()
            and not evidence.is_passed
        ):
            yield f'pool "{pool.name}": its symbols were stripped, so who placed it is not checked'
        for region, load in ((pool.region, False), (pool.load_region, True)):
            if region and evidence.region(load) is None:
                yield f'pool "{pool.name}": nothing says where region {region} is; give the map file'
