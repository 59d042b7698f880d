"""Builds the diagnostics of scope planning: views pinned apart from their source, and impossible copies."""

from __future__ import annotations

from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.passes.assign import CALLER
from usmp_build.passes.scopes.demands import Limit
from usmp_build.passes.scopes.statement import Statement
from usmp_build.passes.scopes.unify import NoRoom, TieConflict


def parted(statement: Statement, conflict: TieConflict) -> ManifestError:
    """Return the error that two tensors share bytes, but have no pool in common."""
    view = statement.views()[conflict.tie]
    source, shown = (
        f"{statement.names.tensor(tensor)} must be in {statement.demands.names(pools)}"
        + "".join(f" ({why.who})" for why in statement.whys[tensor])
        for tensor, pools in zip((view.inputs[0], view.outputs[0]), conflict.sides, strict=True)
        if tensor is not None
    )
    message = f"{shown}, but shows the bytes of {source}"
    position = view.position
    way = f"drop one of the two, or place operator {position} separately: then it has a tensor of its own"
    spans = [why.span for tensor in (view.inputs[0], view.outputs[0]) for why in _whys(statement, tensor) if why.span]
    return ManifestError(Diagnostic("P314", message, spans[-1] if spans else statement.settings.path, way))


def _whys(statement: Statement, tensor: int | None) -> list[Limit]:
    return [] if tensor is None else statement.whys[tensor]


def no_room(statement: Statement, refusal: NoRoom) -> ManifestError:
    """Return the error that a copy is needed that no target can make, or that has no workspace pool."""
    use = statement.uses[refusal.edge]
    names = statement.demands.names
    what = f"wants input {use.position}" if use.reader is not None else f"reads output {use.position}"
    here, there = names(refusal.value), names(refusal.port)
    message = f"{statement.names.tensor(use.tensor)} is in {here}, and {use.label} {what} in {there}: "
    if not refusal.port & {CALLER, *statement.settings.workspace_pools}:
        message += f'a copy needs a workspace pool, and none of model "{statement.settings.name}" is among them'
        way = "let both read the same constant pool, or list a workspace pool there"
    else:
        cpu = statement.request.targets[0].name
        message += f'target "{cpu}" would have to copy it, but does not reach both'
        way = f'write copies = "extern" for the target that needs it, or let "{cpu}" reach both (`targets` of a pool)'
    spans = [limit.span for limit in (*use.demand.limits, *statement.whys[use.tensor]) if limit.span]
    return ManifestError(Diagnostic("P315", message, spans[-1] if spans else statement.settings.path, way))
