"""TFLite models: bytes → records (`flatbuffer`, `schema`) → graph (`reader`) → checked (`operators.well_formed`)."""

from usmp_build.importers.tflite.reader import import_tflite

__all__ = ["import_tflite"]
