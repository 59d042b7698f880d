"""The templates of pages and pictures, filled in.

A page has no script, loads nothing, and its Content-Security-Policy allows its own style sheet alone, by its digest.
Names come from untrusted files: control characters are made visible before, and the templates escape all else.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from usmp_build.errors import one_line
from usmp_build.layout import PlanRecord, PoolRecord
from usmp_build.report.over_budget import over_budget
from usmp_build.report.page import verdict
from usmp_build.report.page.places import workspace_places
from usmp_build.report.page.pool_map import PoolMap, pool_map
from usmp_build.report.page.tables import (
    Filling,
    buffers,
    color_of,
    constants,
    fillings,
    operator_rows,
)
from usmp_build.report.study import Study
from usmp_build.units import count_bytes, show_bytes

_TEMPLATES = Path(__file__).parent / "templates"
COLORS = 8
"""Colors of models; of more, some look alike."""


@dataclass(frozen=True, slots=True)
class PoolSection:
    """A workspace pool in the page."""

    pool: PoolRecord
    map: PoolMap
    fillings: tuple[Filling, ...]
    bound: str


def report_page(plan: PlanRecord, study: Study | None) -> str:
    """Return the page of a plan as HTML; `study` is what the plan itself does not say, None where it is not known."""
    places = workspace_places(plan)
    pools = [pool for pool in plan.pools if pool.is_workspace and pool.size]
    sections = [
        PoolSection(pool, pool_map(plan, pool, places), fillings(plan, pool, places), verdict.bound(plan, pool, places))
        for pool in pools
    ]
    style = _style("map", "page")
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            plan=plan,
            study=study,
            alternatives=study.alternatives if study else plan.alternatives,
            sections=sections,
            cards=verdict.cards(plan, study.alternatives if study else plan.alternatives),
            warnings=tuple(over_budget(plan, study.alternatives if study else plan.alternatives)),
            proven=verdict.proven(plan),
            changes=verdict.changes(plan, study) if study else (),
            operators=operator_rows(plan, places),
            constants=constants(plan),
            buffers=buffers(plan),
            style=style,
            digest=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        )
    )


def report_picture(plan: PlanRecord, pool: PoolRecord) -> str:
    """Return the memory map of a workspace pool that is not empty as SVG."""
    picture = pool_map(plan, pool, workspace_places(plan))
    return _environment().get_template("picture.svg.j2").render(map=picture, style=_style("map"))


def _style(*names: str) -> str:
    return "".join(_environment().get_template(f"{name}.css.j2").render() for name in names)


@cache
def _environment() -> Environment:
    """Strict, and everything is escaped, except what a template says is markup."""
    result = Environment(
        loader=FileSystemLoader(_TEMPLATES, encoding="utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
    )
    result.filters |= {
        "bytes": show_bytes,
        "counted": count_bytes,
        "name": one_line,
        "px": lambda value: f"{value:.1f}".removesuffix(".0"),
        "change": lambda value: f"{value:+,}".replace("-", "\N{MINUS SIGN}") if value else "0",
    }
    result.globals |= {"colors": COLORS, "color_of": color_of}
    return result
