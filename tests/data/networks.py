"""The networks: a recipe for each model.

Most are not trained.  He's initialiser keeps their activations from dying away, layer after layer, to scales that no
integer kernel accepts; random biases make a forgotten bias visible.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from conversion import SAMPLES, SEED, Array, Digits, Source, Tensor, keras, layers, tf, trained


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
