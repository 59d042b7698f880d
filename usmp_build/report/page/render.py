"""The templates of pages and pictures, filled in.

A page has no script, loads nothing, and its Content-Security-Policy allows its own style sheet alone, by its digest.
Names come from untrusted files: whatever a template says is escaped, and its control characters are made visible.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from usmp_build.errors import one_line, printable
from usmp_build.frozen import frozen
from usmp_build.layout import PlanRecord, PoolRecord
from usmp_build.report.page import verdict
from usmp_build.report.page.places import workspace_places
from usmp_build.report.page.pool_map import PoolMap, pool_map
from usmp_build.report.page.tables import Filling, buffers, constants, fillings, operator_rows
from usmp_build.report.remarks import compiler_plans, over_budget
from usmp_build.report.study import Study
from usmp_build.units import count_bytes, show_bytes

_TEMPLATES = Path(__file__).parent / "templates"
_COLORS = 8
"""Colors of models; with more models, colors repeat."""


@frozen
class PoolSection:
    """A workspace pool in the page."""

    pool: PoolRecord
    map: PoolMap
    fillings: tuple[Filling, ...]
    bound: str


def report_page(plan: PlanRecord, study: Study | None) -> str:
    """Return the page of a plan as HTML; `study` adds what plan.json does not have; None if only that is at hand."""
    places = workspace_places(plan)
    pools = [pool for pool in plan.pools if pool.is_workspace and pool.size]
    sections = [
        PoolSection(pool, pool_map(plan, pool, places), fillings(plan, pool, places), verdict.bound(plan, pool, places))
        for pool in pools
    ]
    alternatives = study.alternatives if study else plan.alternatives
    style = _render("map.css.j2") + _render("page.css.j2")
    return _render(
        "report.html.j2",
        plan=plan,
        study=study,
        alternatives=alternatives,
        sections=sections,
        cards=verdict.cards(plan, alternatives),
        warnings=tuple(over_budget(plan, alternatives)),
        compiler_plans=tuple(compiler_plans(alternatives)) if alternatives else (),
        proven=verdict.proven(plan),
        instructions=verdict.instructions(plan),
        changes=verdict.changes(plan, study) if study else (),
        operators=operator_rows(plan, places),
        constants=constants(plan),
        buffers=buffers(plan),
        style=style,
        digest=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
    )


def report_picture(plan: PlanRecord, pool: PoolRecord) -> str:
    """Return the memory map of a workspace pool that is not empty as SVG."""
    picture = pool_map(plan, pool, workspace_places(plan))
    return _render("picture.svg.j2", map=picture, style=_render("map.css.j2"))


def _parts(name: str) -> list[str]:
    """Return a name in parts, between which a line may end: behind what divides it, and not in a word."""
    return re.findall(r"[^/_.:]{1,40}[/_.:]?|[/_.:]", printable(name))


def _render(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values)


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
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    result.filters |= {
        "parts": _parts,
        "bytes": show_bytes,
        "counted": count_bytes,
        "name": one_line,
        "px": lambda value: f"{value:.1f}".removesuffix(".0"),
        "change": lambda value: f"{value:+,}".replace("-", "\N{MINUS SIGN}") if value else "0",
    }
    result.globals["colors"] = _COLORS
    return result
