"""What differs between two plans: pools, models, what fills the pools, and buffers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from usmp_build.frozen import frozen
from usmp_build.layout import BufferRecord, PlanRecord, RowsRecord
from usmp_build.layout.models import ModelRecord
from usmp_build.report.remarks import over_budget
from usmp_build.units import show_bytes


@frozen
class PoolDifference:
    """The bytes of a pool before and after; 0 where it is not there."""

    name: str
    old: int
    new: int
    old_limit: int | None
    limit: int | None

    @property
    def growth(self) -> int:
        """Bytes that it takes more; less than 0: fewer."""
        return self.new - self.old


@frozen
class ModelDifference:
    """What a model takes before and after: (old, new) each, 0 where it is not there."""

    name: str
    change: Literal["added", "removed", "changed", "unchanged"]
    constants: tuple[int, int]
    state: tuple[int, int]
    """Bytes kept between runs."""
    macs: tuple[int, int]
    """Multiplications, with those of what is computed again."""
    traffic: tuple[int, int]
    """Bytes read and written in one run."""


@frozen
class WitnessDifference:
    """What proves that a pool of another size than before cannot be smaller."""

    pool: str
    old_step: str | None
    step: str | None
    """At which the buffers are alive together; None: some are of models that may run at the same time."""
    buffers: tuple[str, ...]


@frozen
class BufferDifference:
    """A buffer, or tensor in rows, that was added, removed or placed otherwise; its places in words."""

    name: str
    change: Literal["added", "removed", "moved"]
    old: str
    new: str


@frozen
class InstructionsDifference:
    """A target whose kernels are for other instructions than before: all figures are those of other kernels."""

    target: str
    old: str
    new: str


@frozen
class PlanDifference:
    """All of it."""

    project: str
    instructions: tuple[InstructionsDifference, ...]
    pools: tuple[PoolDifference, ...]
    models: tuple[ModelDifference, ...]
    witnesses: tuple[WitnessDifference, ...]
    buffers: tuple[BufferDifference, ...]
    over_budget: tuple[str, ...]
    """Pools that take more than their budgets now, a sentence each."""


def plan_difference(old: PlanRecord, new: PlanRecord) -> PlanDifference:
    """Compare two plans."""
    pools = tuple(_pools(old, new))
    isas = {target.name: target.isa for target in old.targets}
    return PlanDifference(
        project=new.project,
        instructions=tuple(
            InstructionsDifference(target.name, isas[target.name], target.isa)
            for target in new.targets
            if isas.get(target.name, target.isa) != target.isa
        ),
        pools=pools,
        models=tuple(_models(old, new)),
        witnesses=tuple(_witnesses(old, new, pools)),
        buffers=tuple(_buffers(old, new)),
        over_budget=tuple(over_budget(new, None)),
    )


def _pools(old: PlanRecord, new: PlanRecord) -> Iterator[PoolDifference]:
    before, after = ({pool.name: pool for pool in plan.pools} for plan in (old, new))
    for name in dict.fromkeys([*after, *before]):
        one, other = before.get(name), after.get(name)
        yield PoolDifference(
            name,
            one.size if one else 0,
            other.size if other else 0,
            one.limit if one else None,
            other.limit if other else None,
        )


def _models(old: PlanRecord, new: PlanRecord) -> Iterator[ModelDifference]:
    before, after = ({model.name: model for model in plan.models} for plan in (old, new))
    for name in dict.fromkeys([*after, *before]):
        one, other = (_figures(each.get(name)) for each in (before, after))
        change: Literal["added", "removed", "changed", "unchanged"] = "changed" if one != other else "unchanged"
        if name not in before or name not in after:
            change = "added" if name in after else "removed"
        yield ModelDifference(name, change, *zip(one, other, strict=True))


def _figures(model: ModelRecord | None) -> tuple[int, int, int, int]:
    if model is None:
        return 0, 0, 0, 0
    moved = sum(each.read + each.written for each in model.traffic)
    return model.constants, model.state, model.macs + model.recomputed_macs, moved


def _witnesses(old: PlanRecord, new: PlanRecord, pools: Sequence[PoolDifference]) -> Iterator[WitnessDifference]:
    before, after = ({pool.name: pool.certificate for pool in plan.pools} for plan in (old, new))
    for pool in pools:
        certificate, previous = after.get(pool.name), before.get(pool.name)
        if pool.growth and certificate is not None:
            old_step = previous.step if previous is not None else None
            yield WitnessDifference(pool.name, old_step, certificate.step, certificate.buffers)


def _buffers(old: PlanRecord, new: PlanRecord) -> Iterator[BufferDifference]:
    before = {buffer.name: buffer for buffer in old.buffers}
    after = {buffer.name: buffer for buffer in new.buffers}
    yield from (BufferDifference(name, "removed", _size(b), "") for name, b in before.items() if name not in after)
    yield from (BufferDifference(name, "added", "", _size(b)) for name, b in after.items() if name not in before)
    for name in sorted(before.keys() & after.keys()):
        if _places(before[name]) != _places(after[name]):
            yield BufferDifference(name, "moved", _place(before[name]), _place(after[name]))


def _places(buffer: BufferRecord | RowsRecord) -> tuple[object, ...]:
    """Return what makes two records places of the same bytes."""
    return buffer.pool, _size(buffer), buffer.offsets if isinstance(buffer, RowsRecord) else buffer.offset


def _place(buffer: BufferRecord | RowsRecord) -> str:
    """Return where a buffer begins; of rows, where the lowest and the highest one do, and how many places they have."""
    if isinstance(buffer, BufferRecord):
        return f"{buffer.pool}+{buffer.offset} ({_size(buffer)})"
    places = {*zip(buffer.pools, buffer.offsets, strict=True)}
    where = ", ".join(
        _range(pool, [offset for each, offset in places if each == pool]) for pool in sorted({*buffer.pools})
    )
    return f"{where} ({_size(buffer)} in {len(places)} place{'s' if len(places) > 1 else ''})"


def _range(pool: str, offsets: Sequence[int]) -> str:
    return f"{pool}+{min(offsets)}" + (f"..{max(offsets)}" if len(offsets) > 1 else "")


def _size(buffer: BufferRecord | RowsRecord) -> str:
    if isinstance(buffer, BufferRecord):
        return show_bytes(buffer.size)
    return f"{buffer.rows} row{'s' if buffer.rows > 1 else ''} of {show_bytes(buffer.row_size)}"
