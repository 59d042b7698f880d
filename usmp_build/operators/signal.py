"""Operators of TensorFlow Lite Micro's signal library: custom operators for the features of audio.

Some keep what they heard before.  They have no input for that: a rewrite gives them one, a variable of the size that
`remembered` returns, as the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from math import prod
from types import MappingProxyType

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Operator, Subgraph, Tensor
from usmp_build.ir.options import Options, named
from usmp_build.operators.kind import AtOnce, Effect, OperatorKind, StoredOptions, pure, stateful
from usmp_build.operators.operands import Fault, Signature, Subject
from usmp_build.units import MAX_BYTES

CUSTOM = "CUSTOM:"


@frozen
class Delay(Options):
    """SignalDelay."""

    delay_length: int = field(default=0, metadata=named())
    """Samples."""


@frozen
class Energy(Options):
    """SignalEnergy: which of the numbers of a spectrum are computed."""

    start_index: int = field(default=0, metadata=named())
    end_index: int = field(default=0, metadata=named())


@frozen
class FilterBank(Options):
    """SignalFilterBank."""

    num_channels: int = field(default=0, metadata=named())


@frozen
class FilterBankLog(Options):
    """SignalFilterBankLog."""

    input_correction_bits: int = field(default=0, metadata=named())
    output_scale: int = field(default=0, metadata=named())


@frozen
class SpectralSubtraction(Options):
    """SignalFilterBankSpectralSubtraction: numbers of fixed point, with `spectral_subtraction_bits` after the point."""

    alternate_one_minus_smoothing: int = field(default=0, metadata=named())
    """Of channels with an odd number."""
    alternate_smoothing: int = field(default=0, metadata=named())
    clamping: bool = field(default=False, metadata=named())
    """Whether the estimate of the noise is never above the signal."""
    min_signal_remaining: int = field(default=0, metadata=named())
    num_channels: int = field(default=0, metadata=named())
    one_minus_smoothing: int = field(default=0, metadata=named())
    smoothing: int = field(default=0, metadata=named())
    smoothing_bits: int = field(default=0, metadata=named())
    spectral_subtraction_bits: int = field(default=0, metadata=named())


@frozen
class Framer(Options):
    """SignalFramer: in samples."""

    frame_size: int = field(default=0, metadata=named())
    frame_step: int = field(default=0, metadata=named())
    prefill: bool = field(default=False, metadata=named())
    """Whether zeros come before the first sample."""


@frozen
class Fft(Options):
    """SignalRfft and SignalIrfft."""

    fft_length: int = field(default=0, metadata=named())


@frozen
class OverlapAdd(Options):
    """SignalOverlapAdd."""

    frame_step: int = field(default=0, metadata=named())


@frozen
class Pcan(Options):
    """SignalPCAN: per-channel amplitude normalization."""

    snr_shift: int = field(default=0, metadata=named())


@frozen
class Stacker(Options):
    """SignalStacker: in frames of `num_channels` numbers."""

    num_channels: int = field(default=0, metadata=named())
    stacker_left_context: int = field(default=0, metadata=named())
    stacker_right_context: int = field(default=0, metadata=named())
    stacker_step: int = field(default=0, metadata=named())


@frozen
class Window(Options):
    """SignalWindow."""

    shift: int = field(default=0, metadata=named())


def remembered(op: Operator, graph: Subgraph) -> Tensor | None:
    """Return what an operator remembers from run to run, as a variable; None if it is nothing.

    The numbers of options are those of the file: kernels say whether they make sense.
    """
    source = op.inputs[0] if op.inputs else None
    if source is None or op.options is None or op.kind not in _ELEMENTS:
        return None
    tensor = graph.tensors[source]
    size = max(_ELEMENTS[op.kind](op.options, tensor.shape), 1)
    name = f"{op.kind.removeprefix(CUSTOM)}_{op.position}_state"
    return Tensor(name, (size,), tensor.dtype, is_variable=True)


def _outer(shape: tuple[int, ...], axes: int) -> int:
    """Return how many signals there are, side by side: the product of all but the last axes."""
    return prod(shape[:-axes])


def _delayed(options: Options, shape: tuple[int, ...]) -> int:
    return _outer(shape, 1) * options.delay_length if isinstance(options, Delay) else 0


def _subtracted(options: Options, _: tuple[int, ...]) -> int:
    return options.num_channels if isinstance(options, SpectralSubtraction) else 0


def _framed(options: Options, shape: tuple[int, ...]) -> int:
    """The number of steps so far, up to the first frame, then the samples before a step."""
    return 1 + _outer(shape, 1) * samples_before(options) if isinstance(options, Framer) else 0


def samples_before(options: Framer) -> int:
    """Return how many samples SignalFramer keeps for the next frame: those that are not in the step."""
    size, step = options.frame_size, max(options.frame_step, 1)
    return size - step if options.prefill else (size - 1) // step * step


def _added(options: Options, shape: tuple[int, ...]) -> int:
    """The sums of the samples that later frames overlap."""
    return _outer(shape, 2) * (shape[-1] - options.frame_step) if isinstance(options, OverlapAdd) and shape else 0


def _stacked(options: Options, _: tuple[int, ...]) -> int:
    """The number of frames, and one more, if there was any; then the frames."""
    if not isinstance(options, Stacker):
        return 0
    return 1 + options.num_channels * (options.stacker_left_context + options.stacker_right_context)


_ELEMENTS: Mapping[str, Callable[[Options, tuple[int, ...]], int]] = MappingProxyType(
    {
        f"{CUSTOM}SignalDelay": _delayed,
        f"{CUSTOM}SignalFilterBankSpectralSubtraction": _subtracted,
        f"{CUSTOM}SignalFramer": _framed,
        f"{CUSTOM}SignalOverlapAdd": _added,
        f"{CUSTOM}SignalStacker": _stacked,
    }
)
"""Kind → elements of what it remembers, of the type of its input, by options and the shape of the input."""

FLAGGED = frozenset({f"{CUSTOM}SignalFramer", f"{CUSTOM}SignalStacker"})
"""Kinds whose second output says whether the first one is complete."""


def _pure(name: str, signature: Signature, options: type[Options] | None = None) -> OperatorKind:
    stored = None if options is None else StoredOptions(options, None)
    return pure(CUSTOM + name, signature, effect=Effect.PURE, options=stored, whole=AtOnce.FRAME)


def _stateful(name: str, options: type[Options], outputs: str = "output") -> OperatorKind:
    signature = Signature("input state?", outputs, (_remembering,))
    return stateful(CUSTOM + name, signature, options=StoredOptions(options, None))


def _remembering(subject: Subject) -> Iterator[Fault]:
    """Say that a state is no variable, or has more bytes than are supported, where that is so."""
    given, own = subject.tensor("state"), remembered(subject.operator, subject.graph)
    if given is not None and not given.is_variable:
        yield Fault("T247", f"its state, {given.name!r}, is no variable")
    if own is not None and own.size > MAX_BYTES:
        yield Fault("T232", f"its options ask for a state of {own.elements:,} numbers")


KINDS = (
    _pure("SignalEnergy", Signature("input"), Energy),
    _pure("SignalFftAutoScale", Signature("input", "output bits")),
    _pure("SignalFilterBank", Signature("input weights unweights starts weight_starts widths"), FilterBank),
    _pure("SignalFilterBankLog", Signature("input"), FilterBankLog),
    _pure("SignalFilterBankSquareRoot", Signature("input bits")),
    _pure("SignalIrfft", Signature("input"), Fft),
    _pure("SignalPCAN", Signature("input noise gains"), Pcan),
    _pure("SignalRfft", Signature("input"), Fft),
    _pure("SignalWindow", Signature("input weights"), Window),
    _stateful("SignalDelay", Delay),
    _stateful("SignalFilterBankSpectralSubtraction", SpectralSubtraction, "output noise"),
    _stateful("SignalFramer", Framer, "output valid"),
    _stateful("SignalOverlapAdd", OverlapAdd),
    _stateful("SignalStacker", Stacker, "output valid"),
)
