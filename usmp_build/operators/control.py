"""What the graph itself gives a meaning: subgraphs that run, variables, copies, and tensors that share bytes."""

from __future__ import annotations

from usmp_build.ir.options import Call, If, Parts, VarHandle, While
from usmp_build.operators.general_rules import as_many, same_type
from usmp_build.operators.kind import AtOnce, Effect, StoredOptions, mover, planned_only
from usmp_build.operators.operands import Signature

SAME = Signature("input", rules=(same_type("input", "output"), as_many))
"""The output is the input, perhaps under another shape."""

KINDS = (
    planned_only("ASSIGN_VARIABLE", whole=AtOnce.STATE),
    planned_only("CALL", options=StoredOptions(Call, "CallOptions")),
    planned_only("CALL_ONCE", options=StoredOptions(Call, "CallOnceOptions")),
    mover("COPY", SAME, effect=Effect.PURE, keeps_axes=True),
    planned_only("CUT", options=StoredOptions(Parts, None)),
    planned_only("IF", options=StoredOptions(If, "IfOptions")),
    planned_only("JOIN", options=StoredOptions(Parts, None)),
    planned_only("READ_VARIABLE", Effect.PURE, whole=AtOnce.STATE),
    planned_only("VAR_HANDLE", options=StoredOptions(VarHandle, "VarHandleOptions")),
    mover("VIEW", SAME, effect=Effect.PURE, within_inputs=True),
    planned_only("WHILE", options=StoredOptions(While, "WhileOptions")),
)
