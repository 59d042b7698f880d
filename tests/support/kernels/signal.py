"""Cases of TensorFlow Lite Micro's signal library, those of operators that remember nothing."""

from collections.abc import Callable

import numpy as np

from tests.support.kernels.drawing import Array, Case, Random, case, pick, span
from usmp_build.ir.graph import DType, Tensor
from usmp_build.operators import signal

INT16, INT32, UINT32, UINT64 = DType.INT16, DType.INT32, DType.UINT32, DType.UINT64
C = signal.CUSTOM


def plain(name: str, shape: tuple[int, ...], dtype: DType, data: Array | None = None) -> Tensor:
    """Return a tensor without quantization."""
    return Tensor(name, shape, dtype, data=None if data is None else data.astype(dtype.numpy).tobytes())


def loud(r: Random, shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw numbers with any count of bits, at times the ends of the range."""
    limits = np.iinfo(dtype.numpy)
    shifts = r.integers(limits.bits, size=shape).astype(dtype.numpy)
    numbers = r.integers(limits.min, limits.max, shape, dtype.numpy, endpoint=True) >> shifts
    if pick(r, [True, False, False]):
        numbers.reshape(-1)[r.integers(numbers.size)] = pick(r, [limits.min, limits.max])
    return numbers.astype(dtype.numpy)


def fed(example: Case, *inputs: Array) -> Case:
    """Return a case with other inputs."""
    return Case(example.graph, inputs)


def window(r: Random) -> Case:
    size, frames = span(r, 1, 40), span(r, 1, 4)
    shape = (frames, size) if frames > 1 else pick(r, [(size,), (1, size)])
    weights = plain("w", (size,), INT16, loud(r, (size,), INT16))
    x, y = plain("x", shape, INT16), plain("y", shape, INT16)
    example = case(r, f"{C}SignalWindow", (x, weights), y, signal.Window(pick(r, [12, 0, 15, span(r, 0, 31)])))
    return fed(example, loud(r, shape, INT16))


def energy(r: Random) -> Case:
    """TensorFlow Lite Micro leaves numbers outside of the range as they are, so that none is asked about."""
    size = span(r, 1, 40)
    example = case(
        r,
        f"{C}SignalEnergy",
        (plain("x", (2 * size,), INT16),),
        plain("y", (size,), UINT32),
        signal.Energy(0, size),
    )
    return fed(example, loud(r, (2 * size,), INT16))


def fft_auto_scale(r: Random) -> Case:
    size = span(r, 1, 60)
    outputs = (plain("y", (size,), INT16), plain("bits", (), INT32))
    example = case(r, f"{C}SignalFftAutoScale", (plain("x", (size,), INT16),), outputs)
    quiet = loud(r, (size,), INT16) >> span(r, 0, 15)
    return fed(example, quiet.astype(np.int16))


def fft(kind: str, inverse: bool) -> Callable[[Random], Case]:
    def draw(r: Random) -> Case:
        dtype = pick(r, [INT16, INT16, INT32, DType.FLOAT32])
        points = pick(r, [2, 4, 8, 16, 64, 256, 3, 5, 6, 12, 15, 20, 30, 120, 9, 25])
        frames = pick(r, [(), (), (2,), (1, 3)])
        spectrum, samples = (*frames, 2 * points + 2), (*frames, 2 * points if inverse else span(r, 1, 2 * points))
        shapes = (spectrum, samples) if inverse else (samples, spectrum)
        example = case(
            r, C + kind, (plain("x", shapes[0], dtype),), plain("y", shapes[1], dtype), signal.Fft(2 * points)
        )
        if dtype is DType.FLOAT32:
            return fed(example, r.normal(0, 1, shapes[0]).astype(np.float32))
        return fed(example, loud(r, shapes[0], dtype))

    return draw


def filter_bank(r: Random) -> Case:
    channels, bins = span(r, 1, 8), span(r, 4, 40)
    widths = r.integers(0, min(bins, 9), channels + 1)
    starts = r.integers(0, bins - widths, endpoint=True)
    firsts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    weights = [loud(r, (max(int(widths.sum()), 1),), INT16) for _ in range(2)]
    constants = [plain(f"c{i}", data.shape, INT16, data) for i, data in enumerate((*weights, starts, firsts, widths))]
    x, y = plain("x", (bins,), UINT32), plain("y", (channels,), UINT64)
    example = case(r, f"{C}SignalFilterBank", (x, *constants), y, signal.FilterBank(channels))
    return fed(example, loud(r, (bins,), UINT32))


def square_root(r: Random) -> Case:
    size = span(r, 1, 30)
    inputs = (plain("x", (size,), UINT64), plain("bits", (), INT32))
    example = case(r, f"{C}SignalFilterBankSquareRoot", inputs, plain("y", (size,), UINT32))
    return fed(example, loud(r, (size,), UINT64), np.array(span(r, 0, 15), np.int32))


def logarithm(r: Random) -> Case:
    size = span(r, 1, 30)
    options = signal.FilterBankLog(span(r, 0, 31), pick(r, [1600, 64, 1, span(r, 0, 100000)]))
    x, y = plain("x", (size,), UINT32), plain("y", (size,), INT16)
    return fed(case(r, f"{C}SignalFilterBankLog", (x,), y, options), loud(r, (size,), UINT32))


def pcan(r: Random) -> Case:
    """Of a table of gains as converters make it, and of any other one."""
    size = span(r, 1, 30)
    gains = loud(r, (125,), INT16) >> pick(r, [0, 4])
    inputs = (plain("x", (size,), UINT32), plain("noise", (size,), UINT32), plain("gains", (125,), INT16, gains))
    example = case(r, f"{C}SignalPCAN", inputs, plain("y", (size,), UINT32), signal.Pcan(pick(r, [6, span(r, 0, 40)])))
    return fed(example, loud(r, (size,), UINT32), loud(r, (size,), UINT32))


CASES: dict[str, Callable[[Random], Case]] = {
    f"{C}SignalEnergy": energy,
    f"{C}SignalFftAutoScale": fft_auto_scale,
    f"{C}SignalFilterBank": filter_bank,
    f"{C}SignalFilterBankLog": logarithm,
    f"{C}SignalFilterBankSquareRoot": square_root,
    f"{C}SignalIrfft": fft("SignalIrfft", inverse=True),
    f"{C}SignalPCAN": pcan,
    f"{C}SignalRfft": fft("SignalRfft", inverse=False),
    f"{C}SignalWindow": window,
}
