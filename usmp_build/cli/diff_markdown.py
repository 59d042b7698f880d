"""Two plans compared as Markdown, for comments on pull requests.  Names from models are code, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from usmp_build.errors import one_line
from usmp_build.report.plan_diff import BufferDifference, ModelDifference, PlanDifference, PoolDifference
from usmp_build.units import show_bytes

_LISTED = 50
"""Buffers that a comment lists: hosts refuse long ones."""
_NAMED = 8
"""Buffers in a sentence."""


def markdown(difference: PlanDifference) -> Iterator[str]:
    """Yield the lines: pools and models in tables, what fills pools in words, buffers folded."""
    yield from (f"### Memory of {difference.project}", "")
    for each in difference.instructions:
        yield from (f"Target {code(each.target)} is planned for isa {each.new}, before for {each.old}.", "")
    yield from ("| pool | before | after | change | limit | free |", "|---|--:|--:|--:|--:|--:|")
    yield from map(_pool, difference.pools)
    models = [model for model in difference.models if model.change != "unchanged"]
    if models:
        head = "| model | | constants | kept between runs | multiplications | bytes moved in a run |"
        yield from ("", head, "|---|---|--:|--:|--:|--:|", *map(_model, models))
    yield from (line for sentence in difference.over_budget for line in ("", f"**Warning:** {sentence}."))
    yield from _sentences(difference)
    yield from _buffers(difference.buffers)


def _pool(pool: PoolDifference) -> str:
    limit = "" if pool.limit is None else show_bytes(pool.limit)
    if pool.old_limit is not None and pool.old_limit != pool.limit:
        limit += f" (was {show_bytes(pool.old_limit)})"
    free = "" if pool.limit is None else show_bytes(pool.limit - pool.new)
    cells = (pool.name, show_bytes(pool.old), show_bytes(pool.new), _signed(pool.growth), limit.strip(), free)
    return f"| {' | '.join(cells)} |"


def _model(model: ModelDifference) -> str:
    figures = (model.constants, model.state, model.macs, model.traffic)
    return f"| {model.name} | {model.change} | {' | '.join(_figure(*each) for each in figures)} |"


def _figure(old: int, new: int) -> str:
    return show_bytes(new) if old == new else f"{show_bytes(new)} ({_signed(new - old)})"


def _signed(change: int) -> str:
    return f"**{change:+,}**".replace("-", "\N{MINUS SIGN}") if change else "0"


def _sentences(difference: PlanDifference) -> Iterator[str]:
    """Yield for each pool that changed what makes it as large as it is."""
    for witness in difference.witnesses:
        names = [code(name) for name in witness.buffers[:_NAMED]]
        more = f", and {len(witness.buffers) - _NAMED} more" if len(witness.buffers) > _NAMED else ""
        when = "while models run at the same time" if witness.step is None else f"in {code(witness.step)}"
        before = f" Before, it was {code(witness.old_step)}." if witness.old_step not in (None, witness.step) else ""
        yield from ("", f"**{witness.pool}** is filled {when}, by {', '.join(names)}{more}.{before}")


def _buffers(buffers: Sequence[BufferDifference]) -> Iterator[str]:
    """Yield all changes of buffers, folded."""
    counts = {change: sum(each.change == change for each in buffers) for change in ("added", "removed", "moved")}
    if not buffers:
        yield from ("", "No buffer was added, removed or moved.")
        return
    summary = ", ".join(f"{count} {change}" for change, count in counts.items() if count)
    yield from ("", f"<details><summary>Buffers: {summary}</summary>", "")
    for each in buffers[:_LISTED]:
        places = " → ".join(filter(None, (each.old, each.new)))
        yield f"- {each.change}: {code(each.name)} {places}"
    if len(buffers) > _LISTED:
        yield f"- and {len(buffers) - _LISTED} more"
    yield from ("", "</details>")


def code(text: str) -> str:
    """Return any text as code in Markdown, within fences longer than any that it has.

    >>> code("a|`b"), code("")
    ('`` a|`b ``', '` `')
    """
    shown = one_line(text)
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    edge = " " if longest or not shown.strip() else ""
    return f"{fence}{edge}{shown}{edge}{fence}" if shown else "` `"
