"""Adds copies for tensors pinned to pools that their writer does not reach: written elsewhere, and copied there.

    %7 = CONV_2D(%3)    →    %21 = CONV_2D(%3)    in the memory of the accelerator
                             %7 = COPY(%21)       in the pool that %7 is pinned to

An input keeps its number, because the application fills it; its copy is pinned instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Input, Output
from usmp_build.ir.graph import OperatorRef, Subgraph
from usmp_build.passes.assign import CALLER, Assignment, Pin, Spot
from usmp_build.passes.copies import NewCopy
from usmp_build.passes.rows.ports import caller_ports
from usmp_build.passes.scopes.copies import MEMCPY, Copier, copier
from usmp_build.passes.scopes.demands import Demands
from usmp_build.passes.scopes.names import GraphNames, elsewhere
from usmp_build.request import Request


class Wanted(NamedTuple):
    """A copy to be inserted, and who makes it."""

    copy: NewCopy
    by: Copier
    moves_pin: bool = False
    """Whether the pin moves from its source to the copy."""


def writer(assignment: Assignment, place: tuple[int, int], graph: Subgraph, root: int) -> int:
    """Return the target that writes a tensor that is not a view; target 0 if no operator does."""
    producer = graph.producers.get(root)
    return 0 if producer is None else assignment.target_of(place, graph.operators[producer])


@dataclass
class PinnedTensors:
    """The pinned tensors of one subgraph."""

    request: Request
    assignment: Assignment
    kernels: Kernels
    place: tuple[int, int]
    """Model, subgraph."""
    graph: Subgraph
    homes: dict[int, frozenset[int]] = field(default_factory=dict, init=False)
    """Tensor that is not a view → the pools that its writer or copier, and pins, leave."""
    roots: dict[int, int] = field(default_factory=dict, init=False)
    """View → the tensor whose bytes it shows; copied views are removed."""

    @cached_property
    def demands(self) -> Demands:
        """The demands of operands."""
        return Demands(self.request, self.assignment)

    @cached_property
    def in_arrays(self) -> frozenset[int]:
        """The inputs and outputs that are in arrays of the caller."""
        return caller_ports(self.request.models[self.place[0]], self.graph) if self.place[1] == 0 else frozenset()

    @cached_property
    def pins(self) -> Mapping[int, Pin]:
        """Tensor → the pin that restricts it."""
        return {ref.tensor: pin for ref, pin in self.assignment.tensors.items() if ref[:2] == self.place}

    def copies(self) -> Iterator[Wanted]:
        """Yield a copy for each tensor whose writer does not reach the pools that it is pinned to.

        Raises ManifestError if no target can make it.
        """
        if not self.pins:
            return
        for tensor in self.graph.inputs:
            yield from self._at(tensor, self._filled(tensor))
        for index, op in enumerate(self.graph.operators):
            for position, tensor in enumerate(op.outputs):
                source = op.inputs[0] if op.kind == "VIEW" else None
                if source is None:
                    yield from self._at(tensor, self._demand(index, Output(position)) & self._workspace)
                else:
                    self.roots[tensor] = self.roots.get(source, source)
                    yield from self._at(tensor, self.homes.get(self.roots[tensor], frozenset()))

    def _at(self, tensor: int, written: frozenset[int]) -> Iterator[Wanted]:
        """Note the home of a tensor, and yield a copy if one is needed; `written` are the pools that its writer leaves.

        No copy helps a variable, which is changed in place, nor if `written` is empty, which is refused later.
        """
        pin = self.pins.get(tensor)
        both = written & pin.pools if pin else written
        if pin and written and not both and not self.graph.tensors[tensor].is_variable:
            wanted = self._copy(tensor, written, pin)
            if wanted is not None:
                yield wanted
                self.roots.pop(tensor, None)
                both = pin.pools & (self.demands.reach(0, writes=True) if wanted.by == MEMCPY else pin.pools)
        self.homes[self.roots.get(tensor, tensor)] = both

    @property
    def _workspace(self) -> frozenset[int]:
        return frozenset(self.request.models[self.place[0]].workspace_pools)

    def _filled(self, tensor: int) -> frozenset[int]:
        """Return the pools in which target 0 fills an input, for the application or for a call."""
        if tensor in self.in_arrays:
            return frozenset({CALLER})
        return self.demands.of_target_0(writes=True, plain=True).pools & self._workspace

    def _demand(self, index: int, operand: Input | Output) -> frozenset[int]:
        op, kernel = self.graph.operators[index], self.kernels.get(OperatorRef(*self.place, index))
        return self.demands.of(Spot(*self.place, op.position), op, kernel, operand).pools

    def _copy(self, tensor: int, written: frozenset[int], pin: Pin) -> Wanted | None:
        """Return a copy in the pools of a pin; None for an input that no operator reads."""
        readers = self._readers(tensor, written, pin.pools)
        is_input = tensor in self.graph.inputs
        if is_input and not readers:
            return None
        source = writer(self.assignment, self.place, self.graph, self.roots.get(tensor, tensor))
        targets = [
            0 if r is None else self.assignment.target_of(self.place, self.graph.operators[r]) for r, _ in readers
        ] or [0]
        copiers = [copier(self.request, source, target) for target in targets]
        by = next((each for each in copiers if each != MEMCPY), MEMCPY)
        if by == MEMCPY:
            self._refuse_out_of_reach(tensor, written, pin)
        copy_tensor = elsewhere(self.request, self.graph, tensor, pin.pools if is_input else written)
        return Wanted(NewCopy(tensor, copy_tensor, readers, takes_number=not is_input), by, moves_pin=is_input)

    def _readers(
        self, tensor: int, written: frozenset[int], pinned: frozenset[int]
    ) -> tuple[tuple[int | None, int], ...]:
        """Return the readers of the pinned tensor: all but those that only reach it where it was written.

        If none is left, all of them read the pinned tensor, by copies: the pin says where it is until then.
        """
        operators = enumerate(self.graph.operators)
        reads = [(i, position) for i, op in operators for position, read in enumerate(op.inputs) if read == tensor]
        staying: list[tuple[int | None, int]] = []
        for index, position in reads:
            is_view = self.graph.operators[index].kind == "VIEW"
            demand = pinned if is_view else self._demand(index, Input(position))
            if demand & pinned or not demand & written:
                staying.append((index, position))
        if tensor not in self.graph.inputs:
            staying += [(None, position) for position, output in enumerate(self.graph.outputs) if output == tensor]
        return tuple(staying or reads)

    def _refuse_out_of_reach(self, tensor: int, written: frozenset[int], pin: Pin) -> None:
        """Raise ManifestError unless target 0 reads the pools it copies from, and writes those it copies to."""
        reads, writes = (self.demands.reach(0, writes=writes) for writes in (False, True))
        if written & reads and pin.pools & writes:
            return
        names = GraphNames(self.request, self.assignment, self.place, self.graph)
        cpu = self.request.targets[0].name
        producer = self.graph.producers.get(tensor)
        who = "the application fills it" if producer is None else names.operator(self.graph.operators[producer])
        message = f"a rule of place pins {names.tensor(tensor)} to {self.demands.names(pin.pools)}, and {who} "
        message += f"{'' if producer is None else 'writes it '}in {self.demands.names(written)}: "
        message += f'target "{cpu}" would have to copy it, but does not reach both'
        way = 'write copies = "extern" for the target that writes or reads it, '
        way += f'let "{cpu}" reach both (`targets` of a pool), or pin it elsewhere'
        raise ManifestError(Diagnostic("P315", message, pin.span or self.request.models[self.place[0]].path, way))
