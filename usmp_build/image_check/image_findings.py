"""Checks the image as a whole: pools that overlap, and sections that belong to no plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from usmp_build.errors import Diagnostic
from usmp_build.image_check.evidence import Evidence
from usmp_build.image_check.image import Extent, Image
from usmp_build.image_check.map_file import MapFile
from usmp_build.layout import PlanRecord
from usmp_build.layout.plan_json import plan_hash
from usmp_build.naming import included_symbol
from usmp_build.units import count_bytes

_OURS = (".usmp.", ".rodata.usmp.")
"""Prefixes of the sections of pools, unless the manifest names other sections."""


def image_findings(
    pools: Sequence[Evidence], plan: PlanRecord, image: Image, map_: MapFile | None
) -> Iterator[Diagnostic]:
    """Yield what is wrong besides the single pools."""
    yield from _another_plan(plan, image)
    yield from _nothing_there(pools, image, plan.project)
    yield from _orphans(pools, image, plan.project)
    yield from _overlaps(pools, image)
    yield from _full_regions(pools, image)
    if map_ is not None:
        yield from _another_map(pools, map_)


def other_plans(pools: Sequence[Evidence], image: Image, project: str) -> list[str]:
    """Return sections of pools of other projects, which their own plans check."""
    return [name for name in _unknown(pools, image) if not _is_of(name, project)]


def _another_plan(plan: PlanRecord, image: Image) -> Iterator[Diagnostic]:
    """Compare the hash that the linker fragment left in the image; other linker scripts leave none."""
    symbol = image.named.get(included_symbol(plan.project))
    if symbol is not None and symbol.extent.start != plan_hash(plan):
        message = f'the image was linked with another plan of project "{plan.project}" than this plan.json'
        yield Diagnostic("S628", message, image.file, "link the image again, or give the plan.json of its build")


def _nothing_there(pools: Sequence[Evidence], image: Image, project: str) -> Iterator[Diagnostic]:
    # Constants may be those of another plan with a model of this name: symbols with the project's name decide.
    nameless = all(evidence.pool.access == "ro" for evidence in pools)
    shown = (each.shows_project or each.is_passed or (nameless and each.objects()) for each in pools)
    if pools and not any(shown):
        message = f'the image shows no pool of plan "{project}"'
        yield Diagnostic("S626", message, image.file, "call a model of the plan, or check the image that does")


def _orphans(pools: Sequence[Evidence], image: Image, project: str) -> Iterator[Diagnostic]:
    for name in _unknown(pools, image):
        if _is_of(name, project):
            extent = image.sections_called[name][0].extent
            size = count_bytes(extent.size)
            message = f"section {name} at 0x{extent.start:08x}, {size}, belongs to no pool of the plan"
            help_ = "rebuild all objects from this plan: a stale one is linked, or the plan is another one"
            yield Diagnostic("S620", message, image.file, help_)


def _unknown(pools: Sequence[Evidence], image: Image) -> list[str]:
    """Return the names of sections that look like ours and belong to no pool of the plan."""
    pool_sections = {evidence.section_name for evidence in pools}
    return [name for name in image.sections_called if name.startswith(_OURS) and name not in pool_sections]


def _is_of(section: str, project: str) -> bool:
    return section.startswith(tuple(f"{prefix}{project}." for prefix in _OURS))


def _overlaps(pools: Sequence[Evidence], image: Image) -> Iterator[Diagnostic]:
    """Find the first section that shares addresses with a pool's; of two pools, the first reports it."""
    names = {evidence.section_name: evidence.pool.name for evidence in pools}
    earlier_sections: set[str] = set()
    for evidence in pools:
        mine = evidence.section
        earlier_sections.add(evidence.section_name)
        if mine is None:
            continue
        other = next(
            (each for each in image.sections if each.name not in earlier_sections and each.extent.meets(mine.extent)),
            None,
        )
        if other is not None:
            who = f'pool "{names[other.name]}"' if other.name in names else f"section {other.name}"
            common = min(mine.extent.end, other.extent.end) - max(mine.extent.start, other.extent.start)
            message = f"{evidence.called} at {mine.extent} and {who} at {other.extent} share {count_bytes(common)}"
            yield Diagnostic("S622", message, image.file, "give each addresses of its own, in the linker script")


def _full_regions(pools: Sequence[Evidence], image: Image) -> Iterator[Diagnostic]:
    regions: dict[Extent, list[Evidence]] = {}
    for evidence in pools:
        region = evidence.region()
        if region is not None and evidence.section is not None:
            regions.setdefault(region, []).append(evidence)
    for region, members in regions.items():
        sizes = {
            evidence.pool.name: evidence.section.extent.size for evidence in members if evidence.section is not None
        }
        over = sum(sizes.values()) - region.size
        if over > 0:
            name = members[0].pool.region
            names = ", ".join(sizes)
            message = (
                f"region {name} has {count_bytes(region.size)}, and its pools ({names}) have {sum(sizes.values()):,}"
            )
            help_ = f"move {count_bytes(over)} to another region, or give these pools a smaller `size`"
            yield Diagnostic("S623", message, image.file, help_)


def _another_map(pools: Sequence[Evidence], map_: MapFile) -> Iterator[Diagnostic]:
    for evidence in pools:
        section = evidence.section
        said = map_.outputs.get(evidence.section_name)
        if (section.extent if section else None) != (said if said is not None and said.size else None):
            there = f"at {section.extent}" if section else "nowhere"
            here = f"at {said}" if said else "nowhere"
            message = f"section {evidence.section_name} is {there} in the image, and {here} here"
            yield Diagnostic("S627", message, map_.file, "give the map file of the same run of the linker")
            return
