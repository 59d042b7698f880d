"""TensorFlow Lite models: bytes → records (`flatbuffer`, `schema`) → graph (`reader`) → checked graph (`ir.check`)."""

from usmp_build.importers.tflite.reader import import_tflite

__all__ = ["import_tflite"]
