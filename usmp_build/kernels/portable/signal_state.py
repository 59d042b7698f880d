"""Operators of the signal library that remember something from run to run: a variable, their last input.

They go in one direction, that of time.
"""

from __future__ import annotations

from usmp_build.interfaces.kernels import Input, Kernel, Operand, Output, Traffic
from usmp_build.ir.graph import DType
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Fields, InTurn, Moved, Nest, kernel, reads, writes
from usmp_build.kernels.node import LARGEST, Node, Unsupported
from usmp_build.kernels.portable.signal import apart, check_shift, check_types
from usmp_build.operators import signal as o

_MOST = (1 << 15) - 2
"""The largest number that a state of 16 bits counts to."""


def delay(node: Node) -> Kernel:
    """SignalDelay."""
    source, output, length = node.input(0), node.output, node.options(o.Delay).delay_length
    check_types(node, (DType.INT16,), (DType.INT16,))
    node.expect(length >= 0, f"delays by {length} samples")
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    samples = source.shape[-1] if source.shape else 1
    signals = source.elements // samples
    fields = (("signals", signals), ("samples", samples), ("delay", length))
    kept = 2 * signals * length
    moved: Moved = {Input(1): Traffic(kept, kept)}
    return _kernel(node, "signal_delay", (Input(0), Input(1), Output(0)), fields, moved)


def framer(node: Node) -> Kernel:
    """SignalFramer: frames that are not complete are zeros, which TensorFlow Lite Micro leaves as they are.

    Its traffic is that of complete frames.
    """
    source, options = node.input(0), node.options(o.Framer)
    check_types(node, (DType.INT16,), (DType.INT16, DType.BOOL))
    size, step = options.frame_size, options.frame_step
    node.expect(0 < step <= size, f"makes frames of {size} samples every {step}")
    samples = source.shape[-1] if source.shape else 1
    node.expect(samples % step == 0, f"takes {samples} samples in steps of {step}")
    signals, frames = source.elements // samples, samples // step
    node.expect(node.outputs[0].elements == signals * frames * size, "has an output of another size than its frames")
    node.expect(node.outputs[1].elements == 1, "has more than one flag")
    first = 0 if options.prefill else (size - 1) // step
    if first > _MOST:
        raise Unsupported(f"its first frame is complete after {first:,} steps")
    before, steps = o.samples_before(options), signals * frames
    moved: Moved = {
        Input(0): Traffic(2 * steps * (size - before + min(before, step))),
        Input(1): Traffic(2 + 2 * steps * (before + max(before - step, 0)), 2 + 2 * steps * before),
    }
    fields = (
        ("signals", signals),
        ("frames", frames),
        ("step", step),
        ("size", size),
        ("before", before),
        ("first", first),
    )
    operands = (Input(0), Input(1), Output(0), Output(1))
    return _kernel(node, "signal_framer", operands, fields, moved)


def overlap_add(node: Node) -> Kernel:
    """SignalOverlapAdd."""
    source, output, step = node.input(0), node.output, node.options(o.OverlapAdd).frame_step
    if source.dtype is not DType.FLOAT32:
        check_types(node, (DType.INT16,), (DType.INT16,))
    else:
        check_types(node, (DType.FLOAT32,), (DType.FLOAT32,))
    node.expect(len(source.shape) >= 2, "has an input without frames")
    frames, size = source.shape[-2:]
    node.expect(0 < step <= size, f"adds frames of {size} samples every {step}")
    signals = source.elements // (frames * size)
    node.expect(output.elements == signals * frames * step, "has an output of another size than its steps")
    fields = (("signals", signals), ("frames", frames), ("size", size), ("step", step))
    function = c_name("signal_overlap_add", source.dtype)
    sums = signals * frames * (size - step) * source.dtype.bits // 8
    moved: Moved = {Input(1): Traffic(sums, sums)}
    return _kernel(
        node, function, (Input(0), Input(1), Output(0)), fields, moved, struct="signal_overlap_add_parameters"
    )


def stacker(node: Node) -> Kernel:
    """SignalStacker: a stack that is not complete is zeros, which TensorFlow Lite Micro leaves as they are.

    Its traffic is that of a run that completes a stack.  Others do not read the output; they write one frame of the
    state, the first one several.
    """
    source, options = node.input(0), node.options(o.Stacker)
    check_types(node, (DType.INT16,), (DType.INT16, DType.BOOL))
    left, right, channels = options.stacker_left_context, options.stacker_right_context, options.num_channels
    node.expect(min(left, right) >= 0, f"stacks {left} frames before a frame, and {right} after it")
    node.expect(source.elements == channels, f"takes {source.elements} numbers as {channels} channels")
    frames, step = left + right + 1, options.stacker_step
    node.expect(0 < step <= frames, f"makes stacks of {frames} frames every {step}")
    node.expect(node.outputs[0].elements == frames * channels, "has an output of another size than its stack")
    node.expect(node.outputs[1].elements == 1, "has more than one flag")
    if frames > _MOST:
        raise Unsupported(f"it stacks {frames:,} frames")
    fields = (("channels", channels), ("left", left), ("before", frames - 1), ("step", step))
    kept, output = 2 * (frames - step) * channels, node.outputs[0]
    moved: Moved = {Input(1): Traffic(2 + output.size - source.size, 2 + kept), Output(0): Traffic(kept, output.size)}
    return _kernel(node, "signal_stacker", (Input(0), Input(1), Output(0), Output(1)), fields, moved)


def spectral_subtraction(node: Node) -> Kernel:
    """SignalFilterBankSpectralSubtraction."""
    source, options = node.input(0), node.options(o.SpectralSubtraction)
    check_types(node, (DType.UINT32,), (DType.UINT32, DType.UINT32))
    check_shift(node, options.smoothing_bits, 32)
    check_shift(node, options.spectral_subtraction_bits, 64)
    node.expect(options.min_signal_remaining >= 0, f"leaves {options.min_signal_remaining} of the signal")
    sizes = {source.elements, *(tensor.elements for tensor in node.outputs), options.num_channels}
    node.expect(len(sizes) == 1, f"has operands of other sizes than its {options.num_channels} channels")
    fields = (
        ("channels", source.elements),
        ("smoothing", (options.smoothing, options.alternate_smoothing)),
        ("kept", (options.one_minus_smoothing, options.alternate_one_minus_smoothing)),
        ("least", options.min_signal_remaining),
        ("smoothing_bits", options.smoothing_bits),
        ("bits", options.spectral_subtraction_bits),
        ("clamping", int(options.clamping)),
    )
    operands = (Input(0), Input(1), Output(0), Output(1))
    moved: Moved = {Input(1): Traffic(source.size, source.size)}
    return _kernel(node, "signal_subtraction", operands, fields, moved, source.elements)


def _kernel(
    node: Node,
    function: str,
    operands: tuple[Operand, ...],
    fields: Fields,
    moved: Moved,
    turns: int = 0,
    struct: str = "",
) -> Kernel:
    """Return a kernel that changes its state; without `turns`, it reads its input again after it wrote its output.

    `moved` is the traffic of operands that are not read or written once.
    """
    state = node.input(1)
    if not state.is_variable:
        raise Unsupported("what it remembers is not a variable")
    source, output = node.input(0), node.outputs[0]
    expected = o.remembered(node.operator, node.graph)
    node.expect(expected is not None and state.elements == expected.elements, "has a state of another size")
    if state.size > LARGEST:
        raise Unsupported(f"it remembers more than {LARGEST:,} bytes")
    nest: Nest | InTurn = apart(source.elements, output.elements)
    if turns:
        nest = Nest({"channels": turns}, (reads(Input(0)), writes(Output(0))))
    return kernel(node, function, nest, fields, struct=struct, operands=operands, moved=moved, updates=frozenset({1}))
