"""A small net of each family that firmware engineers deploy: the operators that their converters emit.

Nobody trained them; see `networks` beside the other models for how activations are kept alive.
"""

from typing import Any

import tf_keras as keras_2
from conversion import Source, Tensor, keras, layers, tf
from networks import Do, conv, dense, depthwise, image, random_bias, uniform


def denoiser() -> Source:
    """Speech enhancement: a dense layer, an LSTM, a GRU laid out step by step, and a mask at the end.

    Only Keras 2 makes an LSTM that the converter takes for one.
    """
    old = keras_2.layers
    spectrum = old.Input((4, 32), batch_size=1, name="spectrum")
    features = old.Dense(32, activation="tanh", name="features")(spectrum)
    memory = old.LSTM(6, return_sequences=True, name="lstm")(features)
    memory = old.GRU(6, return_sequences=True, unroll=True, name="gru")(memory)
    mask = old.Dense(32, activation="sigmoid", name="mask")(memory)
    clean = old.Multiply(name="clean")([spectrum, mask])
    return Source(keras_2.Model(spectrum, clean, name="denoiser"), uniform((1, 4, 32)))


def unet() -> Source:
    """Segmentation: down, and up again by transposed convolutions, with a skip connection at each level."""
    picture = image(16, 12, 3, name="picture")
    first = conv(6, 3, "first", padding="same", activation="relu")(picture)
    second = conv(8, 3, "second", strides=2, padding="same", activation="relu")(first)
    third = conv(12, 3, "third", strides=2, padding="same", activation="relu")(second)
    up = _upward(8, 3, "up_second")(third)
    up = conv(8, 3, "merge_second", padding="same", activation="relu")(layers.Concatenate(name="skip_2")([up, second]))
    up = _upward(6, 2, "up_first")(up)
    up = conv(6, 3, "merge_first", padding="same", activation="relu")(layers.Concatenate(name="skip_1")([up, first]))
    classes = conv(3, 1, "classes", activation="softmax")(up)
    return Source(keras.Model(picture, {"classes": classes}, name="unet"), uniform((1, 16, 12, 3)))


def _upward(channels: int, size: int, name: str) -> Any:
    return layers.Conv2DTranspose(
        channels,
        size,
        strides=2,
        padding="same",
        kernel_initializer="he_normal",
        bias_initializer=random_bias(),
        name=name,
    )


def yolo() -> Source:
    """Detection: leaky activations, a coarse level made as large as the fine one, raw boxes of both."""
    picture = image(16, 16, 3, name="picture")
    fine = _leaky(conv(8, 3, "fine", strides=2, padding="same"), 0.1, picture)
    coarse = _leaky(conv(12, 3, "coarse", strides=2, padding="same"), 0.1, fine)
    coarse = layers.MaxPool2D(5, 1, padding="same", name="pyramid")(coarse)
    up = Do(lambda x: tf.image.resize(x, (8, 8), "nearest"), "up")(coarse)
    both = layers.Concatenate(name="both")([up, fine])
    near = conv(10, 1, "near")(both)
    far = conv(10, 1, "far", activation="sigmoid")(coarse)
    return Source(keras.Model(picture, {"near": near, "far": far}, name="yolo"), uniform((1, 16, 16, 3)))


def _leaky(convolution: Any, slope: float, source: Tensor) -> Tensor:
    return layers.LeakyReLU(slope, name=f"{convolution.name}_leaky")(convolution(source))


def shufflenet() -> Source:
    """Grouped convolutions, and channels that change places between the groups."""
    picture = image(10, 8, 3, name="picture")
    trunk = conv(8, 3, "stem", strides=2, padding="same", activation="relu")(picture)
    for stage in ("first", "second"):
        mixed = conv(8, 1, f"{stage}_group", groups=2, activation="relu")(trunk)
        shuffled = Do(_shuffled, f"{stage}_shuffle")(mixed)
        spread = depthwise(3, f"{stage}_spread", padding="same")(shuffled)
        mixed = conv(8, 1, f"{stage}_out", groups=2)(spread)
        trunk = layers.ReLU(name=f"{stage}_relu")(layers.Add(name=f"{stage}_add")([trunk, mixed]))
    scores = dense(5, "scores")(layers.GlobalAveragePooling2D(name="mean")(trunk))
    return Source(keras.Model(picture, {"scores": scores}, name="shufflenet"), uniform((1, 10, 8, 3)))


def _shuffled(x: Tensor) -> Tensor:
    _, height, width, channels = x.shape
    apart = tf.reshape(x, (1, height, width, 2, channels // 2))
    return tf.reshape(tf.transpose(apart, (0, 1, 2, 4, 3)), (1, height, width, channels))


def transformer() -> Source:
    """Two blocks of attention with two heads, normalized, over eight tokens."""
    tokens = image(8, 12, name="tokens")
    trunk = tokens
    for block in ("first", "second"):
        trunk = layers.Add(name=f"{block}_seen")([trunk, _attention(trunk, 2, 6, block)])
        trunk = Do(_normalized, f"{block}_norm")(trunk)
        wide = dense(16, f"{block}_wide", activation="relu")(trunk)
        trunk = layers.Add(name=f"{block}_fed")([trunk, dense(12, f"{block}_narrow")(wide)])
    scores = dense(4, "scores", activation="softmax")(layers.GlobalAveragePooling1D(name="mean")(trunk))
    return Source(keras.Model(tokens, {"scores": scores}, name="transformer"), uniform((1, 8, 12)))


def _attention(x: Tensor, heads: int, size: int, name: str) -> Tensor:
    query, key, value = (dense(heads * size, f"{name}_{part}")(x) for part in ("query", "key", "value"))

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        q, k, v = (tf.transpose(tf.reshape(t, (1, 8, heads, size)), (0, 2, 1, 3)) for t in (query, key, value))
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * size**-0.5)
        return tf.reshape(tf.transpose(tf.matmul(weights, v), (0, 2, 1, 3)), (1, 8, heads * size))

    return dense(12, f"{name}_out")(Do(attend, f"{name}_attend")(query, key, value))


def _normalized(x: Tensor) -> Tensor:
    mean = tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(x, mean), -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-3)


def efficientnet() -> Source:
    """Inverted bottlenecks with squeeze-and-excite and swish."""
    picture = image(12, 12, 3, name="picture")
    trunk = Do(tf.nn.relu, "stem_relu")(conv(8, 3, "stem", strides=2, padding="same")(picture))
    for stage in ("first", "second"):
        wide = Do(lambda x: x * tf.sigmoid(x), f"{stage}_swish")(conv(16, 1, f"{stage}_wide")(trunk))
        wide = depthwise(3, f"{stage}_spread", padding="same", activation="relu")(wide)
        squeezed = layers.GlobalAveragePooling2D(keepdims=True, name=f"{stage}_squeeze")(wide)
        gate = conv(4, 1, f"{stage}_reduce", activation="relu")(squeezed)
        gate = conv(16, 1, f"{stage}_excite", activation="sigmoid")(gate)
        scaled = layers.Multiply(name=f"{stage}_scale")([wide, gate])
        trunk = layers.Add(name=f"{stage}_add")([trunk, conv(8, 1, f"{stage}_project")(scaled)])
    scores = dense(6, "scores")(layers.GlobalAveragePooling2D(name="mean")(trunk))
    return Source(keras.Model(picture, {"scores": scores}, name="efficientnet"), uniform((1, 12, 12, 3)))


def tcn() -> Source:
    """A temporal net: causal convolutions ever further apart, with residues."""
    signal = image(16, 4, name="signal")
    trunk = _causal(8, 1, "stem")(signal)
    for dilation in (1, 2, 4):
        deep = _causal(8, dilation, f"causal_{dilation}")(trunk)
        trunk = layers.Add(name=f"add_{dilation}")([trunk, deep])
    scores = dense(3, "scores", activation="softmax")(Do(lambda x: x[:, -1, :], "last")(trunk))
    return Source(keras.Model(signal, {"scores": scores}, name="tcn"), uniform((1, 16, 4)))


def _causal(channels: int, dilation: int, name: str) -> Any:
    return layers.Conv1D(
        channels,
        3,
        padding="causal",
        dilation_rate=dilation,
        activation="relu",
        kernel_initializer="he_normal",
        bias_initializer=random_bias(),
        name=name,
    )


FAMILIES = {recipe.__name__: recipe for recipe in (denoiser, efficientnet, shufflenet, tcn, transformer, unet, yolo)}
