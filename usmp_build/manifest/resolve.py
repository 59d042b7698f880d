"""Resolves a `Manifest` to a `Request`: names become positions, and defaults become values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from usmp_build.errors import Span
from usmp_build.manifest import defaults
from usmp_build.manifest.locate import Places
from usmp_build.manifest.model import Manifest, Model
from usmp_build.manifest.overrides import NO_OVERRIDES, Overrides
from usmp_build.manifest.pool_table import Pool
from usmp_build.manifest.processors import Processors
from usmp_build.manifest.refuse import refuse
from usmp_build.request import (
    Access,
    ConnectionRequest,
    Goal,
    InputOutput,
    Inputs,
    ModelRequest,
    Outputs,
    Owner,
    PoolRequest,
    Request,
    Speed,
)

_OF_WEIGHTS = ("constant_channels",)
"""Rewrites that depend on the values of weights."""


def resolve(manifest: Manifest, overrides: Overrides = NO_OVERRIDES) -> Request:
    """Return the request of a manifest with overrides, which take precedence.  Raises as `refuse` does."""
    refuse(manifest, overrides)
    names = overrides.planned(manifest)
    processors = Processors(manifest, tuple(manifest.pools), overrides.isa)
    pools = _pools(manifest, processors)
    candidates = _Candidates(pools)
    return Request(
        project=manifest.project.name,
        manifest=re.split(r"[/\\]", manifest.places.source.file)[-1],
        pools=pools,
        models=tuple(_model(manifest, name, overrides, candidates, processors) for name in names),
        targets=processors.targets(),
        algorithm=manifest.plan.algorithm,
        options=manifest.plan.options,
        plan_span=manifest.places.value("plan", "algorithm"),
        layout_copies=manifest.plan.layout_copies,
        overlap=manifest.plan.overlap,
        rows=manifest.plan.rows,
        option_spans={key: manifest.places.key("plan", "options", key) for key in manifest.plan.options},
        concurrent=concurrent(manifest, overrides, names),
        connections=tuple(connections(manifest, names)),
    )


class _Candidates:
    """Positions of pools, by name and by access."""

    def __init__(self, pools: Sequence[PoolRequest]) -> None:
        self.pools = pools
        self._position = {pool.name: position for position, pool in enumerate(pools)}
        self._all = {access: tuple(i for i, pool in enumerate(pools) if pool.access is access) for access in Access}

    def of(self, names: Sequence[str] | None, access: Access) -> tuple[int, ...]:
        return self._all[access] if names is None else tuple(self._position[name] for name in names)


def _model(
    manifest: Manifest, name: str, overrides: Overrides, candidates: _Candidates, processors: Processors
) -> ModelRequest:
    model = manifest.models.get(name, Model())
    places = manifest.places
    model_overrides = overrides.of(name)
    span: Span | str = ""
    if name in manifest.models:
        span = places.key("models", name) if name in overrides.paths else places.value("models", name, "path")
    constant_pools = candidates.of(model_overrides.get("constant_pools", model.constant_pools), Access.CONSTANT)
    return ModelRequest(
        name=name,
        path=overrides.paths.get(name, model.path or ""),
        sha256=model.sha256 or "",
        workspace_pools=candidates.of(model_overrides.get("workspace_pools", model.workspace_pools), Access.WORKSPACE),
        constant_pools=constant_pools,
        io=InputOutput(model.io),
        names=model.names,
        span=span,
        names_span=places.key("models", name, "names") if model.names else span,
        sha256_span=places.value("models", name, "sha256") if model.sha256 else "",
        places=processors.places(name, model),
        inputs=Inputs.CONSUMED if model.inputs == "rows" else Inputs(model.inputs),
        outputs=Outputs.RUN if model.outputs == "rows" else Outputs(model.outputs),
        inputs_by_rows=places.value("models", name, "inputs") if model.inputs == "rows" else "",
        outputs_by_rows=places.value("models", name, "outputs") if model.outputs == "rows" else "",
        goal=Goal(model.goal or manifest.plan.goal),
        rewrites_off=_switched_off(manifest, model, any(candidates.pools[pool].is_sealed for pool in constant_pools)),
        free_order=model.order == "free",
        budget=model.budget,
        recompute=manifest.plan.recompute if model.recompute is None else model.recompute,
        overrides=model_overrides,
    )


def _switched_off(manifest: Manifest, model: Model, exchanged: bool) -> frozenset[str]:
    """Return the rewrites that are not done to a model: what it says itself goes before what the plan says.

    Where weights may be `exchanged`, for the application has them, code that fits only the present ones is made only
    for those who ask for it.
    """
    unasked = dict.fromkeys(_OF_WEIGHTS, False) if exchanged else {}
    switches = {**unasked, **manifest.plan.rewrites, **model.rewrites}
    return frozenset(name for name, is_done in switches.items() if not is_done)


def concurrent(manifest: Manifest, overrides: Overrides, names: Sequence[str]) -> frozenset[tuple[int, int]]:
    """Return the pairs of planned models, `names`, that may be alive at the same time: by manifest or overrides."""
    position = {name: index for index, name in enumerate(names)}
    groups = [[name for name in group if name in position] for group in manifest.concurrent]
    groups += [[model, other] for model, given in overrides.concurrent.items() for other in given.names]
    return frozenset(pair for group in groups for pair in combinations(sorted(position[name] for name in group), 2))


def connections(manifest: Manifest, names: Sequence[str]) -> Iterator[ConnectionRequest]:
    """Yield the connections between planned models; without one of the two there is nothing to connect."""
    position = {name: index for index, name in enumerate(names)}
    for number, connection in enumerate(manifest.connections):
        (producer, _, output), (consumer, _, input_) = (
            port.partition(".") for port in (connection.from_, connection.to)
        )
        if producer in position and consumer in position:
            yield ConnectionRequest(
                position[producer],
                output,
                position[consumer],
                input_,
                manifest.places.value("connections", number, "from"),
                manifest.places.value("connections", number, "to"),
            )


def _pools(manifest: Manifest, processors: Processors) -> tuple[PoolRequest, ...]:
    """Return all pools: the declared ones in the manifest's order, then the implicit ones."""
    return (*_declared(manifest, processors), *_implicit(manifest, processors))


def _declared(manifest: Manifest, processors: Processors) -> Iterator[PoolRequest]:
    for name, pool in manifest.pools.items():
        readers, writers = processors.reach(pool)
        yield PoolRequest(
            name=name,
            access=Access(pool.access),
            limit=None if pool.size is None else pool.size - pool.reserve,
            alignment=pool.alignment,
            region=pool.region or "",
            load_region=pool.load_region or "",
            section=pool.section or defaults.section(manifest.project.name, name),
            origin=pool.origin,
            span=_span_of_size(manifest.places, name),
            readers=readers,
            writers=writers,
            page=pool.page_bytes or 0,
            dims=pool.dims,
            owner=Owner(pool.owner),
            cache_line=pool.cache_line or 0,
            speed=_speed(pool, processors),
            budget=pool.budget,
        )


def _span_of_size(places: Places, pool: str) -> Span:
    """Return the place of a pool's size, or of its table if it has none."""
    return places.value("pools", pool, "size") if places.has("pools", pool, "size") else places.key("pools", pool)


def _speed(pool: Pool, processors: Processors) -> Speed | None:
    figures = (
        pool.clock_frequency_hz,
        pool.read_bandwidth_bytes_per_cycle,
        pool.write_bandwidth_bytes_per_cycle,
        pool.read_latency_cycles,
        pool.write_latency_cycles,
    )
    if all(number is None for number in figures) and not pool.target_burst_bytes:
        return None
    return Speed(*figures, processors.by_target(pool.target_burst_bytes))


def _implicit(manifest: Manifest, processors: Processors) -> Iterator[PoolRequest]:
    declared = {pool.access for pool in manifest.pools.values()}
    for access, implicit in defaults.IMPLICIT_POOLS.items():
        if access not in declared:
            pool = Pool(access=access)
            readers, writers = processors.reach(pool)
            yield PoolRequest(
                name=implicit.name,
                access=Access(access),
                limit=None,
                alignment=pool.alignment,
                region="",
                load_region="",
                section=implicit.section(manifest.project.name),
                origin=None,
                readers=readers,
                writers=writers,
            )
