"""What the graph itself gives a meaning: subgraphs that run, variables, copies, and tensors that share bytes."""

from __future__ import annotations

from usmp_build.ir.options import Call, If, Parts, VarHandle, While
from usmp_build.operators.general_rules import as_many, same_type
from usmp_build.operators.kind import Effect, StoredOptions, plain_kind, planned_only
from usmp_build.operators.operands import Signature

SAME = Signature("input", rules=(same_type("input", "output"), as_many("input", "output")))
"""The output is the input, perhaps under another shape."""

KINDS = (
    planned_only("ASSIGN_VARIABLE", Effect.UNKNOWN, keeps_axes=False, options=None),
    planned_only("CALL", Effect.UNKNOWN, keeps_axes=False, options=StoredOptions(Call, "CallOptions")),
    planned_only("CALL_ONCE", Effect.UNKNOWN, keeps_axes=False, options=StoredOptions(Call, "CallOnceOptions")),
    plain_kind(
        name="COPY",
        options=None,
        signature=SAME,
        effect=Effect.PURE,
        keeps_axes=True,
        only_shape=False,
        within_inputs=False,
        fold=None,
        arguments=None,
    ),
    planned_only("CUT", Effect.UNKNOWN, keeps_axes=False, options=StoredOptions(Parts, None)),
    planned_only("IF", Effect.UNKNOWN, keeps_axes=False, options=StoredOptions(If, "IfOptions")),
    planned_only("JOIN", Effect.UNKNOWN, keeps_axes=False, options=StoredOptions(Parts, None)),
    planned_only("READ_VARIABLE", Effect.PURE, keeps_axes=False, options=None),
    planned_only("VAR_HANDLE", Effect.UNKNOWN, keeps_axes=False, options=StoredOptions(VarHandle, "VarHandleOptions")),
    plain_kind(
        name="VIEW",
        options=None,
        signature=SAME,
        effect=Effect.PURE,
        keeps_axes=False,
        only_shape=False,
        within_inputs=True,
        fold=None,
        arguments=None,
    ),
    planned_only("WHILE", Effect.UNKNOWN, keeps_axes=False, options=StoredOptions(While, "WhileOptions")),
)
