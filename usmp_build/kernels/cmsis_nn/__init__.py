"""The kernel library "cmsis-nn": calls of Arm's CMSIS-NN, which the application links.

Operators that CMSIS-NN lacks have portable kernels of the reference library.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.interfaces.kernels import Kernel, KernelCall, KernelSources, NoKernel
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.kernels import sources
from usmp_build.kernels.cmsis_nn.calls import TRANSLATIONS, Missing, Portable
from usmp_build.kernels.node import Node
from usmp_build.kernels.reference import Reference
from usmp_build.request import Isa, TargetRequest

_CONTRADICTIONS: Mapping[Isa, str] = MappingProxyType(
    {
        Isa.PORTABLE: "defined(ARM_MATH_DSP) || defined(ARM_MATH_MVEI)",
        Isa.DSP: "defined(ARM_MATH_MVEI)",
        Isa.MVE: "!defined(ARM_MATH_MVEI)",
    }
)
"""Where CMSIS-NN may need more scratch than was planned for these instructions: a condition of the preprocessor."""


class CmsisNN:
    """The kernel library "cmsis-nn"."""

    def __init__(self, isa: Isa = Isa.PORTABLE) -> None:
        self._isa = isa if isa in _CONTRADICTIONS else Isa.PORTABLE
        self._reference = Reference()

    @classmethod
    def for_target(cls, target: TargetRequest) -> CmsisNN:
        """Return the library with the scratch that CMSIS-NN needs when it is compiled for a target's instructions."""
        return cls(target.isa)

    def kernel(self, operator: Operator, graph: Subgraph, /) -> Kernel | NoKernel:
        """Return the call of CMSIS-NN that runs an operator; else its reference kernel, or why it has none."""
        portable = self._reference.kernel(operator, graph)
        if isinstance(portable, NoKernel):
            return portable
        try:
            return self._translated(Portable(Node(operator, graph), portable, self._isa))
        except Missing as reason:
            return replace(portable, library="reference", declined=(f"cmsis-nn: {reason}",))

    def _translated(self, portable: Portable) -> Kernel:
        graph, operator = portable.node.graph, portable.node.operator
        if any(tensor in graph.pitches for tensor in (*operator.inputs, *operator.outputs)):
            raise Missing("its pixels lie apart")
        calls = portable.kernel.calls
        translation = TRANSLATIONS.get(calls[0].function) if len(calls) == 1 else None
        if translation is None:
            raise Missing("it has no function for it")
        return translation(portable)

    def sources(self, calls: Iterable[KernelCall], prefix: str, /) -> KernelSources:
        """Return the functions that call CMSIS-NN.

        Raises ManifestError where these are for targets with different instructions: CMSIS-NN is compiled for one.
        """
        functions = {call.function.rpartition("_")[::2] for call in calls}
        names = sorted({isa for _, isa in functions})
        if len(names) > 1:
            message = (
                f"CMSIS-NN is to run on targets with isa = {' and '.join(map(repr, names))}, and is compiled for one"
            )
            help_ = "give all targets with its kernels the same isa"
            raise ManifestError(Diagnostic("P308", message, help=help_))
        chosen = sources.choose(sorted(name for name, _ in functions), prefix, (__package__,))
        renaming = re.compile(rf"\b({prefix}_(?:{'|'.join(name for name, _ in functions)}))\(")

        def renamed(text: str) -> str:
            return renaming.sub(rf"\1_{names[0]}(", text)

        includes, _, definitions = chosen.source.partition("\n\n")
        check = f'#if {_CONTRADICTIONS[Isa(names[0])]}\n#error "{_WRONG.format(names[0])}"\n#endif'
        source = f"{includes}\n\n{check}\n\n{renamed(definitions)}"
        return replace(chosen, header=renamed(chosen.header), source=source, links="cmsis-nn")


_WRONG = "scratch of CMSIS-NN is planned for other instructions than these: isa of the target is {}"
