"""Merges all tensors of one variable into one buffer, and stores its initial value as a constant."""

from __future__ import annotations

from dataclasses import dataclass, field

from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.ir.graph import Model, TensorRef, tensor_at
from usmp_build.ir.storage import Kind, StorageBuffer
from usmp_build.request import Request


@dataclass
class Variables:
    """The variables of all models, collected step by step."""

    request: Request
    models: tuple[Model, ...]
    representatives: dict[tuple[int, str], TensorRef] = field(default_factory=dict, init=False)
    """Model and name of a variable → the first of its tensors that a step touches."""

    def representative(self, ref: TensorRef) -> TensorRef:
        """Return the representative of all tensors of one variable: the first one that a step touches."""
        name = tensor_at(self.models, ref).resource
        return self.representatives.setdefault((ref.model, name), ref) if name else ref

    def initial(self, ref: TensorRef, name: str) -> StorageBuffer | None:
        """Return a constant with the initial value of variable `name`; None if all bytes of that are equal.

        Raises ManifestError when target 0, which resets variables, cannot read any of the model's constant pools.
        """
        tensor = tensor_at(self.models, ref)
        if not tensor.is_variable or tensor.initial is None or len(set(tensor.initial)) < 2:
            return None
        return StorageBuffer(
            name=f"{name}.initial",
            kind=Kind.CONSTANT,
            models=(ref.model,),
            size=len(tensor.initial),
            alignment=tensor.dtype.alignment,
            dtype=tensor.dtype,
            pools=self._read_by_target_0(ref),
            reason=f"what {tensor.name} holds at first",
            data=tensor.initial,
        )

    def _read_by_target_0(self, ref: TensorRef) -> tuple[int, ...]:
        """Return the constant pools that target 0 reads, which resets variables."""
        model, pools = self.request.models[ref.model], self.request.pools
        readable = tuple(pool for pool in model.constant_pools if 0 in pools[pool].readers and not pools[pool].page)
        if not readable:
            name, cpu = tensor_at(self.models, ref).name, self.request.targets[0].name
            message = (
                f'the initial value of variable "{name}" of model "{model.name}" has no pool: target "{cpu}" reads '
                "none of its constant_pools"
            )
            help_ = f'let target "{cpu}" reach one of the constant_pools of the model (`targets` of a pool)'
            raise ManifestError(Diagnostic("P381", message, model.path, help_))
        return readable
