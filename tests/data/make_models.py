"""Make the small models that the tests and the demo read.

    python make_models.py [NAME ...]

writes NAME.tflite beside this script; without names, all of them. TensorFlow and scikit-learn are needed
here and nowhere else (`pip install tensorflow-cpu scikit-learn`): what comes out is kept in the repository.

A *recipe* is a function without arguments that returns a `Source`: a network, and the samples from which the
converter learns the ranges of its tensors. The same recipe gives the same bytes each time on one kind of
processor: seeds are fixed, TensorFlow's operators are made deterministic, layers bear names of our own, and
every conversion has a process to itself, because the converter numbers names per process and takes the
process with it when it crashes.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # these are read while TensorFlow is imported
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import tensorflow as tf

keras = tf.keras
layers = tf.keras.layers

Array = NDArray[Any]
Tensor = Any  # a symbolic Keras tensor

SEED = 20250221
SAMPLES = 100  # from which the converter learns the ranges of an untrained network
BATCH = 32  # while training


@dataclass(frozen=True)
class Source:
    """What a recipe hands to the converter."""

    network: Any  # a Keras model, or a tf.Module with a method `run` that has an input signature
    samples: tuple[tuple[Array, ...], ...] = ()  # one array per input each; none: the model stays float32
    float_io: bool = False  # of a quantized model: QUANTIZE and DEQUANTIZE at its ends
    judge: Callable[[bytes], float] | None = None  # the accuracy of the converted model


# --- Converting ---------------------------------------------------------------------------------------------


def convert(source: Source) -> bytes:
    """Return the .tflite bytes of `source`."""
    converter = converter_of(source.network)
    if source.samples:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: (list(sample) for sample in source.samples)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        if not source.float_io:
            converter.inference_input_type = tf.int8
            converter.inference_output_type = tf.int8
    return converter.convert()


def converter_of(network: Any) -> Any:
    """Return a converter for a Keras model, or for the function `run` of a module."""
    if isinstance(network, keras.Model):
        return tf.lite.TFLiteConverter.from_keras_model(network)
    return tf.lite.TFLiteConverter.from_concrete_functions([network.run.get_concrete_function()], network)


def interpreter_of(model: bytes) -> Any:
    """Return an interpreter with the reference kernels, ready to run."""
    kernels = tf.lite.experimental.OpResolverType.BUILTIN_REF
    interpreter = tf.lite.Interpreter(model_content=model, experimental_op_resolver_type=kernels)
    interpreter.allocate_tensors()
    return interpreter


# --- Pieces of networks -------------------------------------------------------------------------------------
#
# Most networks here are not trained. He's initialiser keeps their activations from dying away, layer after
# layer, to scales that no integer kernel accepts; random biases make a forgotten bias visible.


def image(*shape: int, name: str) -> Tensor:
    """Declare an input of batch size one."""
    return layers.Input(shape, batch_size=1, name=name)


def random_bias() -> Any:
    """Draw biases that matter beside the products."""
    return keras.initializers.RandomNormal(stddev=0.3)


def conv(channels: int, size: int | tuple[int, int], name: str, **options: Any) -> Any:
    """Make a convolution with weights fit for an untrained network."""
    return layers.Conv2D(
        channels, size, name=name, kernel_initializer="he_normal", bias_initializer=random_bias(), **options
    )


def depthwise(size: int | tuple[int, int], name: str, **options: Any) -> Any:
    """Make a depthwise convolution; its fan-in is small, so the spread is given outright."""
    spread = keras.initializers.RandomNormal(stddev=0.5)
    return layers.DepthwiseConv2D(
        size, name=name, depthwise_initializer=spread, bias_initializer=random_bias(), **options
    )


def dense(channels: int, name: str, **options: Any) -> Any:
    """Make a fully connected layer with weights fit for an untrained network."""
    bias = random_bias()
    return layers.Dense(channels, name=name, kernel_initializer="he_normal", bias_initializer=bias, **options)


class Do(layers.Layer):
    """A layer that applies a TensorFlow function to its inputs, for operators that no Keras layer makes."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        super().__init__(name=name)
        self.function = function

    def call(self, *inputs: Any) -> Any:
        """Apply the function."""
        return self.function(*inputs)


def uniform(*shapes: tuple[int, ...], reach: float = 1.0) -> tuple[tuple[Array, ...], ...]:
    """Draw samples for inputs of these shapes, batch included; each range is twice the one before."""
    generator = np.random.default_rng(SEED)

    def sample() -> Iterator[Array]:
        for position, shape in enumerate(shapes):
            bound = reach * 2**position
            yield generator.uniform(-bound, bound, shape).astype(np.float32)

    return tuple(tuple(sample()) for _ in range(SAMPLES))


# --- The two classifiers of the demo ------------------------------------------------------------------------


@dataclass(frozen=True)
class Digits:
    """scikit-learn's 8x8 digits in two parts; every third image is held out of training."""

    train_images: Array
    train_labels: Array
    test_images: Array
    test_labels: Array

    @staticmethod
    def load() -> Digits:
        """Read them; pixels 0..16 become 0..1."""
        from sklearn.datasets import load_digits

        pixels, labels = load_digits(return_X_y=True)
        images = (pixels / 16).astype(np.float32).reshape(-1, 8, 8, 1)
        held_out = np.arange(len(labels)) % 3 == 0
        return Digits(images[~held_out], labels[~held_out], images[held_out], labels[held_out])

    def odd(self) -> Digits:
        """Label the same images anew: 1 where the digit is odd."""
        return Digits(self.train_images, self.train_labels % 2, self.test_images, self.test_labels % 2)


def trained(build: Callable[[int | None], Any], data: Digits, loss: str, epochs: int) -> Source:
    """Train, in batches, the network that `build` makes for a batch size; then narrow it to one image."""
    network, single = build(None), build(1)
    steps = epochs * math.ceil(len(data.train_images) / BATCH)
    rate = keras.optimizers.schedules.CosineDecay(4e-3, steps)
    network.compile(keras.optimizers.Adam(rate), loss)
    network.fit(data.train_images, data.train_labels, epochs=epochs, batch_size=BATCH, verbose=0)
    single.set_weights(network.get_weights())
    samples = tuple((picture[np.newaxis],) for picture in data.train_images[:200])
    return Source(single, samples, judge=lambda model: accuracy(model, data))


def accuracy(model: bytes, data: Digits) -> float:
    """Return the share of held-out images that an int8 classifier gets right.

    A single output says "odd" from a half upward, which int8 writes as 0.
    """
    interpreter = interpreter_of(model)
    (source,), (sink,) = interpreter.get_input_details(), interpreter.get_output_details()
    scale, zero = source["quantization"]
    right = 0
    for picture, label in zip(data.test_images, data.test_labels, strict=True):
        pixels = np.clip(np.round(picture / scale) + zero, -128, 127).astype(np.int8)
        interpreter.set_tensor(source["index"], pixels[np.newaxis])
        interpreter.invoke()
        scores = interpreter.get_tensor(sink["index"])[0]
        guess = scores.argmax() if len(scores) > 1 else scores[0] >= 0
        right += int(guess == label)
    return right / len(data.test_labels)


def digits() -> Source:
    """Which digit is it? Convolutions, a depthwise one among them."""

    def build(batch: int | None) -> Any:
        picture = layers.Input((8, 8, 1), batch_size=batch, name="image")
        features = layers.Conv2D(12, 3, padding="same", activation="relu", name="edges")(picture)
        features = layers.DepthwiseConv2D(3, padding="same", activation="relu", name="strokes")(features)
        features = layers.Conv2D(24, 1, activation="relu", name="mix")(features)
        features = layers.MaxPool2D(name="shrink")(features)
        features = layers.Conv2D(16, 3, activation="relu", name="shapes")(features)
        features = layers.Flatten(name="flat")(features)
        scores = layers.Dense(10, activation="softmax", name="digit")(features)
        return keras.Model(picture, {"scores": scores}, name="digits")

    return trained(build, Digits.load(), "sparse_categorical_crossentropy", epochs=30)


def odd_even() -> Source:
    """Is the digit odd? A blurred image and dense layers."""

    def build(batch: int | None) -> Any:
        picture = layers.Input((8, 8, 1), batch_size=batch, name="image")
        features = layers.AveragePooling2D(2, strides=1, name="blur")(picture)
        features = layers.Flatten(name="flat")(features)
        features = layers.Dense(32, activation="relu", name="strokes")(features)
        features = layers.Dense(16, activation="relu", name="shapes")(features)
        odd = layers.Dense(1, activation="sigmoid", name="odd")(features)
        return keras.Model(picture, {"odd": odd}, name="odd_even")

    return trained(build, Digits.load().odd(), "binary_crossentropy", epochs=40)


# --- Quantized nets that nobody trained ---------------------------------------------------------------------


def branchy() -> Source:
    """Residual blocks around concatenated branches; two outputs, one of them a map."""
    picture = image(12, 12, 3, name="picture")
    trunk = conv(8, 3, "stem", padding="same", activation="relu")(picture)
    for name, shrink in (("first", layers.MaxPool2D), ("second", layers.AveragePooling2D)):
        point = conv(4, 1, f"{name}_point", activation="relu")(trunk)
        patch = conv(8, 3, f"{name}_patch", padding="same", activation="relu")(trunk)
        pooled = layers.AveragePooling2D(3, 1, padding="same", name=f"{name}_blur")(trunk)
        pooled = conv(4, 1, f"{name}_pooled")(pooled)
        joined = layers.Concatenate(name=f"{name}_join")([point, patch, pooled])
        residue = conv(8, 1, f"{name}_residue")(joined)
        trunk = layers.ReLU(name=f"{name}_relu")(layers.Add(name=f"{name}_add")([trunk, residue]))
        trunk = shrink(2, name=f"{name}_shrink")(trunk)
    mean = layers.GlobalAveragePooling2D(name="mean")(trunk)
    classes = dense(5, "scores", activation="softmax")(mean)
    heat = conv(2, 1, "heat", activation="sigmoid")(trunk)
    network = keras.Model(picture, {"classes": classes, "heat": heat}, name="branchy")
    return Source(network, uniform((1, 12, 12, 3)))


def kitchen_a() -> Source:
    """Windows of every kind on an oblong image: padding, strides, dilation, depth multipliers, odd sizes."""
    picture = image(11, 9, 3, name="picture")
    padded = layers.ZeroPadding2D(((0, 1), (1, 2)), name="pad")(picture)
    strided = conv(8, (3, 2), "strided", strides=(2, 1), activation="relu6")(padded)
    dilated = conv(8, 3, "dilated", dilation_rate=2, padding="same", activation="relu")(strided)
    dilated_rows = depthwise((3, 2), "dilated_rows", dilation_rate=2)(dilated)
    multiplied = depthwise((2, 3), "multiplied", depth_multiplier=2, strides=2, padding="same")(strided)
    pooled = layers.MaxPool2D((2, 3), (2, 2), padding="same", name="peaks")(dilated)
    both = layers.Concatenate(name="both")([multiplied, pooled])
    valid = conv(8, (2, 4), "valid")(both)
    blurred = layers.AveragePooling2D((1, 2), (1, 1), name="blur")(dilated_rows)
    blurred = layers.AveragePooling2D((2, 4), (1, 3), padding="same", name="blur_more")(blurred)
    tall = layers.Concatenate(axis=1, name="tall")([valid, blurred])
    scores = dense(6, "scores", use_bias=False)(layers.Flatten(name="flat")(tall))
    network = keras.Model(picture, {"scores": scores, "tall": tall}, name="kitchen_a")
    return Source(network, uniform((1, 11, 9, 3), reach=4.0))


def kitchen_b() -> Source:
    """Compute with inputs of two scales: broadcasts, separate activations, new scales and shapes."""
    left, right = image(5, 6, 4, name="left"), image(5, 6, 4, name="right")
    gains = np.array([0.5, -1.5, 2.0, 0.25], np.float32)
    columns = np.linspace(-3, 3, 6, dtype=np.float32).reshape(1, 1, 6, 1)
    total = Do(lambda a, b: a + b, "total")(left, right)
    gap = Do(lambda a, b: a - b, "gap")(left, right)
    product = Do(lambda a, b: a * b, "product")(total, gap)
    rectified = layers.ReLU(name="rectified")(total)
    clipped = layers.ReLU(6.0, name="clipped")(product)
    both = layers.Concatenate(axis=1, name="both")([product, clipped])  # gives the two of them one scale
    scaled = Do(lambda a: a * gains, "scaled")(rectified)
    shifted = Do(lambda a: a + 0.75, "shifted")(gap)
    sloped = Do(lambda a: a + columns, "sloped")(clipped)
    mirrored = Do(lambda a: 2.5 - a, "mirrored")(product)
    gate = Do(tf.sigmoid, "gate")(shifted)
    wide = layers.Concatenate(axis=2, name="wide")([scaled, gate, sloped])
    rows = layers.Reshape((15, 24), name="rows")(wide)
    mixed = dense(3, "mixed", activation="relu")(rows)
    mean = Do(lambda a: tf.reduce_mean(a, axis=[1, 2], keepdims=True), "mean")(mirrored)
    centred = Do(lambda a, b: a - b, "centred")(mirrored, mean)
    outputs = {"mixed": mixed, "centred": centred, "wide": wide, "both": both}
    network = keras.Model([left, right], outputs, name="kitchen_b")
    return Source(network, uniform((1, 5, 6, 4), (1, 5, 6, 4), reach=3.0))


def quantized_io() -> Source:
    """int8 within, float32 without."""
    picture = image(8, 8, 2, name="picture")
    features = conv(6, 3, "features", activation="relu")(picture)
    features = depthwise(3, "spread", padding="same", activation="relu6")(features)
    features = layers.MaxPool2D(name="peaks")(features)
    scores = dense(4, "scores", activation="softmax")(layers.Flatten(name="flat")(features))
    network = keras.Model(picture, {"scores": scores}, name="quantized_io")
    return Source(network, uniform((1, 8, 8, 2), reach=3.0), float_io=True)


def lstm_unrolled() -> Source:
    """Lay out a recurrent layer step by step: many small tensors with crossing lifetimes."""
    signal = image(4, 6, name="signal")
    state = layers.LSTM(6, unroll=True, bias_initializer=random_bias(), name="memory")(signal)
    scores = dense(3, "scores", activation="softmax")(state)
    network = keras.Model(signal, {"scores": scores}, name="lstm_unrolled")
    return Source(network, uniform((1, 4, 6)))


# --- Float nets ---------------------------------------------------------------------------------------------


def float_net() -> Source:
    """Every operator that has a float kernel."""
    picture = image(9, 9, 2, name="picture")
    padded = layers.ZeroPadding2D(((1, 0), (0, 1)), name="pad")(picture)
    stem = conv(6, 3, "stem", strides=2, padding="same", activation="relu")(padded)
    spread = depthwise(3, "spread", padding="same", activation="relu6")(stem)
    total = Do(lambda a, b: a + b, "total")(stem, spread)
    gap = Do(lambda a, b: a - b, "gap")(stem, spread)
    product = Do(lambda a, b: a * b, "product")(total, gap)
    rectified = layers.ReLU(name="rectified")(total)
    clipped = layers.ReLU(6.0, name="clipped")(product)
    gate = Do(tf.sigmoid, "gate")(gap)
    joined = layers.Concatenate(name="joined")([rectified, clipped, product, gate])
    peaks = layers.MaxPool2D(2, name="peaks")(joined)
    blur = layers.AveragePooling2D(3, 2, padding="same", name="blur")(joined)
    mean = layers.GlobalAveragePooling2D(name="mean")(blur)
    flat = layers.Flatten(name="flat")(conv(3, 1, "squeeze")(peaks))
    scores = dense(4, "scores", activation="softmax")(layers.Concatenate(name="features")([flat, mean]))
    return Source(keras.Model(picture, {"scores": scores, "gate": gate}, name="float_net"))


LARGE = 2.0  # of a square root


class Control(tf.Module):
    """Newton's square roots, then one of two branches of unequal size: WHILE and IF, two subgraphs each."""

    NUMBERS = tf.TensorSpec([1, 6], name="numbers")
    STEPS = tf.TensorSpec([], tf.int32, name="steps")

    @tf.function(input_signature=[NUMBERS, STEPS])
    def run(self, numbers: Tensor, steps: Tensor) -> Tensor:
        """Improve the guess `steps` times, then soften what is small and flatten what is large."""

        def improve(step: Tensor, guess: Tensor) -> tuple[Tensor, Tensor]:
            return step + 1, 0.5 * (guess + numbers / guess)

        start = (tf.constant(0), tf.ones_like(numbers))
        _, roots = tf.while_loop(lambda step, _: step < steps, improve, start)
        small = tf.reduce_max(roots) < LARGE
        return tf.cond(small, lambda: tf.nn.softmax(roots), lambda: tf.sigmoid(roots - LARGE) * roots)


class Stateful(tf.Module):
    """A moving average that lives in a variable: CALL_ONCE, VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE."""

    def __init__(self) -> None:
        super().__init__()
        self.average = tf.Variable(tf.zeros([1, 8]), name="average")

    @tf.function(input_signature=[tf.TensorSpec([1, 8], name="signal")])
    def run(self, signal: Tensor) -> Tensor:
        """Return what is new about the signal."""
        surprise = signal - self.average
        self.average.assign_add(0.25 * surprise)
        return tf.nn.relu(surprise)


def control() -> Source:
    """Loop, then branch."""
    return Source(Control())


def stateful() -> Source:
    """Remember."""
    return Source(Stateful())


# --- The command --------------------------------------------------------------------------------------------

RECIPES: dict[str, Callable[[], Source]] = {
    recipe.__name__: recipe
    for recipe in (
        digits,
        odd_even,
        branchy,
        kitchen_a,
        kitchen_b,
        quantized_io,
        float_net,
        control,
        stateful,
        lstm_unrolled,
    )
}


def make(name: str) -> None:
    """Make one model, in this process, which must not have made another before."""
    keras.config.disable_interactive_logging()
    keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()
    source = RECIPES[name]()
    model = convert(source)
    Path(__file__).with_name(f"{name}.tflite").write_bytes(model)
    verdict = f", accuracy {source.judge(model):.2%}" if source.judge else ""
    print(f"{name}.tflite: {len(model)} bytes{verdict}")


def make_apart(name: str) -> bool:
    """Make one model in a fresh process, and return whether that went well."""
    command = [sys.executable, __file__, "--here", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    failure = f"{name}: failed with status {done.returncode}\n{done.stderr}"
    print(failure if done.returncode else done.stdout, end="", flush=True)
    return done.returncode == 0


def main() -> int:
    """Make the models named on the command line."""
    parser = argparse.ArgumentParser(description="Make the small models that the tests read.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(RECIPES)}; default: all")
    parser.add_argument("--here", metavar="NAME", help="make one in this process (for the script itself)")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(RECIPES):
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    if arguments.here:
        make(arguments.here)
        return 0
    failed = [name for name in arguments.names or RECIPES if not make_apart(name)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
