"""From a network to the bytes of a model, and how well it classifies."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
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


def convert_as(source: Source, type_: str) -> bytes:
    """Return the bytes of a net with samples as float32, int8, int16 (with weights of int8) or hybrid."""
    if type_ == "int8":
        return convert(source)
    converter = converter_of(source.network)
    if type_ != "float32":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if type_ == "int16":
        converter.representative_dataset = lambda: (list(sample) for sample in source.samples)
        wide = tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
        converter.target_spec.supported_ops = [wide]
        converter.inference_input_type = converter.inference_output_type = tf.int16
    return converter.convert()


def converter_of(network: Any) -> Any:
    """Return a converter for a Keras model, or for the function `run` of a module."""
    if hasattr(network, "run"):
        return tf.lite.TFLiteConverter.from_concrete_functions([network.run.get_concrete_function()], network)
    return tf.lite.TFLiteConverter.from_keras_model(network)


def interpreter_of(model: bytes) -> Any:
    """Return an interpreter with the reference kernels, ready to run."""
    kernels = tf.lite.experimental.OpResolverType.BUILTIN_REF
    interpreter = tf.lite.Interpreter(model_content=model, experimental_op_resolver_type=kernels)
    interpreter.allocate_tensors()
    return interpreter


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
