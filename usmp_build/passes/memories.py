"""Plans what a program's compiler assigned to a memory: `place` must say which pools that memory is.

    scope            with a rule of place     without one
    global.vtcm      in its pools             an error
    shared, local    in its pools             left to the function's own compiler

What the generated C of a function names is never left to a compiler.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.ir.graph import Model, Subgraph, TensorRef
from usmp_build.ir.statements import Allocate, For, If, Provider, Statement, allocations
from usmp_build.ir.uses import known_size
from usmp_build.naming import matches
from usmp_build.passes.assign import Assignment
from usmp_build.request import ModelRequest, PlaceRequest, Request


def memories(request: Request, models: tuple[Model, ...], assignment: Assignment) -> tuple[Model, ...]:
    """Return the models, with all allocations planned for whose memory a rule names pools.

    Raises ManifestError for a tensor whose memory no rule of place names, and for one that cannot be planned.
    """
    return tuple(
        replace(model, subgraphs=tuple(_graphs(settings, m, model, assignment)))
        for m, (settings, model) in enumerate(zip(request.models, models, strict=True))
    )


def _graphs(settings: ModelRequest, m: int, model: Model, assignment: Assignment) -> Iterator[Subgraph]:
    for s, graph in enumerate(model.subgraphs):
        providers = {each.tensor: each.provider for each in allocations(graph.body)}
        providers |= dict.fromkeys(range(graph.parameters) if s == 0 else (), Provider.PLAN)
        scoped = {tensor: provider for tensor, provider in providers.items() if graph.tensors[tensor].memory_scope}
        for tensor, provider in scoped.items():
            if TensorRef(m, s, tensor) not in assignment.tensors and _is_ours(graph, tensor, provider):
                raise ManifestError(_unknown(settings, graph, tensor))
        left = [tensor for tensor, provider in scoped.items() if provider is Provider.FUNCTION]
        to_plan = {tensor for tensor in left if _has_pools(settings, graph, tensor)}
        yield replace(graph, body=_planned(graph.body, to_plan)) if to_plan else graph


def _is_ours(graph: Subgraph, tensor: int, provider: Provider) -> bool:
    return provider is Provider.PLAN or (provider is Provider.FUNCTION and _is_in_code(graph, tensor))


def _has_pools(settings: ModelRequest, graph: Subgraph, tensor: int) -> bool:
    """Tell whether a rule names pools for the memory that a function's compiler would provide."""
    rules = (rule for rule in settings.places if rule.pools and matches(rule.scope, graph.tensors[tensor].memory_scope))
    rule = next(rules, None)
    has_array = graph.code is not None and not _is_in_code(graph, tensor)
    if rule and (has_array or known_size(graph.tensors[tensor]) is None):
        raise ManifestError(_not_ours(graph, tensor, rule))
    return rule is not None


def _is_in_code(graph: Subgraph, tensor: int) -> bool:
    return graph.code is not None and tensor in graph.code.parts


def _planned(body: tuple[Statement, ...], tensors: Collection[int]) -> tuple[Statement, ...]:
    return tuple(_planned_statement(statement, tensors) for statement in body)


def _planned_statement(statement: Statement, tensors: Collection[int]) -> Statement:
    match statement:
        case Allocate(tensor, body, provider):
            return Allocate(tensor, _planned(body, tensors), Provider.PLAN if tensor in tensors else provider)
        case For(_, _, body):
            return replace(statement, body=_planned(body, tensors))
        case If(condition, then, other):
            return If(condition, _planned(then, tensors), _planned(other, tensors))
    return statement


def _unknown(settings: ModelRequest, graph: Subgraph, tensor: int) -> Diagnostic:
    name, scope = (quoted(text) for text in (graph.tensors[tensor].name, graph.tensors[tensor].memory_scope))
    message = f"{name} of {quoted(graph.name)} is in the memory {scope}, and no rule of place names pools for that"
    help_ = f'add [[models.{settings.name}.place]] with scope = {scope} and pools = ["..."] to the manifest'
    return Diagnostic("P316", message, settings.path, help_)


def _not_ours(graph: Subgraph, tensor: int, rule: PlaceRequest) -> Diagnostic:
    name, scope = (quoted(text) for text in (graph.tensors[tensor].name, graph.tensors[tensor].memory_scope))
    why = "is an array of its C function, or its size is not known before it runs"
    message = f"{name} of {quoted(graph.name)}, in {scope}, cannot be planned: it {why}"
    return Diagnostic("P316", message, rule.span, 'name scopes like "global.*" only')
